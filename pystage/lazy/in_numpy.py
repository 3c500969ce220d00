"""Calls that NumPy runs: small ones at once, and those without a recipe.

NumPy gets the memory of the tensors, and new tensors hold its results. A small call has nothing to wait for. For one without
a recipe the tensors are computed, and a new record begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..autocasting import entered, product_type
from ..compiler.hlo.types import SHORT_NAMES, ArrayType
from ..compiler.values.boundary import Form
from .arena import Arena
from .counting import counts
from .devices import default_device, is_cpu
from .functions import setitem
from .graph import Node, loans, tapes
from .recipes import TensorKind, kind_of, name_of
from .replacement import Replacement
from .steps.recording import thread
from .tensor import Tensor, held_by, host_view, memory_of, owner, owner_of, shared_memory, to_host

SMALL = 1 << 14
"""A call on fewer elements in all is computed at once: to record it, and to find or make a program, does not pay.

Measured on a CPU in chains of calls on arrays of float64, compiled, against NumPy: with a `tanh` in every fourth call the
program is as fast at 6,000 elements and takes 0.6 of the time at 16,000; additions and products alone are as fast at 65,000.
A call of two arrays has twice the elements of each."""
SMALL_CALLS = 64
"""After a call that is not small, small ones are recorded, too, until so many come in a row.

A training step some of whose calls are just below `SMALL` took twice as long where these were computed at once: what they
give had to go to the device in each step."""
DEFERRED = object()
"""What `at_once` gives for a call that is to be recorded."""
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), type(...)})
_SCALARS = frozenset([dtype.type for dtype in SHORT_NAMES])


def at_once(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Any:
    """The result of a call on few computed elements by NumPy; DEFERRED for other calls, and for views.

    The arrays and scalars that it makes are lazy tensors, as those of recorded calls are.
    """
    if not thread.is_eager or tapes or (entered and product_type() is not None):
        return DEFERRED
    made = Tensor.made
    given: Sequence[Any] = (*args, *kwargs.values()) if kwargs else args
    values: list[Any] = []
    size = 0
    arena: Any = None
    inner: _InnerOperands | None = None
    for each in given:
        cls = type(each)
        if cls is made:
            kind = each._kind
            if arena is not kind.arena:
                if arena is not None:
                    return DEFERRED
                arena = kind.arena
                if arena.small_calls < SMALL_CALLS:
                    _note_deferred(arena, _size(given))
                    return DEFERRED
            array = each._host if each._owner is None and kind.writable else None
            if array is None and (array := _elements_of(each)) is None:
                _note_deferred(arena, _size(given))
                return DEFERRED
            size += array.size
        elif cls in _PLAIN:
            array = each
        else:
            inner = inner or _InnerOperands()
            array = inner.lend(each)
        values.append(array)
    if inner is not None:
        if not inner.are_known or arena not in (None, inner.arena or arena):
            return DEFERRED
        arena = arena or inner.arena
        size += inner.size
        given = (*given, *inner.given)
    if size >= SMALL or arena is None or arena.recorded:
        if arena is not None:
            _note_deferred(arena, size)
        return DEFERRED
    try:
        if kwargs:
            count = len(args)
            result = function(*values[:count], **dict(zip(kwargs, values[count:], strict=True)))
        else:
            result = function(*values)
    except Exception:
        if not (fixed := _fixed(given)):
            raise
    else:
        counts.at_once += 1
        if inner is not None:
            values += inner.arrays
        return _tensor_of(result, given, values, arena)
    if any(base._kind.type.size >= SMALL for base in fixed):
        return DEFERRED
    for base in fixed:  # NumPy may have wanted to store into one
        memory_of(base, "a small call")
    return at_once(function, args, kwargs)


def _size(given: Sequence[Any]) -> int:
    """The number of elements of the tensors among the operands of a call."""
    made = Tensor.made
    return sum([each._kind.type.size for each in given if type(each) is made])


def _note_deferred(arena: Arena, size: int) -> None:
    """Records that a call on operands of this total size is recorded."""
    arena.small_calls = arena.small_calls + 1 if size < SMALL else min(arena.small_calls, 0)


def two_at_once(function: Any, x: Any, y: Any) -> Any:
    """The same as `at_once`, of two operands that are in NumPy's memory or numbers; DEFERRED otherwise."""
    arena: Any = None
    a: Any = None
    b: Any = None
    size = 0
    if type(x) is Tensor.made:
        if x._owner is not None or x._host is None or not x._kind.writable:
            return DEFERRED
        a, arena = x._host, x._kind.arena
        size = a.size
    elif type(x) is float or type(x) is int:
        a = x
    if type(y) is Tensor.made:
        if y._owner is not None or y._host is None or arena not in (None, y._kind.arena):
            return DEFERRED
        b, arena = y._host, y._kind.arena
        size += b.size
    elif type(y) is float or type(y) is int:
        b = y
    if a is None or b is None or size >= SMALL or not thread.is_eager or tapes or entered:
        return DEFERRED
    if arena.recorded or arena.small_calls < SMALL_CALLS:
        return DEFERRED
    try:
        result = function(a, b)
    except Exception:
        return DEFERRED
    if result is a:
        return x
    kinds = arena.kinds
    if type(result) is not np.ndarray:
        kind = kinds.get(type(result))
    elif result.base is None and result.flags.c_contiguous:
        kind = kinds.get((result.dtype, result.shape))
    else:
        kind = None
    counts.at_once += 1
    return _tensor_of(result, (x, y), (a, b), arena) if kind is None else held_by(result, kind)


