import numpy as np


RNG = np.random.default_rng(0)


def f(x):
    while x > 0.1:
        x = x * RNG.random()
    return x


def rewritten(x):
    rng = np.random.default_rng(0)
    draws = rng.random(100)
    i = 0
    while x > 0.1:
        x = x * draws[i]
        i += 1
    return x
