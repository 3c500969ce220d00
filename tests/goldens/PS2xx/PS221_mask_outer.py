import numpy as np


def f(x):
    return np.outer(x[x > 0], x)


arguments = (np.ones(4),)
