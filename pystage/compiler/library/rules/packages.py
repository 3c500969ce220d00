"""In which package something is defined, and which packages JAX can trace."""

from __future__ import annotations

JAX_PACKAGES = frozenset({"jax", "jaxlib", "optax", "equinox", "flax", "chex", "distrax"})
"""Packages whose functions JAX can trace: a call to one that has no meaning of its own goes to JAX."""


def package_of(thing: object) -> str:
    """The top-level package in which a function, class or object's class is defined."""
    module = getattr(thing, "__module__", None)
    if not isinstance(module, str):
        module = type(thing).__module__
    return module.partition(".")[0]
