import numpy as np


def f(x):
    return x << 1


def rewritten(x):
    return x.astype(np.int64) << 1


arguments = (np.ones(3),)
