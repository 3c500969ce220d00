import numpy as np


def f(x):
    rows = [x]
    if x.sum() > 0:
        rows.append(x[:2])
    return rows


def rewritten(x):
    rows = [x, np.zeros(2)]
    if x.sum() > 0:
        rows[1] = x[:2]
    return rows


arguments = (np.ones(3),)
