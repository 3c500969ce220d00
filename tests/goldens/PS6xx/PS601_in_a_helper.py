import random

import numpy as np


def noise(x):
    return x * random.random()


def f(x, y):
    return noise(x) + noise(y) + noise(x + y) + noise(x - y)


def alternative(x, y, rng):
    return x * rng.random() + y * rng.random()


arguments = (1.0, 2.0)
alternative_arguments = (1.0, 2.0, np.random.default_rng(0))
