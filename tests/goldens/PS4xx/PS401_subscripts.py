import numpy as np


def f(x):
    subscripts = "ij->i" if x.sum() > 0 else "ij->j"
    return np.einsum(subscripts, x)


def rewritten(x):
    return np.einsum("ij->i", x) if x.sum() > 0 else np.einsum("ij->j", x)


arguments = (np.ones((2, 2)),)
