import jax.numpy as jnp


def f(x):
    return jnp.linalg.inv(x)


def rewritten(x):
    return jnp.linalg.inv(x[:, :2])


arguments = (jnp.ones((2, 3)),)
