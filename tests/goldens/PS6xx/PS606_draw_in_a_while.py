import numpy as np


RNG = np.random.default_rng(0)


def f(limit):
    total = 0.0
    while total < limit:
        total += RNG.random()
    return total
