import numpy as np


def f(x):
    seen = {"none"}
    for key, name in enumerate(("a", "b", "c")):
        if x[key] > 0:
            seen.add(name)
    return len(seen)


def rewritten(x):
    seen = np.zeros(3, bool)
    for key in range(3):
        if x[key] > 0:
            seen[key] = True
    return 1 + int(seen.sum())


arguments = (np.array([1.0, -1.0, 2.0]),)
