import numpy as np


def f(x):
    choices = [x, x.sum(), "none"]
    return choices[int(x[0])]


arguments = (np.array([1.0, 2.0]),)
