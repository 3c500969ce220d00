import numpy as np


def f(p):
    return np.roots(p)
