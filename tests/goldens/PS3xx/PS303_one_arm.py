import numpy as np


def f(x):
    for value in x:
        if value > 2.0:
            kind = 2.0
        elif value > 1.0:
            print("medium")
        else:
            kind = 0.0
    return kind


def rewritten(x):
    kind = 1.0
    for value in x:
        if value > 2.0:
            kind = 2.0
        elif value > 1.0:
            print("medium")
        else:
            kind = 0.0
    return kind


arguments = (np.arange(4.0),)
