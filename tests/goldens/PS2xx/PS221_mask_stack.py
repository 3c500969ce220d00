import numpy as np


def f(x):
    return np.stack([x[x > 0], x[x > 0]])


def rewritten(x):
    kept = np.where(x > 0, x, 0)
    return np.stack([kept, kept])


arguments = (np.ones(4),)
