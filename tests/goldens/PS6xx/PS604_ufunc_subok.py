import numpy as np


def f(x):
    return np.exp(x, casting="no", subok=False, signature="f->f")


def rewritten(x):
    return np.exp(x)


arguments = (np.ones(2),)
