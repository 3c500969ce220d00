"""Copies of the arguments of a call, in which arrays that share memory share memory, and lie as the originals do."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np


def copies_of(leaves: list[Any]) -> list[Any]:
    """Each of the leaves copied; what is one object stays one object, and views of one array stay such."""
    owners: dict[int, np.ndarray] = {}
    made: dict[int, Any] = {}
    for leaf in leaves:
        if id(leaf) not in made:
            made[id(leaf)] = _copy(leaf, owners)
    return [made[id(leaf)] for leaf in leaves]


def owner_of(array: np.ndarray) -> np.ndarray:
    """The array whose memory this one is a part of; itself where that belongs to no plain array."""
    owner = array
    while True:
        base = owner.base
        if not isinstance(
            base, np.ndarray
        ):  # what `as_strided` puts between keeps the array, and so does a memoryview
            base = getattr(base, "base", getattr(base, "obj", None))
        if type(base) is not np.ndarray or base.dtype.hasobject:
            return owner
        owner = base


def _copy(leaf: Any, owners: dict[int, np.ndarray]) -> Any:
    if not isinstance(leaf, np.ndarray):
        return copy.deepcopy(leaf)
    owner = owner_of(leaf)
    if id(owner) not in owners:
        owners[id(owner)] = _copy_of_owner(owner)
    memory = owners[id(owner)]
    if owner is leaf:
        return memory
    if memory.strides != owner.strides or not memory.size:
        made = copy.deepcopy(leaf)
        made.flags.writeable = leaf.flags.writeable
        return made
    offset = _address(leaf) - _address(owner)
    view = np.ndarray(leaf.shape, leaf.dtype, _buffer(memory), offset, leaf.strides)
    view.flags.writeable = leaf.flags.writeable and memory.flags.writeable
    return view


def _copy_of_owner(owner: np.ndarray) -> np.ndarray:
    made = owner.copy(order="K")
    made.flags.writeable = owner.flags.writeable
    return made


def _buffer(memory: np.ndarray) -> np.ndarray:
    """The memory of an array that lies in one piece, as NumPy takes a buffer."""
    return memory if memory.flags.c_contiguous else memory.T


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
