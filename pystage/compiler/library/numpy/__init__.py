"""NumPy's functions and ufuncs, and the attributes and methods of its arrays."""
