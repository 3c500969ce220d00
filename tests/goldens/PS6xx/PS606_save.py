import numpy as np


def f(x):
    np.save("x.npy", x)
    return x


def rewritten(x):
    return x


arguments = (np.ones(2),)
