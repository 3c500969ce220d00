import numpy as np


def f(x):
    return np.fft.fft(x[x > 0])


def rewritten(x):
    return np.fft.fft(np.where(x > 0, x, 0))


arguments = (np.ones(4),)
