import jax
import jax.numpy as jnp
import numpy as np


def f(x):
    return jax.pure_callback(lambda v: v + 1, jax.ShapeDtypeStruct((2,), np.float32), x)


def rewritten(x):
    return x + 1


arguments = (jnp.ones(2),)
