import numpy as np


def f(x):
    return {i: x * i for i in range(3) if x[i] > 1.0}


def rewritten(x):
    return {i: x * i if x[i] > 1.0 else None for i in range(3)}


arguments = (np.arange(3.0),)
