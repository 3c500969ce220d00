import numpy as np


def f(x):
    return x + np.zeros(2, dtype="datetime64[D]").astype(float)


def rewritten(x):
    return x + np.zeros(2)


arguments = (np.ones(2),)
