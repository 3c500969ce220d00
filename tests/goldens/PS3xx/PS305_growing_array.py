import numpy as np


def f(x, limit):
    while x.sum() < limit:
        x = np.concatenate([x, x])
    return x


def rewritten(x, limit):
    found, size = np.zeros(512), len(x)
    found[:size] = x
    while found.sum() < limit:
        for i in range(size):
            found[size + i] = found[i]
        size = 2 * size
    return found, size


arguments = (np.ones(2), 100.0)
