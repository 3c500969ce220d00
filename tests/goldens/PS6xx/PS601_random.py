import random

import numpy as np


def f(x):
    return x * random.random()


def rewritten(x):
    rng = np.random.default_rng(0)
    return x * rng.random()
