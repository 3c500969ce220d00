import numpy as np


def f(x, y):
    return id(x) == id(y)


def rewritten(x, y):
    return x is y


arguments = (np.ones(2), np.ones(2))
