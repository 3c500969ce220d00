import numpy as np


def f(counts):
    counts /= counts.sum()
    return counts


def rewritten(counts):
    return counts / counts.sum()


arguments = (np.arange(1, 4),)
