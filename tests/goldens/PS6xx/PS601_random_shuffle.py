import random

import numpy as np


def f(x):
    random.shuffle(x)
    return x


def rewritten(x):
    rng = np.random.default_rng(0)
    return rng.permutation(x)


arguments = (np.arange(3.0),)