def element_at_once(tensor: Tensor, key: Any) -> Any:
    """An element of a tensor in NumPy's memory; None otherwise."""
    if not _is_place(key) or tensor._owner is not None or not thread.is_eager or tapes or loans:
        return None
    memory = tensor._host
    if memory is None:
        node = tensor._node
        if node is None or type(node.array) is not np.ndarray or tensor._recording is not None:
            return None
        memory = node.array
    element = memory[key]
    if type(element) is np.ndarray:
        return None
    arena = tensor._kind.arena
    return held_by(element, arena.kinds.get(type(element)) or _kind_of_scalar(element, arena))


def store_at_once(tensor: Tensor, key: Any, value: Any) -> bool:
    """`tensor[key] = value`, computed at once; False where it is to be recorded."""
    if type(value) is Tensor.made and value._owner is None and value._kind.arena is tensor._kind.arena:
        number = value._host
    else:
        number = value if type(value) in _PLAIN else None
    if number is None or tensor._owner is not None or tensor._host is None or not _is_place(key):
        return at_once(setitem, (tensor, key, value)) is not DEFERRED
    arena = tensor._kind.arena
    if not thread.is_eager or tapes or loans or arena.recorded or arena.small_calls < SMALL_CALLS:
        return False
    tensor._host[key] = number
    return True


def _is_place(key: Any) -> bool:
    """True for an index of integers."""
    return type(key) is int or (type(key) is tuple and set(map(type, key)) == {int})


def _tensor_of(result: Any, given: Sequence[Any], values: Sequence[Any], arena: Arena) -> Any:
    """The results of NumPy as tensors; DEFERRED for one with a view of `values`, which stood for those `given`."""
    cls: Any = type(result)
    if cls is np.ndarray:
        for each, value in zip(given, values):
            if value is result:
                return each
        if result.base is not None:
            if result.size == 0 or any(
                isinstance(value, np.ndarray) and np.may_share_memory(value, result) for value in values
            ):
                return DEFERRED
            result = result.copy(order="K")
        kind = arena.kinds.get((result.dtype, result.shape))
        if kind is None or not result.flags.c_contiguous:
            kind = _kind_of_new(result, arena)
    elif cls in _SCALARS:
        kind = arena.kinds.get(cls) or _kind_of_scalar(result, arena)
    elif cls is list or isinstance(result, tuple):
        parts = [_tensor_of(part, given, values, arena) for part in result]
        if any(part is DEFERRED for part in parts):
            return DEFERRED
        return parts if cls is list else tuple.__new__(cls, parts)
    else:
        return result
    return result if kind is None else held_by(result, kind)


