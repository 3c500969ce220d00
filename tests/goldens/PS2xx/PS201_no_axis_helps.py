import numpy as np


def f(x, y):
    return x + y


arguments = (np.ones((50, 16)), np.ones(8))
