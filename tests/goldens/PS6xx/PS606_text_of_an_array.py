import numpy as np


def f(x):
    return np.array2string(x)


def alternative(x):
    return x


arguments = (np.ones(2),)
