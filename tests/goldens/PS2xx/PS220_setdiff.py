import numpy as np


def f(x, y):
    return np.setdiff1d(x, y)


def rewritten(x, y):
    return ~(x[:, None] == y).any(axis=1)


arguments = (np.arange(3.0), np.arange(2.0, 5.0))
