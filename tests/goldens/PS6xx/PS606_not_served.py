import jax
import numpy as np


def f(x, key):
    if x[0] > 0:
        x = x + np.random.normal(size=3)
    return x


def alternative(x, key):
    if x[0] > 0:
        x = x + jax.random.normal(key, 3)
    return x


arguments = (jax.numpy.ones(3), jax.random.key(0))
