import numpy as np


def f(x):
    return np.pad(x, int(x[0]))


def alternative(x):
    return np.pad(x, 1)


arguments = (np.array([2.0, 1.0]),)
