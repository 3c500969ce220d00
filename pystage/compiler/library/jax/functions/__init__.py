"""JAX's functions above `jax.lax`: `jit`, `jax.nn`."""
