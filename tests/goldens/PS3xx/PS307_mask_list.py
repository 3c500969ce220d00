import numpy as np


def f(x):
    return [2 * v for v in x[x > 0]]


def rewritten(x):
    found = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            found[i] = 2 * x[i]
    return found


arguments = (np.ones(4),)
