import numpy as np


def f(x):
    return {i: value for i, value in enumerate(x) if value > 1.0}


def rewritten(x):
    return {i: value if value > 1.0 else None for i, value in enumerate(x)}


arguments = (np.arange(3.0),)
