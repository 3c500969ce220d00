"""Products of all pairs, and elements at indices, of bounded arrays."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ...kernels.python_implementations import size_depends
from .size_rules import composed_for_bounded


@composed_for_bounded(np.take)
def take(a: Any, indices: Any, axis: Any = None, *, mode: Any = "raise") -> Any:
    """The elements at indices along an axis, or of the flat array; of a `jax.Array` by its method, which takes no list."""
    if isinstance(indices, list) or not isinstance(a, jax.Array):
        a = np.asarray(a)
    if isinstance(a, jax.Array) and mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    if axis is None:
        a, axis = a.reshape(-1), 0
    if a.shape[axis] == 0 and np.size(indices) > 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if mode == "clip":
        indices = np.clip(indices, 0, max(a.shape[axis] - 1, 0))
    elif mode == "wrap":
        indices = np.asarray(indices) % max(a.shape[axis], 1)
    found = np.moveaxis(a, axis, 0)[indices]
    if np.ndim(indices) > 1 and axis % a.ndim > 0:
        size_depends("np.take at indices of several axes", "take the flat indices, and reshape")
    return np.moveaxis(found, 0, axis) if np.ndim(indices) == 1 else found
