import numpy as np


def f(x):
    n = int(x[0])
    return np.fft.rfft(x, n)


def rewritten(x):
    n = len(x)
    return np.fft.rfft(x, n)


arguments = (np.array([2.0, 1.0]),)
