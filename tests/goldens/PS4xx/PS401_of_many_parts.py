import jax
import jax.numpy as jnp


def f(layers, x):
    for layer in layers:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return jnp.linspace(0.0, 1.0, int(jnp.sum(x)))


def alternative(layers, x):
    for layer in layers:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return jnp.linspace(0.0, 1.0, x.shape[0])


arguments = ([{"w": jnp.eye(3), "b": jnp.ones(3)} for _ in range(3)], jnp.ones((2, 3)))
