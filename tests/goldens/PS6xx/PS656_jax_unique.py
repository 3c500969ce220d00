import jax.numpy as jnp


def f(x):
    return jnp.unique(x)


def rewritten(x):
    return jnp.unique(x, size=3)


arguments = (jnp.arange(3.0),)
