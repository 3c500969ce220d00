import numpy as np


def f(x):
    return np.frompyfunc(lambda v: v + 1, 1, 1)(x)


def rewritten(x):
    return np.vectorize(lambda v: v + 1)(x)


arguments = (np.ones(2),)
