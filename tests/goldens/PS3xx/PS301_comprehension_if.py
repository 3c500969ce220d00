import numpy as np


def f(x):
    return {i: value for i, value in enumerate(x) if value > 1.0}


arguments = (np.arange(3.0),)
