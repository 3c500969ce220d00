import numpy as np


def f(x):
    while x.sum() < 100:
        x = x[:, None] * 2
    return x


def alternative(x):
    while x.sum() < 100:
        x = x * 2
    return x


arguments = (np.ones(3),)
