import numpy as np


def f(x):
    total = total + x.sum()
    return total


def rewritten(x):
    total = 0.0
    total = total + x.sum()
    return total


arguments = (np.ones(3),)
