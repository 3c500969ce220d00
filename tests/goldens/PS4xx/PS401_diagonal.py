import numpy as np


def f(x):
    return np.triu(x, int(x[0, 0]))


def rewritten(x):
    rows, columns = np.indices(x.shape)
    return np.where(columns - rows >= int(x[0, 0]), x, 0.0)


arguments = (np.ones((2, 2)),)
