import numpy as np


def f(counts):
    counts += 0.5
    return counts


def rewritten(counts):
    counts = counts + 0.5
    return counts


arguments = (np.arange(3),)
