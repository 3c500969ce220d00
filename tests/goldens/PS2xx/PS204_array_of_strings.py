import numpy as np


def f(x):
    names = np.array(["a", "b"])
    return x[names == "a"]
