import numpy as np


ACTIVATIONS = [np.tanh, np.sin, np.cos]


def f(x):
    return ACTIVATIONS[int(x[0])](x)


arguments = (np.array([1.0, 2.0]),)
