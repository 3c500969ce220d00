import numpy as np


def f(x):
    rows = [x]
    if x.sum() > 0:
        rows.append(x[None])
    return rows


def rewritten(x):
    rows = [x, np.zeros((1, 3))]
    if x.sum() > 0:
        rows[1] = x[None]
    return rows


arguments = (np.ones(3),)
