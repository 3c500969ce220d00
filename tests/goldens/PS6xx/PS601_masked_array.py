import numpy as np


def f(x):
    return np.ma.masked_where(x > 1, x).sum()


def rewritten(x):
    return np.sum(x, where=~(x > 1))


arguments = (np.arange(4.0),)
