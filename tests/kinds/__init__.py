"""Programs and calls with arguments of other kinds: `jax.Array`s in place of ndarrays, and narrower floats."""
