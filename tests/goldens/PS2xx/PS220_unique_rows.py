import numpy as np


def f(x):
    return np.unique(x, axis=0)


def rewritten(x):
    ordered = x[np.lexsort(x.T[::-1])]
    return ordered[np.append(True, (ordered[1:] != ordered[:-1]).any(1))]


arguments = (np.array([[2.0, 1.0], [0.0, 3.0], [2.0, 1.0]]),)
