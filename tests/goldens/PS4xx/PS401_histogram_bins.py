import numpy as np


def f(x):
    return np.histogram(x, bins=int(x[0]))[0]


def rewritten(x):
    return np.histogram(x, bins=3)[0]


arguments = (np.array([2.0, 1.0]),)
