"""Functions of JAX that are no twins of NumPy's."""
