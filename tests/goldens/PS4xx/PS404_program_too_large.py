import numpy as np

SCALES = {"low": 0.5, "middle": 1.0, "high": 2.0}
LEVELS = ("low", "middle", "high")


def f(x):
    for i in range(3_000):
        x[i] = x[i - 1] * SCALES[LEVELS[i % 3]] + 1.0
    return x.sum()


def rewritten(x):
    scales = np.array([0.5, 1.0, 2.0])
    for i in range(3_000):
        x[i] = x[i - 1] * scales[i % 3] + 1.0
    return x.sum()


arguments = (np.ones(3_000),)
