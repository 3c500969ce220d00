"""Modules of Flax NNX."""
