import numpy as np


RNG = np.random.default_rng(0)


def f(x):
    if x > 0:
        return x + RNG.normal()
    return x


def rewritten(x):
    rng = np.random.default_rng(0)
    noise = rng.normal()
    if x > 0:
        return x + noise
    return x
