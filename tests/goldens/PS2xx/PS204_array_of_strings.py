import numpy as np


def f(x):
    names = np.array(["a", "b"])
    return x[names == "a"]


def rewritten(x):
    names = ["a", "b"]
    return x[[name == "a" for name in names]]


arguments = (np.ones(2),)
