import numpy as np


def f(x, y):
    return (x > y).sum()


def rewritten(x, y):
    return (x > y[:, None]).sum()


arguments = (np.ones((3, 4)), np.ones(3))
