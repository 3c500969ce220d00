import numpy as np


def f(a, b):
    larger = a if a.sum() > b.sum() else b
    a[0] = 5.0
    return larger.max()


def rewritten(a, b):
    first = a.sum() > b.sum()
    a[0] = 5.0
    larger = a if first else b
    return larger.max()


arguments = (np.ones(3), np.zeros(3))
