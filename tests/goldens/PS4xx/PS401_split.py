import numpy as np


def f(x):
    return np.split(x, int(x[0]))


def rewritten(x):
    return np.split(x, 2)


arguments = (np.array([2.0, 1.0]),)
