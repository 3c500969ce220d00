import numpy as np


def f(x, y):
    return np.poly1d(np.polyfit(x, y, 1))(2.0)


arguments = (np.arange(4.0), np.arange(4.0))
