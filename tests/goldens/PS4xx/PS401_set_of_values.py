import numpy as np


def f(x):
    seen = set()
    for value in x:
        seen.add(float(value))
    return len(seen)


def rewritten(x):
    ordered = np.sort(x)
    return 1 + int((ordered[1:] != ordered[:-1]).sum())


arguments = (np.array([1.0, 2.0, 1.0]),)
