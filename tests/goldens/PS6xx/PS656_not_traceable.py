import jax.numpy as jnp


def f(x):
    return jnp.setdiff1d(x, jnp.array([1.0]))


def rewritten(x):
    return jnp.setdiff1d(x, jnp.array([1.0]), size=2)


arguments = (jnp.array([1.0, -1.0, 2.0]),)
