import numpy as np


def f(x):
    return np.array2string(x)


def rewritten(x):
    return x


arguments = (np.ones(2),)
