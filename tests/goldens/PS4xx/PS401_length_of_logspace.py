import numpy as np


def f(x):
    n = int(x[0])
    return np.logspace(0, 1, n)


def rewritten(x):
    n = len(x)
    return np.logspace(0, 1, n)


arguments = (np.array([2.0, 1.0]),)
