import numpy as np


def f(x):
    return np.sort(x, order="a")


def rewritten(x):
    return np.sort(x)


arguments = (np.array([2.0, 1.0]),)
