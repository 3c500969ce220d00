"""Functions of SciPy."""
