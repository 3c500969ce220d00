"""Modules of neural-network libraries: Linen and NNX of Flax, Equinox."""
