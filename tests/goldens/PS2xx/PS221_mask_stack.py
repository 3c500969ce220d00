import numpy as np


def f(x):
    return np.stack([x[x > 0], x[x > 0]])


arguments = (np.ones(4),)
