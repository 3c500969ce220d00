import numpy as np


def f(x):
    return np.unique(x)


def rewritten(x):
    ordered = np.sort(x)
    return ordered, np.concatenate([[True], ordered[1:] != ordered[:-1]])


arguments = (np.array([3, 1, 3]),)
