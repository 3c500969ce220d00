import numpy as np

SCALES = (0.5, 1, 2.0)


def f(x):
    for i in range(1_000):
        x[i] = x[i - 1] * SCALES[i % 3] + 1.0
    return x.sum()


def rewritten(x):
    scales = np.array([0.5, 1.0, 2.0])
    for i in range(1_000):
        x[i] = x[i - 1] * scales[i % 3] + 1.0
    return x.sum()


arguments = (np.ones(1_000),)
