import random

import numpy as np


def f(xs):
    return random.choice(xs)


def alternative(xs, rng):
    return xs[rng.integers(len(xs))]


arguments = ([1.0, 2.0],)
alternative_arguments = ([1.0, 2.0], np.random.default_rng(0))
