import numpy as np


def f(x):
    seen = set()
    for value in x:
        seen.add(float(value))
    return [value * 2 for value in seen]


def rewritten(x):
    seen = set()
    for value in x:
        seen.add(float(value))
    return [value * 2 for value in sorted(seen)]


arguments = (np.array([1.0, 2.0, 1.0]),)
