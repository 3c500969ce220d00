import numpy as np


def f(x):
    np.pi = 3.0
    return x * np.pi


def rewritten(x):
    pi = 3.0
    return x * pi
