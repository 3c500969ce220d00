import numpy as np


def f(x):
    for i in range(3_000):
        x[i] = np.round(x[i - 1] * 1.01, i % 3)
    return x.sum()


def rewritten(x):
    for i in range(3_000):
        scale = 10.0 ** (i % 3)
        x[i] = np.round(x[i - 1] * 1.01 * scale) / scale
    return x.sum()


arguments = (np.ones(3_000),)
