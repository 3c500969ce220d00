import numpy as np


def f(x):
    seen = set()
    for key in range(3):
        if x[key] > 0:
            seen.add(key)
    return len(seen)


def rewritten(x):
    seen = np.zeros(3, bool)
    for key in range(3):
        if x[key] > 0:
            seen[key] = True
    return int(seen.sum())


arguments = (np.array([1.0, -1.0, 2.0]),)
