import numpy as np


def f(x):
    if x > 0:
        root = np.sqrt(x)
    return root


def rewritten(x):
    root = np.nan
    if x > 0:
        root = np.sqrt(x)
    return root
