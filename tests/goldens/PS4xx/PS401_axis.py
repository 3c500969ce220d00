import numpy as np


def f(x):
    axis = int(x[0, 0])
    return x.sum(axis=axis)


def rewritten(x):
    axis = int(x[0, 0])
    return x.sum(axis=0) if axis == 0 else x.sum(axis=1)


arguments = (np.zeros((2, 2)),)
