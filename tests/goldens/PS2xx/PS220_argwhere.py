import numpy as np


def f(x):
    return np.argwhere(x > 0)


def rewritten(x):
    return x > 0


arguments = (np.arange(3.0),)
