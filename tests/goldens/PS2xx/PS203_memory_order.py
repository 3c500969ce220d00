import numpy as np


def f(x):
    return np.zeros(x.shape, order="F")


def rewritten(x):
    return np.zeros(x.shape)


arguments = (np.array([2.0, 1.0]),)
