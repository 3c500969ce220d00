import jax.numpy as jnp


def f(x, y):
    return jnp.intersect1d(x, y)


def rewritten(x, y):
    return jnp.intersect1d(x, y, size=2)


arguments = (jnp.arange(3), jnp.arange(1, 4))
