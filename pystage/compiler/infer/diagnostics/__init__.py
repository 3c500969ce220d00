"""Diagnostics of inference: what is refused, why, and where."""
