import numpy as np


class Named(np.ndarray):
    pass


def f(x):
    return x.view(Named) + 1


def rewritten(x):
    return x + 1


arguments = (np.ones(2),)
