import numpy as np


RNG = np.random.RandomState(0)


def f(x):
    if x > 0:
        return x + RNG.random_sample()
    return x


def rewritten(x):
    rng = np.random.RandomState(0)
    noise = rng.random_sample()
    if x > 0:
        return x + noise
    return x
