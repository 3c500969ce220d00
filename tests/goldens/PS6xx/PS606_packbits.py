import numpy as np


def f(x):
    return np.unpackbits(x)


def rewritten(x):
    return ((x[:, None] >> np.arange(7, -1, -1)) & 1).ravel().astype(np.uint8)


arguments = (np.array([3], dtype=np.uint8),)
