"""Elements of an iterable as a vector, where only the program knows their number."""

from __future__ import annotations

from typing import cast

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
from .iterators import exhaust, leave_open, ordered, run_to_end
from .rolled_iterables import rolled


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
    lazy = isinstance(value, Enumerate | Zip | Reversed | Mapped | Range) or isinstance(content, IteratorCell)
    parts = rolled(engine, value) if lazy else None
    if parts is None or isinstance(parts.length, Const):
        return None
    ending = leave_open(engine, value, engine.b.span)
    found = collected(engine, parts.length, parts.element)
    exhaust(engine, ending)
    return found


def _gathered_rest(engine: Engine, value: Ref, content: IteratorCell) -> Vector[Abstract] | None:
    """The remaining elements of an iterator over a list of rows that has given none so far."""
    source = engine.cell(content.source) if isinstance(content.source, Ref) else None
    if not isinstance(source, RowsCell) or content.index != 0 or content.ended is not False:
        return None
    engine.write(value.cell, IteratorCell())
    return source.items
