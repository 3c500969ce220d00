import numpy as np


def f(x, y):
    return np.setdiff1d(x, y)
