"""Programs as XLA runs them: how they enter JAX, are compiled and called."""
