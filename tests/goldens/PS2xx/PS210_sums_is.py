import numpy as np


def f(x):
    a, b = x.sum(), x.sum()
    return a is b


def rewritten(x):
    a, b = x.sum(), x.sum()
    return a == b


arguments = (np.ones(2),)
