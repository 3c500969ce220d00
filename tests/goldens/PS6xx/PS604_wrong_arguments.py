import numpy as np


def f(x):
    return x + np.full(3, 1.0, device="cpu")


def rewritten(x):
    return x + np.full(3, 1.0)


arguments = (np.ones(3),)
