import numpy as np


def f(x):
    return np.arange(int(x.max()))


def rewritten(x):
    return np.arange(len(x))


arguments = (np.array([1.0, 3.0]),)
