import numpy as np


def f(x, y):
    return np.where(x > 0, x, y)


def rewritten(x, y):
    return np.where(x > 0, x, y[:2])


arguments = (np.ones(2), np.ones(3))
