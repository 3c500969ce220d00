import numpy as np


def f(x):
    return np.sum(x, dtype=np.longdouble)


def rewritten(x):
    return np.sum(x, dtype=np.float64)


arguments = (np.ones(2),)
