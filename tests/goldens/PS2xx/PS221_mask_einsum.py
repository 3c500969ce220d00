import numpy as np


def f(x):
    y = x[x > 0]
    return np.einsum("i,i,i", y, y, y)


def rewritten(x):
    y = np.where(x > 0, x, 0)
    return np.einsum("i,i,i", y, y, y)


arguments = (np.ones(4),)
