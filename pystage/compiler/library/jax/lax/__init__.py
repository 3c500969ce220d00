"""`jax.lax`, under its own strict rules."""
