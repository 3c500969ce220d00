import jax.numpy as jnp


def f(x):
    found = [0.0] * 40
    for t in range(40):
        found[t] = x[t]
    return jnp.stack(found)


def rewritten(x):
    found = [0.0] * 40
    for t in range(40):
        found[t] = x[t]
    return jnp.array(found)


arguments = (jnp.arange(40.0),)
