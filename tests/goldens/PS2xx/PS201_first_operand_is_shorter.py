import numpy as np


def f(weights, points):
    return np.multiply(weights, points)


def rewritten(weights, points):
    return np.multiply(weights[:, None, None], points)


arguments = (np.ones(2), np.ones((2, 3, 4)))
