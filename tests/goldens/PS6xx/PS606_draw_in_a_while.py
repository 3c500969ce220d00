import numpy as np


RNG = np.random.RandomState(0)


def f(limit):
    total = 0.0
    while total < limit:
        total += RNG.random_sample()
    return total


def rewritten(limit):
    rng = np.random.RandomState(0)
    draws = rng.random_sample(100)
    total, i = 0.0, 0
    while total < limit:
        total += draws[i]
        i += 1
    return total
