import numpy as np


def f(x):
    scale = 1
    if x[0] > 0:
        scale = np.float64(0.5)
    return x * scale


def rewritten(x):
    scale = np.float64(1)
    if x[0] > 0:
        scale = np.float64(0.5)
    return x * scale


arguments = (np.ones(3, np.float32),)
