"""Columns: the numbers of a long list or tuple of elements of one structure, as arrays.

In: the elements, Python numbers of one class or tuples of such. Out: an array for each number of an element, with a row for
each element. A program then has as many parameters as an element has numbers, and a call handles no element by itself.
"""

from __future__ import annotations

import functools
import itertools
import marshal
import struct
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ...compiler import limits
from ...compiler.hlo.types import BOOL, COMPLEX128, FLOAT64, INT64
from ...records import dataclass


class Column(np.ndarray[Any, Any]):
    """The numbers at one place of all elements: no ndarray of the caller's."""


def constant_of(leaf: Any) -> Any:
    """A leaf as a program has it as a constant: a tuple of Python numbers for a column."""
    return tuple(leaf.tolist()) if type(leaf) is Column else leaf


Structure: TypeAlias = "type | tuple[type, tuple[str, ...], tuple[Structure, ...]]"
"""The class of a number; of a tuple its class, its fields if they have names, and the structures of its items."""

_FORMATS = {int: ("q", INT64), float: ("d", FLOAT64), bool: ("?", BOOL)}
"""By class of numbers, their format for `struct`, which is three times faster than `np.array`, and their element type."""


def packed_numbers(numbers: Sequence[Any], cls: type) -> np.ndarray[Any, Any] | None:
    """The numbers, all of one class, as an array; None for ints of more than 64 bits, and for what are no numbers."""
    if cls is complex:
        return np.array(numbers, COMPLEX128)
    if cls not in _FORMATS:
        return None
    format, dtype = _FORMATS[cls]
    try:
        return np.frombuffer(struct.pack(f"{len(numbers)}{format}", *numbers), dtype)
    except struct.error:
        return None


def columns_of(values: Sequence[Any]) -> tuple[Structure, list[Column]] | None:
    """The structure of many elements and their columns; None for few, and for elements of several structures.

    None, too, for tuples with a NaN: they are equal if it is one object, and a column does not say whether it is.
    """
    if len(values) < limits.COLUMN_ROWS:
        return None
    found = None
    if type(values[0]) is tuple and len(values) >= _MANY_TUPLES:
        found = _columns_at_once(values)
    if found is None:
        columns: list[Column] = []
        structure = _add_columns(values, columns)
        found = None if structure is None else (structure, columns)
    if found is None or isinstance(found[0], type):
        return found
    return None if any(column.dtype.kind in "fc" and np.isnan(column).any() for column in found[1]) else found


_CODES = {int: ("i", np.dtype("<i4"), INT64), float: ("g", np.dtype("<f8"), FLOAT64)}
"""By class of numbers, what `marshal` writes before one of them, and how; ints of 32 bits only."""
_MANY_TUPLES = 256
"""Fewer tuples are taken apart faster one place after another."""
_VERSION = 2
"""The format of `marshal` that writes floats in binary, and what occurs twice twice."""
_HEADER = 5
"""Bytes of a list or tuple before its elements: a code and the length."""


def _columns_at_once(values: Any) -> tuple[Structure, list[Column]] | None:
    """The structure and the columns of what `marshal` writes in as many bytes for each element, in one pass of C.

    That all have the codes and lengths of the first one says that they have its structure. None for all others; the
    format of `marshal` is not documented, and in another one nothing would be found.
    """
    structure = _structure_of(values[0])
    record = None if structure is None else _record_of(structure)
    if structure is None or record is None:
        return None
    try:
        data = marshal.dumps(values, _VERSION)
    except ValueError:  # something that it does not write
        return None
    if len(data) != _HEADER + len(values) * record.dtype.itemsize:
        return None
    rows = np.frombuffer(data, record.dtype, len(values), _HEADER)
    if any((rows[name] != expected).any() for name, expected in record.codes):
        return None
    return structure, [rows[name].astype(dtype).view(Column) for name, dtype in record.numbers]


def _structure_of(element: Any) -> Structure | None:
    """The structure of one element that is a number or a plain tuple of such."""
    cls = type(element)
    if cls in _CODES:
        return cls
    if cls is not tuple or not 0 < len(element) <= limits.COLUMNS:
        return None
    parts = [_structure_of(item) for item in element]
    return None if None in parts else (tuple, (), tuple([part for part in parts if part is not None]))


@dataclass(frozen=True, slots=True)
class _Record:
    """An element in the format of `marshal`: its fields, which of them are codes and lengths, and which are numbers."""

    dtype: np.dtype[Any]
    codes: tuple[tuple[str, int], ...]
    numbers: tuple[tuple[str, np.dtype[Any]], ...]


@functools.lru_cache(maxsize=256)
def _record_of(structure: Structure) -> _Record | None:
    """The record for elements of a structure; None where it has too many numbers."""
    fields: list[tuple[str, Any]] = []
    codes: list[tuple[str, int]] = []
    numbers: list[tuple[str, np.dtype[Any]]] = []

    def add(part: Structure) -> None:
        name = f"f{len(fields)}"
        if isinstance(part, type):
            code, stored, dtype = _CODES[part]
            fields.append((name, "u1"))
            fields.append((f"{name}v", stored))
            codes.append((name, ord(code)))
            numbers.append((f"{name}v", dtype))
            return
        fields.extend([(name, "u1"), (f"{name}n", "<i4")])
        codes.extend([(name, ord("(")), (f"{name}n", len(part[2]))])
        for inner in part[2]:
            add(inner)

    add(structure)
    return _Record(np.dtype(fields), tuple(codes), tuple(numbers)) if len(numbers) <= limits.COLUMNS else None


def _add_columns(values: Sequence[Any], columns: list[Column]) -> Structure | None:
    cls = type(values[0])
    if [*map(type, values)].count(cls) < len(values):  # in less time than a set of them
        return None
    if issubclass(cls, tuple):
        return _add_columns_of_tuples(cls, values, columns)
    column = packed_numbers(values, cls)
    if column is None:
        return None
    columns.append(column.view(Column))
    return cls


def _add_columns_of_tuples(
    cls: type, values: Sequence[tuple[Any, ...]], columns: list[Column]
) -> Structure | None:
    keys = () if cls is tuple else tuple(getattr(cls, "_fields", ()))
    widths = {*map(len, values)}
    width = widths.pop()
    if widths or not 0 < width <= limits.COLUMNS - len(columns) or (cls is not tuple and len(keys) != width):
        return None
    if cls.__dictoffset__ and any(map(vars, values)):
        return None
    items = list(itertools.chain.from_iterable(values))
    parts: list[Structure] = []
    for i in range(width):
        part = _add_columns(items[i::width], columns)
        if part is None:
            return None
        parts.append(part)
    return cls, keys, tuple(parts)
