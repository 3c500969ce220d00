import numpy as np


def padded(x, width):
    return np.concatenate([x, np.zeros(width)])


def f(x):
    width = int(x.max())
    return padded(x, width)


def rewritten(x):
    return padded(x, len(x))


arguments = (np.array([1.0, 2.0]),)
