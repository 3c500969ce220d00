"""Calls that NumPy runs: small ones at once, and those without a recipe.

NumPy gets the memory of the tensors, and new tensors hold its results. A small call has nothing to wait for. For one without
a recipe the tensors are computed, and a new record begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..autocasting import product_type
from ..compiler.hlo.types import SHORT_NAMES, ArrayType
from ..compiler.values.boundary import Form
from ..runtime.results.objects import view_maker
from .counting import counts
from .devices import default_device
from .graph import Node, is_differentiating
from .recipes import TensorKind, kind_of, name_of
from .replacement import Replacement
from .steps.recording import thread
from .tensor import Tensor, held_by, host_view, memory_of, owner, owner_of, shared_memory, to_host

SMALL = 1 << 14
"""A call on fewer elements in all is computed at once: to record it, and to find or make a program, does not pay.

Measured on a CPU in chains of calls on arrays of float64, compiled, against NumPy: with a `tanh` in every fourth call the
program is as fast at 6,000 elements and takes 0.6 of the time at 16,000; additions and products alone are as fast at 65,000.
A call of two arrays has twice the elements of each."""
DEFERRED = object()
"""What `at_once` gives for a call that is to be recorded."""
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), type(...)})
_SCALARS = frozenset([dtype.type for dtype in SHORT_NAMES])


class _Deferred(Exception):
    """Raised for an operand with which a call is not computed at once."""


def at_once(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Any:
    """What a call on few elements, all of which are computed, gives by NumPy; DEFERRED for other calls, and for views.

    The arrays and scalars that it makes are lazy tensors, as those of recorded calls are.
    """
    if not is_eager():
        return DEFERRED
    operands = _Operands()
    try:
        values = list(map(operands.lend, args))
        named = {name: operands.lend(value) for name, value in kwargs.items()} if kwargs else {}
    except _Deferred:
        return DEFERRED
    if operands.size >= SMALL:
        return DEFERRED
    try:
        result = function(*values, **named)
    except Exception:
        fixed = operands.fixed()
        if not fixed:
            raise
        if any(base._kind.type.size >= SMALL for base in fixed):
            return DEFERRED
        for base in fixed:
            memory_of(base, "a small call")
        return at_once(function, args, kwargs)
    counts.at_once += 1
    return operands.tensor(result)


def is_eager() -> bool:
    """True where a small call may be computed at once: nothing needs the record of it."""
    return not (
        thread.recording is not None or thread.blocks or is_differentiating() or product_type() is not None
    )


def held_at_once(array: Any, device: Any, form: Form) -> Any:
    """A tensor with a copy of a small array on a CPU, which is its memory; None for other arrays."""
    if device.platform != "cpu" or thread.recording is not None:
        return None
    elements = np.array(array, order="C")
    if elements.size >= SMALL or elements.dtype not in SHORT_NAMES or not elements.dtype.isnative:
        return None
    kind = kind_of(ArrayType(elements.dtype, elements.shape), form, device)
    return held_by(elements[()] if form is Form.SCALAR else elements, kind)


class _Operands:
    """The elements of the operands of a call, as NumPy takes them, and how many there are."""

    __slots__ = ("_arena", "_arrays", "_given", "size")

    def __init__(self) -> None:
        self.size = 0
        self._arena: Any = None
        self._given: list[Any] = []
        self._arrays: list[Any] = []
        """The tensors and ndarrays among the operands, and what NumPy gets for each."""

    def lend(self, value: Any) -> Any:
        """What NumPy gets for an operand: the memory of a tensor, a container of these, or the value as it is."""
        cls: Any = type(value)
        if cls is Tensor.made:
            kind = value._kind
            array = value._host if value._owner is None and kind.writable else None
            if array is None:
                array = _elements_of(value)
            if kind.arena is not self._arena:
                if self._arena is not None:
                    raise _Deferred
                self._arena = kind.arena
            self.size += array.size
        elif cls in _PLAIN or cls in _SCALARS:
            return value
        elif cls is np.ndarray and value.dtype in SHORT_NAMES and value.dtype.isnative:
            array = value
            self.size += array.size
        elif cls is tuple or cls is list:
            return cls(map(self.lend, value))
        elif cls is slice:
            return slice(self.lend(value.start), self.lend(value.stop), self.lend(value.step))
        elif isinstance(value, type | np.dtype):
            return value
        else:
            raise _Deferred
        self._given.append(value)
        self._arrays.append(array)
        return array

    def fixed(self) -> list[Tensor]:
        """The owners of the memory that NumPy could not store into, because it is not NumPy's."""
        owners = [owner_of(each) for each in self._given if type(each) is Tensor.made]
        return [base for base in owners if base._host is None and base._kind.form is not Form.SCALAR]

    def tensor(self, result: Any) -> Any:
        """What NumPy has made, as tensors; DEFERRED for what has a view of an operand."""
        cls: Any = type(result)
        if cls is np.ndarray:
            for given, array in zip(self._given, self._arrays):
                if array is result:
                    return given
            if result.base is not None:
                if any(isinstance(a, np.ndarray) and np.may_share_memory(a, result) for a in self._arrays):
                    return DEFERRED
                result = result.copy(order="K")
            kind = self._arena.kinds.get((result.dtype, result.shape))
            if kind is None or not result.flags.c_contiguous:
                kind = self._kind(result)
        elif cls in _SCALARS:
            kind = self._arena.kinds.get(cls)
            if kind is None:
                kind = self._arena.kinds[cls] = kind_of(
                    ArrayType(result.dtype), Form.SCALAR, self._arena.device
                )
        elif cls is list or isinstance(result, tuple):
            parts = list(map(self.tensor, result))
            if any(part is DEFERRED for part in parts):
                return DEFERRED
            return parts if cls is list else tuple.__new__(cls, parts)
        else:
            return result
        return result if kind is None else held_by(result, kind)

    def _kind(self, array: np.ndarray[Any, Any]) -> TensorKind | None:
        """The kind of a new array; None for one of a type that no tensor has."""
        if array.dtype not in SHORT_NAMES or not array.dtype.isnative:
            return None
        type_, flags = ArrayType(array.dtype, array.shape), array.flags
        if flags.c_contiguous:
            kind = self._arena.kinds[array.dtype, array.shape] = kind_of(
                type_, Form.NDARRAY, self._arena.device
            )
            return kind
        return kind_of(type_, Form.NDARRAY, self._arena.device, ordered=False, fortran=flags.fnc)


def _elements_of(tensor: Tensor) -> Any:
    """The elements of a small tensor, if they are computed: NumPy's memory or scalar, or else not to be stored into."""
    base = owner_of(tensor)
    memory: Any = base._host
    kind = tensor._kind
    if memory is None:
        node = base._node
        if node is None or node.array is None or kind.device.platform != "cpu":
            raise _Deferred
        memory = np.asarray(node.array)
    if kind.type.size >= SMALL or base._recording is not None:
        raise _Deferred
    for step in tensor._path:
        memory = view_maker(step)(memory)
    if kind.form is Form.SCALAR:
        return memory[()]
    if memory.flags.writeable and (base._host is None or not kind.writable):
        memory = memory.view()
        memory.flags.writeable = False
    return memory


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
