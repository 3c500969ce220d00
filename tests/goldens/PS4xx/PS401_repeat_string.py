import numpy as np


def f(x):
    return "ab" * int(x[0])


def alternative(x):
    return int(x[0])


arguments = (np.array([2.0, 1.0]),)
