"""Functions, indexing, stores, promotion and random draws of NumPy."""
