import numpy as np


def f(x):
    a, b = x.sum(), x.sum()
    return a is b


def alternative(x):
    a, b = x.sum(), x.sum()
    return a == b


arguments = (np.ones(2),)
