import numpy as np


def f(x):
    choices = [x, x.sum(), "none"]
    return choices[int(x[0])]


def rewritten(x):
    which = int(x[0])
    if which == 0:
        return x
    elif which == 1:
        return x.sum()
    return None


arguments = (np.array([1.0, 2.0]),)
