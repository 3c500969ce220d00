import numpy as np


def f(x):
    scales = (0.5, 1, 2.0)
    for i in range(6_000):
        x = x * scales[i % 3]
    return x


def rewritten(x):
    scales = np.array([0.5, 1.0, 2.0])
    for i in range(6_000):
        x = x * scales[i % 3]
    return x


arguments = (np.ones(3),)
