import numpy as np


def f(x):
    return x.view(np.int64)


arguments = (np.ones(2),)
