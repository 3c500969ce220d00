import numpy as np


ACTIVATIONS = [np.tanh, np.sin, np.cos]


def f(x):
    return ACTIVATIONS[int(x[0])](x)


def rewritten(x):
    which = int(x[0])
    if which == 0:
        return np.tanh(x)
    elif which == 1:
        return np.sin(x)
    return np.cos(x)


arguments = (np.array([1.0, 2.0]),)
