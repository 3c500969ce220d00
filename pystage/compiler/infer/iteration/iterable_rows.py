"""Elements of an iterable as a vector, where only the program knows their number."""

from __future__ import annotations

from typing import cast

from ... import limits
from ...library.containers.row_lists import collected
from ...library.containers.row_tables import view_rows
from ...library.containers.sequences import contents, is_sequence
from ...library.containers.vectors import of_array
from ...values.bounded import Bounded
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    DictView,
    Enumerate,
    IteratorCell,
    Mapped,
    Range,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    TableCell,
    Zip,
)
from ...values.vector import Vector
from ..core.engine import Engine
from .iterators import ENDLESS, exhaust, leave_open, ordered, run_to_end
from .rolled_iterables import Rolled, rolled


def gathered(engine: Engine, value: Abstract) -> Vector[Abstract] | None:
    """The elements of an iterable as a vector, if they have a template, and are many or of a computed number."""
    run_to_end(engine, value)
    content = engine.cell(value) if isinstance(value, Ref) else None
    if isinstance(content, RowsCell):
        return content.items
    if isinstance(value, RowsTuple):
        return value.items
    if isinstance(content, IteratorCell):
        rest = _gathered_rest(engine, cast(Ref, value), content)
        if rest is not None:
            return rest
    if is_sequence(engine, value):
        elements_now = contents(engine, value)
        return elements_now if isinstance(elements_now, Vector) else None
    if isinstance(value, DictView) or isinstance(content, TableCell):
        view = cast("Ref | DictView", value)
        table = engine.cell(Ref(view.cell))
        if not isinstance(table, TableCell):
            return None
        return view_rows(engine, table, ordered(engine, view).kind)
    if isinstance(content, ArrayCell) or isinstance(value, Array | Bounded):
        return of_array(engine, value)
    parts = _rolled_lazily(engine, value)
    if parts is None or (isinstance(parts.length, Const) and not _is_never_listed(parts.length)):
        return None
    ending = leave_open(engine, value, engine.b.span)
    found = collected(engine, parts.length, parts.element)
    exhaust(engine, ending)
    return found


def _rolled_lazily(engine: Engine, value: Abstract) -> Rolled | None:
    """How a loop goes over a range or an iterator; None for others."""
    is_range = isinstance(value, Range) or (isinstance(value, Const) and isinstance(value.value, range))
    is_lazy = isinstance(value, Enumerate | Zip | Reversed | Mapped)
    is_iterator = isinstance(value, Ref) and isinstance(engine.cell(value), IteratorCell)
    return rolled(engine, value) if is_range or is_lazy or is_iterator else None


def _is_never_listed(length: Abstract) -> bool:
    """True for a known number of elements that are too many to be listed one by one."""
    return isinstance(length, Const) and limits.UNROLLED_TRIPS < length.value < ENDLESS


def are_many(engine: Engine, value: Abstract) -> bool:
    """True for a range or an iterator of a known number of elements, too many to be listed one by one."""
    parts = _rolled_lazily(engine, value)
    return parts is not None and _is_never_listed(parts.length)


def _gathered_rest(engine: Engine, value: Ref, content: IteratorCell) -> Vector[Abstract] | None:
    """The remaining elements of an iterator over a list of rows that has given none so far."""
    source = engine.cell(content.source) if isinstance(content.source, Ref) else None
    if not isinstance(source, RowsCell) or content.index != 0 or content.ended is not False:
        return None
    engine.write(value.cell, IteratorCell())
    return source.items
