import numpy as np


def f(x):
    found = {"low": x[1:]}
    if x.max() > 1.0:
        found["high"] = x.max()
    return found


def rewritten(x):
    found = {"low": x[1:], "high": None}
    if x.max() > 1.0:
        found["high"] = x.max()
    return found


arguments = (np.arange(3.0),)
