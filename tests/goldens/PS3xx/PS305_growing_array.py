import numpy as np


def f(x, limit):
    while x.sum() < limit:
        x = np.concatenate([x, x])
    return x


arguments = (np.ones(2), 100.0)
