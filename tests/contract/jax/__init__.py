"""`jax.numpy`, `jax.lax`, transformations and pytrees of JAX."""
