import jax.numpy as jnp


def f(x):
    return jnp.exp([x, x])


def rewritten(x):
    return jnp.exp(jnp.array([x, x]))


arguments = (2.0,)
