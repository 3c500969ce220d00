import jax.numpy as jnp


def f(x):
    return x[x > 0]


def rewritten(x):
    return x, x > 0


arguments = (jnp.arange(3.0),)
