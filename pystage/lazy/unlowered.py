"""Calls that no recipe exists for: the tensors are computed, NumPy runs the call, and a new program begins.

What it changes in the copies that it gets is stored in the tensors afterwards; what it gives is held by new tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..compiler.hlo.types import SHORT_NAMES, ArrayType
from ..compiler.values.boundary import Form
from ..runtime.results import view_maker
from .devices import default_device, on_device
from .graph import Node
from .metrics import metrics
from .recipes import kind_of, name_of
from .tensor import Tensor, assign, owner, to_host


def run_in_numpy(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], reason: str) -> Any:
    """`function(*args, **kwargs)` by NumPy."""
    name = name_of(function)
    metrics.note_unlowered(name, reason)
    lent = _Lent(f"`{name}` runs in NumPy")
    result = function(*[lent.array(a) for a in args], **{k: lent.array(v) for k, v in kwargs.items()})
    lent.store()
    return lent.tensor(result)


class _Lent:
    """The memory of tensors, lent to NumPy: of each owner once, so that views of it are views there too."""

    def __init__(self, cause: str) -> None:
        self._cause = cause
        self._owners: dict[int, tuple[Tensor, np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
        self._given: dict[int, tuple[Tensor, Any]] = {}
        self._device: Any = None

    def array(self, value: Any) -> Any:
        """An argument with NumPy's arrays in place of tensors."""
        if isinstance(value, Tensor):
            return self._lend(value)
        if type(value) in (list, tuple):
            return type(value)([self.array(v) for v in value])
        if type(value) is dict:
            return {k: self.array(v) for k, v in value.items()}
        if type(value) is slice:
            return slice(self.array(value.start), self.array(value.stop), self.array(value.step))
        return value

    def _lend(self, tensor: Tensor) -> Any:
        self._device = tensor._kind.device
        found = self._given.get(id(tensor))
        if found is not None:
            return found[1]
        base = tensor._owner or tensor
        lent = self._owners.get(id(base))
        if lent is None:
            before = to_host(base, self._cause)
            lent = self._owners[id(base)] = base, before, before.copy()
        array: Any = lent[2]
        for step in tensor._path:
            array = view_maker(step)(array)
        if tensor._kind.form is Form.SCALAR:
            array = array[()]
        elif not tensor._kind.writable:
            array = array.view()
            array.flags.writeable = False
        self._given[id(tensor)] = tensor, array
        return array

    def store(self) -> None:
        """Stores in the tensors what NumPy has changed in their memory."""
        for base, before, after in self._owners.values():
            if before.tobytes() != after.tobytes():
                device = base._kind.device
                assign(base, Node(base._kind.type, device, on_device(after, device)))

    def tensor(self, value: Any) -> Any:
        """A result with tensors in place of NumPy's arrays."""
        for tensor, array in self._given.values():
            if value is array:
                return tensor
        if type(value) is np.ndarray and value.dtype in SHORT_NAMES and value.dtype.isnative:
            device = self._device or default_device()
            type_ = ArrayType(value.dtype, value.shape)
            return owner(Node(type_, device, on_device(value, device)), kind_of(type_, Form.NDARRAY, device))
        if type(value) is list:
            return [self.tensor(v) for v in value]
        if isinstance(value, tuple):
            parts = [self.tensor(v) for v in value]
            return tuple(parts) if type(value) is tuple else tuple.__new__(type(value), parts)
        return value
