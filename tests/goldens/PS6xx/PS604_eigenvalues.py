import numpy as np


def f(x):
    return np.linalg.eigvals(x)


def rewritten(x):
    return np.linalg.eigvals(x.astype(complex))


arguments = (np.eye(3),)
