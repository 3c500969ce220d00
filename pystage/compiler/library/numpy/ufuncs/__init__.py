"""Ufuncs: elementwise functions of one and of several arrays."""
