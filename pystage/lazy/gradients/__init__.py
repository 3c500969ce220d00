"""Gradients of functions that run on lazy tensors."""
