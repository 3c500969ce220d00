import numpy as np


RNG = np.random.default_rng(0)


def f(limit):
    total = 0.0
    while total < limit:
        total += RNG.exponential()
    return total


def rewritten(limit):
    rng = np.random.default_rng(0)
    draws = rng.exponential(size=100)
    total, i = 0.0, 0
    while total < limit:
        total += draws[i]
        i += 1
    return total
