import numpy as np


def pairs(n):
    for i in range(n):
        for j in range(i):
            yield i, j


def f(x):
    total = 0.0
    for i, j in pairs(3):
        total += abs(x[i] - x[j])
    return total


def rewritten(x):
    total = 0.0
    for i in range(3):
        for j in range(i):
            total += abs(x[i] - x[j])
    return total


arguments = (np.arange(3.0),)
