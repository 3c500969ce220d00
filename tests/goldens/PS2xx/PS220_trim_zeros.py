import numpy as np


def f(x):
    return np.trim_zeros(x)


def rewritten(x):
    return np.argmax(x != 0)


arguments = (np.array([0.0, 1.0, 0.0]),)
