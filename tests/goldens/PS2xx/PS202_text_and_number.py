import numpy as np


def f(x):
    return "sum: " + np.sum(x)


def rewritten(x):
    return f"sum: {np.sum(x)}"


arguments = (np.arange(4.0),)
