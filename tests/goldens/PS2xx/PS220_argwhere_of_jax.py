import jax.numpy as jnp
import numpy as np


def f(x):
    return np.argwhere(x > 1.0)


def rewritten(x):
    return np.argwhere(np.asarray(x) > 1.0)


arguments = (jnp.array([1.0, 3.0]),)
