import numpy as np


def f(x):
    return np.diff(x, int(x[0]))


def rewritten(x):
    return np.diff(x, 2)


arguments = (np.array([2.0, 1.0, 4.0]),)
