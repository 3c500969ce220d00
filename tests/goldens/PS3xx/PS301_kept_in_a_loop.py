import numpy as np


def f(x):
    kept = []
    for value in x:
        if value > 1.0:
            kept.append([value])
    return kept


arguments = (np.arange(3.0),)
