"""Memory layout of arrays: strides and order, and the fields of structured (record) arrays.

A stand-in without contents takes the same views, so that NumPy determines strides and order. The memory of a cell is assumed
to be in row-major order.

A structured ndarray is one array for each field (`Records`, `lattice.py`): each is memory of its own, a cell like that of
any ndarray, and a part of the records is the same part of each. So a field is a view of that memory, a row is a view of one
element of each, and names of one record share cells. Of a nested structure the fields count. The memory that they have in
common exists outside of the program only: the runtime takes arguments apart by `record_class`, and puts results together.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ...records import dataclass
from ..hlo.types import SHORT_NAMES, ArrayType, DType
from .views import (
    Diagonal,
    FieldOf,
    Flipped,
    Permuted,
    RealOrImaginary,
    Repeated,
    Reshaped,
    SlidingWindows,
    Strided,
    View,
    Window,
)


def stand_in(base: ArrayType, path: tuple[View, ...]) -> np.ndarray:
    """An array without contents with the layout of the view at the end of `path` of an array."""
    return seen_through(np.empty(base.shape, base.dtype), path)


def seen_through(array: np.ndarray, path: tuple[View, ...]) -> np.ndarray:
    """The view of an array at the end of `path`; a box with computed starts begins at the first element."""
    for view in path:
        array = _through(array, view)
    return array


def is_row_major(base: ArrayType, path: tuple[View, ...]) -> bool:
    """True if the elements of a view lie in row-major order without gaps."""
    return not path or bool(stand_in(base, path).flags.c_contiguous)


def _through(array: np.ndarray, view: View) -> np.ndarray:
    match view:
        case Window(starts=starts, sizes=sizes):
            at = [s if isinstance(s, int) else 0 for s in starts]
            return array[tuple([slice(a, a + n) for a, n in zip(at, sizes)])]
        case Strided(starts=first, limits=limits, strides=strides):
            return array[tuple([slice(*part) for part in zip(first, limits, strides)])]
        case Flipped(axes=axes):
            return np.flip(array, axes)
        case Permuted(permutation=permutation):
            return array.transpose(permutation)
        case Reshaped(new_shape=shape):
            return array.reshape(shape)
        case Diagonal(offset=offset):
            return array.diagonal(offset, -2, -1)
        case Repeated(new_shape=shape):
            return np.broadcast_to(array, shape)
        case SlidingWindows(sizes=sizes, axes=axes):
            return np.lib.stride_tricks.sliding_window_view(array, sizes, axes)
        case RealOrImaginary():
            return array.imag if view.imaginary else array.real
        case FieldOf(spacing=spacing, rank=rank):
            return _field(array, spacing, rank)
    raise AssertionError(f"an unknown view {view!r}")


def _field(array: np.ndarray, spacing: int, rank: int) -> np.ndarray:
    """An array with the layout of a field of records, whose elements `array` has side by side."""
    block = math.prod(array.shape[rank:]) * array.itemsize
    strides = (*[stride // block * spacing for stride in array.strides[:rank]], *array.strides[rank:])
    reach = [stride * (extent - 1) for stride, extent in zip(strides, array.shape) if extent]
    before, after = -sum([n for n in reach if n < 0]), sum([n for n in reach if n > 0])
    memory = np.empty(before + after + array.itemsize, np.uint8)
    return np.ndarray(array.shape, array.dtype, memory, before, strides)


# ---------------------------------------------------------------- structured dtypes

RecordType = np.dtype[Any]
"""A structured dtype."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field that has elements: its name and those of the structures around it, and the type of one of its elements."""

    names: tuple[str, ...]
    dtype: DType
    shape: tuple[int, ...]

    @property
    def key(self) -> str:
        """The subscripts that lead to the leaf."""
        return "".join([f"[{name!r}]" for name in self.names])

    def of(self, records: Any) -> Any:
        """The field of an ndarray, as a view."""
        for name in self.names:
            records = records[name]
        return records


class RecordClass:
    """Base of the classes that represent the ndarrays of one structured dtype, where arguments are classified.

    `array`: whether these are of class `ndarray` or `recarray`.
    """

    array: ClassVar[type[np.ndarray]]
    dtype: ClassVar[RecordType]
    leaves: ClassVar[tuple[Leaf, ...]]
    keys: ClassVar[tuple[str, ...]]


_ELEMENTS: dict[type, type] = {np.ndarray: np.void, np.recarray: np.record}
"""The classes of structured arrays, and of their elements."""


