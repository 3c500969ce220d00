import numpy as np


def f(x):
    return np.tile(x, int(x[-1]))


def rewritten(x):
    return np.tile(x, len(x))


arguments = (np.ones(2),)
