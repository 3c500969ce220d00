import numpy as np


def f(x):
    x.shape = (2, 3)
    return x


def alternative(x):
    x = x.reshape(2, 3)
    return x


arguments = (np.ones(6),)
