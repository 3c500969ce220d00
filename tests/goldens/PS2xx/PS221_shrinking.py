import numpy as np


def f(x):
    while len(x) > 1:
        x = x[x > x.mean()]
    return x


arguments = (np.arange(8.0),)
