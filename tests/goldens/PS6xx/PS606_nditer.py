import numpy as np


def f(x):
    total = 0.0
    for value in np.nditer(x):
        total += value
    return total


def rewritten(x):
    total = 0.0
    for _, value in np.ndenumerate(x):
        total += value
    return total


arguments = (np.ones((2, 2)),)
