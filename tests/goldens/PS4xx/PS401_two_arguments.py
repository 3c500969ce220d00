import numpy as np


def f(x, level):
    return np.zeros(int(x.max() > level) + 2)


arguments = (np.ones(3), 0.5)
