import jax.numpy as jnp


def f(xs):
    return jnp.sin(xs)


def rewritten(xs):
    return jnp.sin(jnp.array(xs))


arguments = ([1.0, 2.0],)
