"""Execution by XLA: how programs enter JAX, are compiled and called."""
