import numpy as np


def rows(x, width):
    return x.reshape(-1, width)


def f(x):
    width = int(x.max())
    return rows(x, width)


def rewritten(x):
    return rows(x, len(x))


arguments = (np.array([1.0, 2.0]),)
