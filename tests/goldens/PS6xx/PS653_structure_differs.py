import jax
import jax.numpy as jnp


def pair(x):
    return x, x


def f(x):
    return jax.lax.cond(x[0] > 0, pair, lambda x: x, x)


def rewritten(x):
    return jax.lax.cond(x[0] > 0, pair, lambda x: (x, -x), x)


arguments = (jnp.arange(3.0),)
