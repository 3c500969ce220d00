import random

import numpy as np


def f(x):
    random.seed(0)
    return x + random.gauss(0.0, 1.0)


def alternative(x, rng):
    return x + rng.normal()


arguments = (1.0,)
alternative_arguments = (1.0, np.random.default_rng(0))
