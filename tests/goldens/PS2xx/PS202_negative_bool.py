import numpy as np


def f(x):
    return -(x > 0)


def rewritten(x):
    return ~(x > 0)


arguments = (np.ones(3),)
