import numpy as np

best = np.float64(0.0)


def f(x):
    found = x.max()
    if found is best:
        return x
    return x / found


def rewritten(x):
    found = x.max()
    if found == best:
        return x
    return x / found


arguments = (np.array([1.0, 2.0]),)
