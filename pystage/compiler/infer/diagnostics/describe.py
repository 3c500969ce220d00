"""Descriptions of abstract values, for messages."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from typing import Any

from ...hlo.types import ArrayType
from ...library.rules.templates import row_template
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated, GatedNumber, is_absent
from ...values.lattice import (
    Abstract,
    AnyTable,
    Array,
    ArrayCell,
    Caught,
    Closure,
    Const,
    DictCell,
    Enumerate,
    Exc,
    Items,
    IteratorCell,
    ListCell,
    Mapped,
    MemberCell,
    Method,
    ObjectCell,
    Range,
    Records,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    SetCell,
    TableCell,
    Tuple,
    Undef,
    Unknown,
    Zip,
)
from ...values.state import State
from ...values.type_text import short_array, type_of_constant
from ...values.vector import Vector, length_of
from ...values.views import path_type


def describe_type(type: ArrayType, form: Form) -> str:
    """A type as a NumPy user says it: `a float32 array of shape (3, 4)`."""
    match form:
        case Form.PYTHON:
            name = {"b": "bool", "i": "int", "f": "float", "c": "complex"}[type.dtype.kind]
            return f"a Python {name}"
        case Form.SCALAR:
            return f"a NumPy scalar of type {type.dtype}"
        case Form.NDARRAY:
            return f"a {type.dtype} ndarray of shape {_shape(type)}"
        case Form.JAX:
            return f"a {type.dtype} jax.Array of shape {_shape(type)}"


def _shape(type: ArrayType) -> str:
    inner = ", ".join(map(str, type.shape))
    return f"({inner},)" if len(type.shape) == 1 else f"({inner})"


def describe(value: Abstract, state: State, lookup: Callable[[int], Any] | None = None) -> str:
    """A description of `value` in a few words. `lookup` gives the contents of cells; by default the present ones."""
    match value:
        case Const(v):
            if v is None or isinstance(v, bool | int | float | complex | str | bytes):
                return repr(v) if len(repr(v)) <= 40 else f"a {type(v).__name__}"
            name = getattr(v, "__qualname__", None) or getattr(v, "__name__", None)
            return f"the {type(v).__name__} {name}" if name else f"a {type(v).__name__}"
        case Array():
            return describe_type(value.type, value.form)
        case Tuple():
            return f"a {value.cls.__name__} of length {len(value.items)}"
        case RowsTuple():
            return "a tuple whose length the program computes"
        case Ref():
            cell = state.slots.get(value.cell) if lookup is None else lookup(value.cell)
            match cell:
                case ArrayCell():
                    return describe_type(path_type(cell.value.type, value.path), Form.NDARRAY)
                case ListCell(items) | RowsCell(items):
                    return describe_list(items)
                case DictCell():
                    return f"a dict with {len(cell.entries)} keys"
                case ObjectCell():
                    return f"an instance of {cell.cls.__qualname__}"
                case MemberCell(kind=kind):
                    return f"a {kind.__name__}" if cell.cls is None else f"an instance of {kind.__qualname__}"
                case IteratorCell():
                    return "an iterator"
                case SetCell():
                    return "a set"
                case TableCell():
                    return describe_table(cell)
                case _:
                    return "an object"
        case Closure():
            return f"the function {value.function.name}"
        case Method():
            return "a method"
        case Range():
            return "a range"
        case Exc():
            return f"an instance of {value.cls.__qualname__}"
        case Caught():
            return "an exception that was caught"
        case Gated(options=options):
            return " or ".join([describe(each, state, lookup) for each in options])
        case Undef():
            return "not assigned"
        case Unknown():
            return "something that cannot be staged"
        case Mapped() | Zip() | Enumerate() | Reversed():
            return f"an iterator ({_ITERATORS[type(value)]})"
        case Bounded():
            what = "ndarray" if value.form is Form.NDARRAY else "jax.Array"
            return f"a {value.type.dtype} {what} whose size only the run knows"
        case Records():
            fields = ", ".join(map(repr, value.dtype.names or ()))
            return f"{'an element of ' * value.element}a structured ndarray with the fields {fields}"
        case _:
            return f"a {type(value).__name__.lower()}"


def describe_list(items: Items) -> str:
    """A description of a list in a few words."""
    size = length_of(items)
    return f"a list of length {size}" if isinstance(size, int) else "a list whose length the program computes"


def describe_table(cell: AnyTable) -> str:
    """A description of a dict or a set in a few words."""
    match cell:
        case DictCell(entries=entries):
            return f"a dict with the keys {reprlib.repr(list(entries))}"
        case SetCell(items=members):
            return f"a set with the elements {reprlib.repr(sorted(members, key=repr))}"
        case TableCell(container=cls):
            return f"a {cls.__name__} whose keys the program computes"


_ITERATORS: dict[type[Abstract], str] = {
    Mapped: "map",
    Zip: "zip",
    Enumerate: "enumerate",
    Reversed: "reversed",
}


def short_type(value: Abstract, state: State) -> str:
    """A description of `value` short enough to stand beside a line: `float32[3, 4]`, `3`, `list of 2`."""
    match value:
        case Const(v) if v is None or isinstance(v, bool | int | float | complex | str | bytes):
            return type_of_constant(v)
        case GatedNumber(kinds=kinds):
            kinds_shown = [short_array(ArrayType(kind.dtype), kind.form) for kind in kinds]
            return " or ".join(dict.fromkeys(kinds_shown))
        case Array():
            return short_array(value.type, value.form)
        case Tuple() if value.cls is tuple and len(value.items) <= 3:
            inner = ", ".join([short_type(item, state) for item in value.items])
            return f"({inner},)" if len(value.items) == 1 else f"({inner})"
        case Tuple():
            return f"{value.cls.__name__} of {len(value.items)}"
        case RowsTuple(rows):
            return f"tuple of n × {short_type(row_template(rows.element), state)}"
        case Ref():
            match state.slots.get(value.cell):
                case ArrayCell() as cell:
                    return short_array(path_type(cell.value.type, value.path), Form.NDARRAY)
                case ListCell(items=items):
                    return f"list of {len(items)}"
                case RowsCell(Vector(element, length=length)):
                    size = length if isinstance(length, int) else "n"
                    return f"list of {size} × {short_type(row_template(element), state)}"
                case DictCell(entries=entries):
                    return f"dict of {len(entries)}"
                case TableCell(container=cls, entries=entries):
                    size = entries.length if isinstance(entries.length, int) else "n"
                    return f"{cls.__name__} of {size}"
                case ObjectCell(cls=cls) | MemberCell(kind=cls):
                    return cls.__qualname__
        case Bounded():
            return short_array(value.type, value.form, [extent.axis for extent in value.extents])
        case Gated(options=options):
            last_absent = sorted(options, key=is_absent)
            return " or ".join([short_type(each, state) for each in last_absent])
        case Unknown():
            return "not staged"
    return describe(value, state).removeprefix("a ").removeprefix("an ").removeprefix("the ")
