"""NumPy's functions, ufuncs, and the attributes and methods of its arrays."""
