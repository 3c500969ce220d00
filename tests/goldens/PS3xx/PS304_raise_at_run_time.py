import numpy as np


def checked(x):
    if x.min() < 0:
        raise ValueError("negative")
    return np.sqrt(x)


def f(x):
    return checked(x).sum()


def rewritten(x):
    return np.sqrt(x).sum(), x.min() < 0


arguments = (np.ones(3),)
