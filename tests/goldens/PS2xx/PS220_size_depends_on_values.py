import numpy as np


def f(x):
    return np.unique(x)


arguments = (np.array([3, 1, 3]),)
