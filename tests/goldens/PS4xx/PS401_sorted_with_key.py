import numpy as np


def f(x):
    return sorted(x.tolist(), key=lambda v: str(v))


arguments = (np.arange(4.0),)
