"""Python containers as abstract values: construction, and access to their elements.

In: abstract tuples, lists, dicts, sets, ranges and iterators, or constants of those types. Out: lists of abstract
values, or new containers. The number of elements is a constant, their values need not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...diagnostics.codes_types import DTypeNotStaged, NoSuchOperation
from ...hash_order import SetHistory
from ...hlo.builder import Builder
from ...hlo.types import SHORT_NAMES
from ...values.boundary import Form
from ...values.lattice import (
    LISTS,
    NONE,
    Abstract,
    AnyList,
    Array,
    Const,
    Count,
    DictCell,
    DictView,
    FlatIterator,
    Items,
    IteratorCell,
    ListCell,
    MemberCell,
    Range,
    Ref,
    RowsCell,
    RowsTuple,
    SetCell,
    SliceObject,
    Suspended,
    TableCell,
    Tuple,
)
from ...values.vector import Vector, capacity_of, length_of
from ..context import Context, Raw
from ..interfaces.operations import Operations
from ..rules.promote import python_type
from ..rules.rows import row_at, row_of
from ..rules.tables import compacted, count_of
from ..rules.templates import key_of
from .array_rows import boxed, copied

MISSING: Any = object()
"""What `known_object` gives for what is not known now."""


def abstract(value: Raw) -> Abstract:
    """An argument as an abstract value; plain objects are defaults, which are constants."""
    return value if isinstance(value, Abstract) else Const(value)


def container_of(value: Any, part: Callable[[Any], Abstract]) -> Tuple | ListCell | DictCell | None:
    """A tuple, list or dict as the node that describes it, with `part` of each item; None for anything else.

    What stands in it twice is one part.
    """
    made: dict[int, Abstract] = {}

    def once(item: Any) -> Abstract:
        if id(item) not in made:
            made[id(item)] = part(item)
        return made[id(item)]

    if isinstance(value, tuple):
        return Tuple(tuple(map(once, value)), type(value))
    if type(value) is list:
        return ListCell(tuple(map(once, value)))
    if type(value) is dict:
        return DictCell({key: once(item) for key, item in value.items()})
    return None


def lift(ctx: Context, value: Any, leaf: Callable[[Context, Any], Abstract] | None = None) -> Abstract:
    """A Python object that was computed while compiling, as an abstract value; containers are new ones.

    What is no tuple, list or dict is as `leaf` says.
    """
    ctx.state.step(0)  # asks whether inference is to end: a container may have a million items
    content = container_of(value, lambda item: lift(ctx, item, leaf))
    if content is None:
        return (leaf or _leaf)(ctx, value)
    return content if isinstance(content, Tuple) else Ref(ctx.state.new_cell(content))


def _leaf(ctx: Context, value: Any) -> Abstract:
    match value:
        case np.ndarray():
            if value.dtype not in SHORT_NAMES:
                ctx.fail(DTypeNotStaged(span=ctx.span, what="a new array", dtype=str(value.dtype)))
            return ctx.ndarray(ctx.constant(value, value.dtype))
        case set():
            return Ref(ctx.state.new_cell(SetCell(frozenset(value), order=tuple(value))))
        case range():
            return Range(Const(value.start), Const(value.stop), Const(value.step))
        case slice():
            return SliceObject(lift(ctx, value.start), lift(ctx, value.stop), lift(ctx, value.step))
        case _:
            return Const(value)


def new_list(ctx: Context, items: Iterable[Abstract]) -> Ref:
    """A new list."""
    return Ref(ctx.state.new_cell(ListCell(tuple(items))))


def new_rows(ctx: Context, elements: Vector[Abstract]) -> Ref:
    """A new list of the elements of another."""
    return Ref(ctx.state.new_cell(RowsCell(copied(elements))))


def list_of(ctx: Context, items: Items) -> Ref:
    """A new list of these elements."""
    return new_rows(ctx, items) if isinstance(items, Vector) else new_list(ctx, items)


def with_elements(cell: AnyList, items: Items) -> AnyList:
    """The list with other elements."""
    if isinstance(items, Vector):
        return RowsCell(items, cell.aliases, cell.selector)
    return ListCell(items, cell.aliases, cell.selector)


def new_dict(ctx: Context, entries: Mapping[Any, Abstract]) -> Ref:
    """A new dict."""
    return Ref(ctx.state.new_cell(DictCell(dict(entries))))


def new_set(ctx: Context, items: Iterable[Any], history: SetHistory | None = None) -> Ref:
    """A new set of known elements, in an order that follows from its history."""
    return Ref(ctx.state.new_cell(SetCell(frozenset(items), history=history)))


def new_iterator(ctx: Context, items: Iterable[Abstract]) -> Ref:
    """A new iterator over known structure."""
    return Ref(ctx.state.new_cell(IteratorCell(Tuple(tuple(items)))))


def new_turn(ctx: Context) -> Ref:
    """A cell that records whether a new lazy iterator has been consumed."""
    return new_iterator(ctx, [NONE])


def view_items(ctx: Context, view: DictView) -> list[Abstract]:
    """The keys, values or items of a dict."""
    cell = ctx.cell(Ref(view.cell))
    if isinstance(cell, TableCell):
        entries = list_items(ctx, compacted(ctx.b, cell).entries)
        pairs = [entry.items for entry in entries if isinstance(entry, Tuple)]
        part = {"keys": 0, "values": 1}.get(view.kind)
        return [Tuple(pair) if part is None else pair[part] for pair in pairs]
    entries = cell.entries
    match view.kind:
        case "keys":
            return [key_of(key) for key in entries]
        case "values":
            return list(entries.values())
        case _:
            return [Tuple((key_of(key), value)) for key, value in entries.items()]


def cell_of(ctx: Context, value: Raw) -> Any:
    """The contents of the cell that `value` refers to, or None."""
    return ctx.cell(value) if isinstance(value, Ref) else None


def known_object(ctx: Operations, value: Raw) -> Any:
    """The immutable Python object that `value` is where all of it is known now, else `MISSING`.

    Demands nothing of the arguments of the program, unlike `ctx.known`.
    """
    match value:
        case Const(value=known):
            return known
        case Tuple(items=items, cls=cls):
            parts = [known_object(ctx, i) for i in items]
            if any(p is MISSING for p in parts):
                return MISSING
            return tuple(parts) if cls is tuple else cls(*parts)
        case SliceObject(start, stop, step):
            return _known_parts(ctx, slice, (start, stop, step))
        case Range(start, stop, step):
            return _known_parts(ctx, range, (start, stop, step))
        case Abstract():
            return MISSING
        case _:
            return value


def _known_parts(ctx: Operations, make: Any, parts: tuple[Abstract, ...]) -> Any:
    known = [known_object(ctx, p) for p in parts]
    return MISSING if any(p is MISSING for p in known) else make(*known)


def sequence_items(ctx: Context, value: Raw) -> tuple[Abstract, ...] | None:
    """The elements of a tuple or list; None for anything else. PS401 where only the program knows their number."""
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, RowsTuple):
        return list_items(ctx, value.items)
    if isinstance(value, Const) and isinstance(value.value, tuple | list):
        return tuple([lift(ctx, v) for v in value.value])
    items = items_in_list(ctx, value)
    return None if items is None else list_items(ctx, items)


def items_in_list(ctx: Context, value: Raw) -> Items | None:
    """The elements of a list; None for anything else."""
    cell = cell_of(ctx, value)
    return cell.items if isinstance(cell, LISTS) else None


def vector_of(ctx: Context, value: Raw) -> Vector[Abstract] | None:
    """The elements of a tuple or list of which only the run knows how many there are; None for anything else."""
    items = value.items if isinstance(value, RowsTuple) else items_in_list(ctx, value)
    return items if isinstance(items, Vector) else None


def is_sequence(ctx: Context, value: Raw) -> bool:
    """True for a tuple or list."""
    if isinstance(value, Const):
        return isinstance(value.value, tuple | list)
    return isinstance(value, Tuple | RowsTuple) or isinstance(cell_of(ctx, value), LISTS)


def list_items(ctx: Context, items: Items) -> tuple[Abstract, ...]:
    """Elements one by one; PS401 where only the program knows their number."""
    if isinstance(items, tuple):
        return items
    count = ctx.known(list_length(items), "the length of a list or a tuple")
    return tuple([known_item(ctx, items, place) for place in range(count)])


def known_item(ctx: Context, vector: Vector[Abstract], place: int) -> Abstract:
    """The element of a vector at a known position."""
    return boxed(ctx, row_at(ctx.b, vector.element, row_of(ctx.b, vector, place)), vector.objects)


def list_length(items: Items) -> Abstract:
    """The number of elements, as a Python int."""
    count = length_of(items)
    return (
        Const(count) if isinstance(count, int) else Array(count, Form.PYTHON, range=(0, capacity_of(items)))
    )


def table_length(b: Builder, cell: TableCell) -> Abstract:
    """`len` of a dict or a set of rows, as a Python int."""
    return list_length(replace(cell.entries, length=count_of(b, cell)))


def elements_for(ctx: Context, iterable: Raw, operation: str) -> list[Abstract]:
    """The elements of an iterable; PS202 for the operation where they cannot be listed."""
    items = ctx.iterate(abstract(iterable))
    if items is None:
        types = type_name(ctx, iterable)
        ctx.fail(NoSuchOperation(span=ctx.span, operation=operation, types=types))
    return items


def call_now(ctx: Context, function: Callable[..., Any], *args: Any) -> Abstract:
    """Calls a pure function of known objects while compiling; what it raises, the program raises."""
    try:
        with np.errstate(all="ignore"):
            value = function(*args)
    except Exception as error:
        ctx.raise_(error)
    return lift(ctx, value)


def type_name(ctx: Context, value: Raw) -> str:
    """The name of a value's Python type, for error texts."""
    match value:
        case Const(value=known):
            return type(known).__name__
        case Tuple(cls=cls):
            return cls.__name__
        case RowsTuple():
            return "tuple"
        case Ref():
            match ctx.state.get(value.cell):
                case ListCell() | RowsCell():
                    return "list"
                case SetCell():
                    return "set"
                case DictCell(container=cls) | TableCell(container=cls):
                    return cls.__name__
                case MemberCell(kind=cls):
                    return cls.__name__
                case IteratorCell(source=FlatIterator()):
                    return "numpy.flatiter"
                case IteratorCell(source=Count()):
                    return "itertools.count"
                case IteratorCell(source=Suspended()):
                    return "generator"
                case IteratorCell():
                    return "iterator"
                case cell:
                    return cell.cls.__name__ if hasattr(cell, "cls") else "ndarray"
        case Array(form=Form.PYTHON):
            return python_type(value.dtype).__name__
        case Array(form=Form.SCALAR):
            return f"numpy.{value.dtype.name}"
        case Abstract():
            return type(value).__name__.lower()
        case _:
            return type(value).__name__
