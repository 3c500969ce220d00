import numpy as np


def f(x):
    np.place(x, x > 1, [7.0])
    return x


def rewritten(x):
    x[x > 1] = 7.0
    return x


arguments = (np.arange(4.0),)
