import jax.numpy as jnp


def f(x):
    return jnp.linalg.det(x)


def rewritten(x):
    return jnp.linalg.det(x[:, :2])


arguments = (jnp.ones((2, 3)),)
