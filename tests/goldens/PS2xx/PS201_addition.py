import numpy as np


def f(x, y):
    return x + y


def rewritten(x, y):
    return x[:, None] + y


arguments = (np.ones(3), np.ones(4))
