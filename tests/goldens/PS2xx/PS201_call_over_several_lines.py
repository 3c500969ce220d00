import numpy as np


def f(x, y):
    return x.sum() + np.where(
        x > 0,
        x,
        y,
    )


def rewritten(x, y):
    return x.sum() + y


arguments = (np.ones(2), np.ones(3))
