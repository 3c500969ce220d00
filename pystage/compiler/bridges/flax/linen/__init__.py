"""Modules of Flax Linen."""
