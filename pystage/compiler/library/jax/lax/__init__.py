"""`jax.lax`, whose functions neither promote nor broadcast."""
