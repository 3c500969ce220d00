import numpy as np


def f(x):
    return np.flatnonzero(x > 0)


def rewritten(x):
    return np.where(x > 0, x, 0.0).sum()


arguments = (np.arange(3.0),)
