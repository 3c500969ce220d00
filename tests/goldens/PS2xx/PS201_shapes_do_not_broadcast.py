import numpy as np


def scaled(x, weights):
    return x * weights


def f(x, weights):
    return scaled(x, weights).sum()


def rewritten(x, weights):
    return scaled(x, weights[:, None]).sum()


arguments = (np.ones((3, 4)), np.ones(3))
