import numpy as np


def f(x, y):
    return np.poly1d(np.polyfit(x, y, 1))(2.0)


def rewritten(x, y):
    slope, start = np.polyfit(x, y, 1)
    return slope * 2.0 + start


arguments = (np.arange(4.0), np.arange(4.0))
