import numpy as np


def scale(x, weights):
    return x * weights


def layer(x, weights):
    return np.maximum(scale(x, weights), 0.0)


def f(x):
    hidden = layer(x, np.ones(4))
    return layer(hidden, np.ones(5))


def rewritten(x):
    hidden = layer(x, np.ones(4))
    return layer(hidden, np.ones(4))


arguments = (np.ones((2, 4)),)
