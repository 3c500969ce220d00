import jax
import jax.numpy as jnp


def combined(a, b):
    return a + b * 0.5


def f(x):
    return jax.lax.associative_scan(combined, x)


def rewritten(x):
    return jax.lax.scan(lambda total, part: (combined(total, part),) * 2, 0.0, x)[1]


arguments = (jnp.arange(3.0),)