def _kind_of_scalar(scalar: Any, arena: Arena) -> TensorKind:
    kind = arena.kinds[type(scalar)] = kind_of(ArrayType(scalar.dtype), Form.SCALAR, arena.device)
    return kind


def _kind_of_new(array: np.ndarray[Any, Any], arena: Arena) -> TensorKind | None:
    """The kind of an array that NumPy has made; None for a type that no tensor has."""
    if array.dtype not in SHORT_NAMES or not array.dtype.isnative:
        return None
    type_, flags = ArrayType(array.dtype, array.shape), array.flags
    if not flags.c_contiguous:
        return kind_of(type_, Form.NDARRAY, arena.device, ordered=False, fortran=flags.fnc)
    kind = arena.kinds[array.dtype, array.shape] = kind_of(type_, Form.NDARRAY, arena.device)
    return kind


class _InnerOperands:
    """The tensors and ndarrays in containers among the operands of a call, and their elements."""

    __slots__ = ("are_known", "arena", "arrays", "given", "size")

    def __init__(self) -> None:
        self.are_known = True
        """False if one is not computed, or is on another device, or if there is something else."""
        self.arena: Any = None
        self.size = 0
        self.given: list[Any] = []
        self.arrays: list[Any] = []

    def lend(self, value: Any) -> Any:
        """A value with the elements of tensors in place of these."""
        cls: Any = type(value)
        if cls is Tensor.made:
            array = _elements_of(value)
            arena = self.arena = self.arena or value._kind.arena
            if array is None or value._kind.arena is not arena:
                self.are_known = False
                return value
        elif cls is np.ndarray and value.dtype in SHORT_NAMES and value.dtype.isnative:
            array = value
        elif cls is tuple or cls is list:
            return cls([self.lend(part) for part in value])
        elif cls is slice:
            return slice(self.lend(value.start), self.lend(value.stop), self.lend(value.step))
        else:
            is_plain = cls in _PLAIN or cls in _SCALARS or isinstance(value, type | np.dtype)
            self.are_known = self.are_known and is_plain
            return value
        self.size += array.size
        self.given.append(value)
        self.arrays.append(array)
        return array


def _fixed(given: Sequence[Any]) -> list[Tensor]:
    """The owners of the elements of tensors into which NumPy could not store, because they are not NumPy's."""
    owners = [owner_of(each) for each in given if type(each) is Tensor.made]
    return [base for base in owners if base._host is None and base._kind.form is not Form.SCALAR]


def _elements_of(tensor: Tensor) -> Any:
    """The elements of a small computed tensor: NumPy's memory or scalar, or else read-only."""
    base = owner_of(tensor)
    memory: Any = base._host
    kind = tensor._kind
    if memory is None:
        node = base._node
        if node is None or node.array is None or not is_cpu(kind.device):
            return None
        memory = np.asarray(node.array)
    if kind.type.size >= SMALL or base._recording is not None:
        return None
    for make in tensor._makers:
        memory = make(memory)
    if kind.form is Form.SCALAR:
        return memory[()]
    if memory.flags.writeable and (base._host is None or not kind.writable):
        memory = memory.view()
        memory.flags.writeable = False
    return memory


def on_host(array: Any, device: Any, form: Form) -> Any:
    """A tensor whose memory is a copy of a small array, on a CPU; None for other arrays."""
    if not is_cpu(device) or thread.recording is not None or np.size(array) >= SMALL:
        return None
    elements = np.array(array, order="C")
    if elements.dtype not in SHORT_NAMES or not elements.dtype.isnative:
        return None
    kind = kind_of(ArrayType(elements.dtype, elements.shape), form, device)
    return held_by(elements[()] if form is Form.SCALAR else elements, kind)


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
    """The memory of tensors, lent to NumPy: its stores are stores into the tensors."""

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
        """True if an array lies in the memory of a tensor, or of an ndarray that was given."""
        lent = [tensor for tensor, elements in self.made.values() if isinstance(elements, np.ndarray)]
        memories = [*self.arrays.values(), *[memory_of(owner_of(tensor), self._cause) for tensor in lent]]
        return any(np.may_share_memory(memory, array) for memory in memories)


class _Returned(Replacement):
    """Replaces lent and new arrays by tensors again."""

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