def why_not(dtype: RecordType, array: type = np.ndarray) -> str | None:
    """The reason why arrays of a structured dtype cannot be staged, or None if they can."""
    return _why_not(dtype, _layout(dtype), array)


def record_class(dtype: RecordType, array: type = np.ndarray) -> type[RecordClass]:
    """The class that represents ndarrays of a dtype that can be staged; one for each, alignment included."""
    found = _found(dtype, array)
    assert found is not None
    return found


def is_structured(value: Any) -> bool:
    """True for an ndarray whose records a program can have."""
    cls = type(value)
    return cls in _ELEMENTS and value.dtype.names is not None and _found(value.dtype, cls) is not None


def _found(dtype: RecordType, array: type) -> type[RecordClass] | None:
    known = _classes.get((id(dtype), array))
    if known is not None and known[0] is dtype and known[1] is dtype.names:
        return known[2]
    layout = _layout(dtype)
    made = _record_class(dtype, layout, array) if _why_not(dtype, layout, array) is None else None
    if len(layout) == _PLAIN:
        if len(_classes) >= _MOST_CLASSES:
            _classes.clear()
        _classes[id(dtype), array] = dtype, dtype.names, made
    return made


_classes: dict[tuple[int, type], tuple[RecordType, Any, type[RecordClass] | None]] = {}
"""The classes of dtypes by the identity of these: many arrays share one, and to compare them takes long.

Names of fields may be assigned to; those of structures inside are looked at each time.
"""
_MOST_CLASSES = 4096


def _layout(dtype: RecordType) -> tuple[Any, ...]:
    """What may differ in equal dtypes, also of the structures in them."""
    fields = [field.base for field, *_ in _fields(dtype).values()]
    inner = [_layout(field) for field in fields if field.names is not None]
    return (dtype.isalignedstruct, dtype.names, dtype.type, dtype.metadata is None, *inner)


_PLAIN = 4
"""The length of the layout of a dtype without structures in it."""


@functools.lru_cache(maxsize=_MOST_CLASSES)
def _why_not(dtype: RecordType, layout: tuple[Any, ...], array: type) -> str | None:
    if dtype.type is not _ELEMENTS[array] or dtype.metadata is not None:
        return "a structured dtype with a class or metadata of its own"
    if not dtype.names:
        return "a structured dtype without fields"
    end = 0
    for name, (field, offset, *title) in sorted(_fields(dtype).items(), key=lambda item: item[1][1]):
        if title:
            return "a structured dtype with titles"
        if offset < end:
            return "a structured dtype whose fields overlap"
        if not field.itemsize:
            return f"a structured dtype with the field {name!r}, which has no bytes"
        end = offset + field.itemsize
        inner = field.base
        if inner.names is not None or inner.type is np.void:
            in_array = bool(field.shape) or array is not np.ndarray
            why = "a structured dtype with arrays of structures" if in_array else why_not(inner)
        elif inner in SHORT_NAMES and inner.isnative:
            why = None
        else:
            why = f"a structured dtype with fields of the element type {inner}"
        if why is not None:
            return why
    return None


def _fields(dtype: RecordType) -> dict[str, tuple[Any, ...]]:
    """The fields by name: type, offset, and a title where there is one."""
    if dtype.names is None or dtype.fields is None:
        return {}
    return {name: tuple(dtype.fields[name]) for name in dtype.names}


@functools.lru_cache(maxsize=_MOST_CLASSES)
def _record_class(dtype: RecordType, layout: tuple[Any, ...], array: type) -> type[RecordClass]:
    leaves = tuple(_leaves(dtype))
    body = {"array": array, "dtype": dtype, "leaves": leaves, "keys": tuple([x.key for x in leaves])}
    return type(f"{array.__name__} of {dtype}", (RecordClass,), {"__module__": __name__, **body})


def _leaves(dtype: RecordType, around: tuple[str, ...] = ()) -> Iterator[Leaf]:
    for name, (field, *_) in _fields(dtype).items():
        if field.names is not None:
            yield from _leaves(field, (*around, name))
        else:
            yield Leaf((*around, name), field.base, field.shape)


def leaves_of(cls: type[RecordClass], name: str) -> range:
    """The leaves that belong to the field `name`."""
    found = [i for i, leaf in enumerate(cls.leaves) if leaf.names[0] == name]
    return range(found[0], found[-1] + 1)
