import numpy as np


def f(x):
    for value in x:
        if value > 0:
            found = value
    return found * 2


def rewritten(x):
    found = 0.0
    for value in x:
        if value > 0:
            found = value
    return found * 2


arguments = (np.array([-1.0, 2.0]),)
