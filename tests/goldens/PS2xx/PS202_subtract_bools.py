import numpy as np


def f(x, y):
    return (x > 0) - (y > 0)


def rewritten(x, y):
    return (x > 0) ^ (y > 0)


arguments = (np.ones(3), -np.ones(3))
