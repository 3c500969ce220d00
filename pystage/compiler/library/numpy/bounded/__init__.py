"""What NumPy's functions make of bounded arrays, and those that make such arrays."""
