import numpy as np


def f(x):
    return np.exp(x, signature="d->d")


def rewritten(x):
    return np.exp(x)


arguments = (np.ones(2),)
