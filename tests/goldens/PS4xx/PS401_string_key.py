import numpy as np


def f(x):
    counts = {}
    for value in x:
        key = f"{value:.1f}"
        counts[key] = counts.get(key, 0) + 1
    return counts


def alternative(x):
    counts = np.zeros(10, dtype=int)
    for value in x:
        counts[int(value)] += 1
    return counts


arguments = (np.array([1.0, 2.0, 1.0]),)
