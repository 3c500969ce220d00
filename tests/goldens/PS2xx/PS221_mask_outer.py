import numpy as np


def f(x):
    return np.outer(x[x > 0], x)


def rewritten(x):
    return np.outer(np.where(x > 0, x, 0), x)


arguments = (np.ones(4),)
