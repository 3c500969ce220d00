import numpy as np


def f(x):
    return x.sum() + x.strides[0]


def rewritten(x):
    return x.sum() + x.itemsize


arguments = (np.ones(3),)
