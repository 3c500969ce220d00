import numpy as np


RNG = np.random.default_rng(0)


def f(x):
    if x > 0:
        return x + RNG.random()
    return x


def rewritten(x):
    rng = np.random.default_rng(0)
    noise = rng.random()
    if x > 0:
        return x + noise
    return x
