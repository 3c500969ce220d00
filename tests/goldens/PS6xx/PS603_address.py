import numpy as np


def f(x):
    return x.ctypes.data


arguments = (np.arange(3.0),)
