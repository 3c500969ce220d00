import numpy as np


def f(x):
    i = 0
    while i < len(x):
        if x[i] > 2.0:
            place = i
        i += 1
    return place


def rewritten(x):
    i, place = 0, -1
    while i < len(x):
        if x[i] > 2.0:
            place = i
        i += 1
    return place


arguments = (np.arange(5.0),)
