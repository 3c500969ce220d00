import numpy as np


def f(x):
    columns = int(x[0])
    return x.reshape(-1, columns)


def rewritten(x):
    columns = len(x) // 2
    return x.reshape(-1, columns)


arguments = (np.array([2.0, 1.0, 1.0, 1.0]),)
