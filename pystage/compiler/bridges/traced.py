"""Packages built on JAX without meanings: JAX traces their functions."""

from __future__ import annotations

from ..policy import Package, Policy
from .bridge import Bridge

TRACED = (
    Bridge(Package("optax", Policy.TRACED, constants=True), tested="0.2"),
    Bridge(Package("chex", Policy.TRACED)),
    Bridge(Package("distrax", Policy.TRACED)),
)
