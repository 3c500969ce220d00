"""Functions of JAX that are not twins of NumPy functions."""
