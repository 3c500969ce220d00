import numpy as np


def f(x):
    return bin(int(x[0])).count("1")


def rewritten(x):
    return int(x[0]).bit_count()


arguments = (np.array([5, 6]),)
