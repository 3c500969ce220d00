import jax.numpy as jnp


def f(x, w):
    return x @ w


def rewritten(x, w):
    return x @ w.T


arguments = (jnp.ones((2, 3)), jnp.ones((4, 3)))
