import numpy as np


def f(x):
    kept = int(x[0, 0]) % 2
    return np.einsum(x, [0, 1], [kept])


def rewritten(x):
    rows, columns = np.einsum("ij->i", x), np.einsum("ij->j", x)
    return rows if int(x[0, 0]) % 2 == 0 else columns


arguments = (np.ones((2, 2)),)
