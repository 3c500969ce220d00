import numpy as np


def f(x):
    if x.sum() > 0:
        best = x[:2]
    else:
        best = x
    return best * 2


def rewritten(x):
    best = x.copy()
    if x.sum() > 0:
        best[2:] = 0
    return best * 2


arguments = (np.ones(3),)
