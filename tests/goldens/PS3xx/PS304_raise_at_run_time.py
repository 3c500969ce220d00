import numpy as np


def checked(x):
    if x.min() < 0:
        raise ValueError("negative", lambda: x)
    return np.sqrt(x)


def f(x):
    return checked(x).sum()


def rewritten(x):
    if x.min() < 0:
        raise ValueError("negative", x)
    return np.sqrt(x).sum()


arguments = (np.ones(3),)
