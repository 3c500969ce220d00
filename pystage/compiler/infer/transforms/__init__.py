"""Derivatives, `vmap` and custom rules of functions inside staged source."""
