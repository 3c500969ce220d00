import numpy as np


def f(x):
    while x.sum() < 100:
        x = np.concatenate([x, x])
    return x


def rewritten(x):
    while x.sum() < 100:
        x = x * 2
    return x


arguments = (np.ones(3),)
