import jax
import jax.numpy as jnp


def f(x, w):
    return jax.lax.conv(x, w, (1, 1), "SAME")


def rewritten(x, w):
    return jax.lax.conv(x, w[:, :2], (1, 1), "SAME")


arguments = (jnp.ones((1, 2, 4, 4)), jnp.ones((1, 3, 2, 2)))
