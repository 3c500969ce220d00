import numpy as np


def f(x):
    return np.linspace(0.0, 1.0, int(x[0]))


def rewritten(x):
    return np.linspace(0.0, 1.0, len(x))


arguments = (np.array([2.0, 1.0]),)
