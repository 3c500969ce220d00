import numpy as np


def f(x):
    y = x * 2
    y.flags.writeable = False
    return y


def rewritten(x):
    y = x * 2
    return y


arguments = (np.ones(2),)
