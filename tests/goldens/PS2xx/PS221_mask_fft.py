import numpy as np


def f(x):
    return np.fft.fft(x[x > 0])


arguments = (np.ones(4),)
