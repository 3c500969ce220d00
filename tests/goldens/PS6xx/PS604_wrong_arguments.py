import numpy as np


def f(x):
    return x + np.full(3, 1.0, like=x)


def rewritten(x):
    return x + np.full(3, 1.0)


arguments = (np.ones(3),)
