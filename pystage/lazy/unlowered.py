"""Calls without a recipe: the tensors are computed, NumPy runs the call, and a new record begins.

NumPy gets the memory of the tensors, which is an ndarray from then on, and new tensors hold its results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..compiler.hlo.types import SHORT_NAMES, ArrayType
from ..compiler.values.boundary import Form
from .counting import counts
from .devices import default_device
from .graph import Node
from .recipes import kind_of, name_of
from .replacement import Replacement
from .tensor import Tensor, host_view, memory_of, owner, owner_of, shared_memory, to_host


def run_in_numpy(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], reason: str) -> Any:
    """`function(*args, **kwargs)` by NumPy."""
    name = name_of(function)
    counts.note_unlowered(name, reason)
    return on_arrays(function, args, kwargs, f"`{name}` runs in NumPy")


def on_arrays(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], cause: str) -> Any:
    """`function(*args, **kwargs)`, which gets ndarrays in place of tensors, and whose results hold tensors again."""
    lent = _Lent(cause)
    values = [lent.replaced(a) for a in args]
    named = {k: lent.replaced(v) for k, v in kwargs.items()}
    back = _Returned(lent)
    try:
        result = function(*values, **named)
    finally:
        for value in (*values, *named.values()):
            back.replaced(value)
    return back.replaced(result)


class _Lent(Replacement):
    """The memory of tensors, lent to NumPy: stores into what it gets are stores into them."""

    def __init__(self, cause: str) -> None:
        super().__init__()
        self._cause = cause
        self.made: dict[int, tuple[Tensor, Any]] = {}
        """A tensor, and what stands for it, by its identity."""
        self.device: Any = None
        self.arrays: dict[int, Any] = {}
        """The ndarrays that were given, by identity: they stay what they are."""

    def leaf(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            if type(value) is np.ndarray:
                self.arrays[id(value)] = value
            return value
        if value._kind.form is Form.PYTHON:
            return to_host(value, self._cause).item()
        self.device = value._kind.device
        found = self.made.get(id(value))
        if found is None:
            found = self.made[id(value)] = value, self._array(value)
        return found[1]

    def _array(self, tensor: Tensor) -> Any:
        if tensor._kind.form is Form.SCALAR:
            return host_view(tensor, self._cause)[()]
        return shared_memory(tensor, self._cause)

    def holds(self, array: np.ndarray[Any, Any]) -> bool:
        """True if an array lies in the memory of a tensor."""
        return any(
            isinstance(lent, np.ndarray)
            and np.may_share_memory(memory_of(owner_of(tensor), self._cause), array)
            for tensor, lent in self.made.values()
        )


class _Returned(Replacement):
    """Tensors again, for the arrays that were lent and for new ones."""

    def __init__(self, lent: _Lent) -> None:
        super().__init__()
        self._lent = lent
        self._device = lent.device or default_device()
        self._made = {id(array): (array, tensor) for tensor, array in lent.made.values()}

    def leaf(self, value: Any) -> Any:
        found = self._made.get(id(value))
        if found is not None:
            return found[1]
        if type(value) is not np.ndarray or value.dtype not in SHORT_NAMES or not value.dtype.isnative:
            return value
        if id(value) in self._lent.arrays or self._lent.holds(value):
            return value
        type_ = ArrayType(value.dtype, value.shape)
        elements = np.array(value)
        elements.flags.writeable = False
        ordered, fortran = elements.flags.c_contiguous, elements.flags.fnc
        kind = kind_of(type_, Form.NDARRAY, self._device, ordered=ordered, fortran=fortran)
        tensor = owner(Node(type_, self._device, elements), kind)
        self._made[id(value)] = value, tensor
        return tensor
