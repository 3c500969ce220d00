import random

import numpy as np


def f(x):
    return x * random.random()


def alternative(x, rng):
    return x * rng.random()


arguments = (1.0,)
alternative_arguments = (1.0, np.random.default_rng(0))
