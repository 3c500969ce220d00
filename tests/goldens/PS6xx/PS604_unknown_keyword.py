import numpy as np


def f(x):
    return np.ones(3, like=x) * x


def rewritten(x):
    return np.ones(3) * x


arguments = (np.ones(3),)
