import numpy as np


def f(x):
    np.seterr(all="raise")
    return 1.0 / x


def rewritten(x):
    return 1.0 / x
