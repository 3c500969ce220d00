"""NumPy functions of bounded arrays, and those that make bounded arrays."""
