"""Lazy tensors: what is done with them is what NumPy does, whenever it is computed."""
