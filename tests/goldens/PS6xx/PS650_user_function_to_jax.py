import jax
import jax.numpy as jnp


def square(x):
    return x * x


def f(x):
    return jax.vmap(square)(x)


def rewritten(x):
    return jax.lax.map(square, x)


arguments = (jnp.arange(3.0),)
