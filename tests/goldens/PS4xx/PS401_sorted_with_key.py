import numpy as np


def f(x):
    return sorted(x.tolist(), key=lambda v: str(v))


def rewritten(x):
    return sorted(x.tolist())


arguments = (np.arange(4.0),)
