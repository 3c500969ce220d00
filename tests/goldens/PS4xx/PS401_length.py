import numpy as np


def f(x):
    n = int(x.sum())
    return np.zeros(n)


def rewritten(x):
    return np.zeros(len(x))


arguments = (np.ones(2),)
