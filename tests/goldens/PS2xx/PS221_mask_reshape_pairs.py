import numpy as np


def f(x):
    return x[x != 0].reshape(-1, 2)


arguments = (np.ones(4),)
