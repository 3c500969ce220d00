import numpy as np


def f(x):
    return x.astype(np.longdouble).sum()


def rewritten(x):
    return x.astype(np.float64).sum()


arguments = (np.ones(3, np.float32),)
