import numpy as np


def f(x):
    seen = {b"a", b"b", b"c", b"d"}
    if x[0] > 0:
        seen.add(b"e")
    return len(seen)


def rewritten(x):
    seen = np.ones(5, bool)
    seen[4] = x[0] > 0
    return int(seen.sum())


arguments = (np.array([1.0, -1.0, 2.0]),)
