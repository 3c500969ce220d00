import numpy as np


def f(x):
    return np.eye(int(x.sum()))


def rewritten(x):
    return np.eye(len(x))


arguments = (np.ones(2),)
