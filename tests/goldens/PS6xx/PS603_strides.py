import numpy as np


def f(x):
    return x.strides[0] * x


arguments = (np.arange(3.0),)
