import numpy as np


def f(x):
    total = 0.0
    for i in range(1, 5_000):
        total += x[:i].reshape(1, -1).sum()
    return total


def rewritten(x):
    total = 0.0
    for i in range(1, 5_000):
        total += x[:i].sum()
    return total


arguments = (np.ones(5_000),)
