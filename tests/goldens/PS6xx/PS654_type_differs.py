import jax
import jax.numpy as jnp


def f(x):
    return jax.lax.fori_loop(0, 3, lambda i, total: total + x, jnp.zeros(3, int))


def rewritten(x):
    return jax.lax.fori_loop(0, 3, lambda i, total: total + x, jnp.zeros(3, x.dtype))


arguments = (jnp.arange(3.0),)
