import numpy as np


RNG = np.random.RandomState(0)


def f(x):
    while x > 0.1:
        x = x * RNG.random_sample()
    return x


def rewritten(x):
    rng = np.random.RandomState(0)
    draws = rng.random_sample(100)
    i = 0
    while x > 0.1:
        x = x * draws[i]
        i += 1
    return x
