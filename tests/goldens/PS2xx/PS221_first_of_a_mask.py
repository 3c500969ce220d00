import numpy as np


def f(x):
    positive = x[x > 0]
    return positive[0]


def rewritten(x):
    mask = x > 0
    first = 0.0
    if mask.any():
        first = x[np.argmax(mask)]
    return first


arguments = (np.array([-1.0, 2.0, 3.0]),)
