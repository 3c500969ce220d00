"""What is JAX's own beside the twins of NumPy's functions."""
