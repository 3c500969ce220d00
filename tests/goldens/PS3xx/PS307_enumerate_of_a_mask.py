import numpy as np


def f(x):
    total = 0.0
    for k, value in enumerate(x[x > 0]):
        total += k * value
    return total


def rewritten(x):
    total, k = 0.0, 0
    for i in range(len(x)):
        if x[i] > 0:
            total += k * x[i]
            k += 1
    return total


arguments = (np.ones(4),)
