"""What an iterable gives, as rows, where only the program knows how many elements it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...library.kernels.deques import contents, is_deque
from ...library.kernels.row_lists import collected, of_array
from ...library.kernels.row_tables import view_rows
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
from ..core.engine import Engine
from .iterators import exhaust, leave_open, ordered, rolled, run_to_end


def gathered(engine: Engine, value: Abstract) -> RowsCell | None:
    """The elements of an iterable as rows, if they have a template, and are many or only the program knows how many."""
    run_to_end(engine, value)
    content = engine.cell(value) if isinstance(value, Ref) else None
    if isinstance(content, RowsCell):
        return content
    if isinstance(value, RowsTuple):
        return value.rows
    if isinstance(content, IteratorCell):
        return _gathered_rest(engine, cast(Ref, value), content)
    if is_deque(engine, value):
        elements_now = contents(engine, value)
        return elements_now if isinstance(elements_now, RowsCell) else None
    if isinstance(value, DictView) or isinstance(content, TableCell):
        view = cast("Ref | DictView", value)
        table = engine.cell(Ref(view.cell))
        return view_rows(table, ordered(engine, view).kind) if isinstance(table, TableCell) else None
    if isinstance(content, ArrayCell) or isinstance(value, Array | Bounded):
        return of_array(engine, value)
    if isinstance(value, Mapped) and len(value.inners) == 1:
        return _gathered_map(engine, value)
    parts = rolled(engine, value) if isinstance(value, Enumerate | Zip | Reversed | Range) else None
    if parts is None or isinstance(parts.length, Const):
        return None
    return _collected(engine, value, parts.length, parts.element)


def _gathered_rest(engine: Engine, value: Ref, content: IteratorCell) -> RowsCell | None:
    """What is left of an iterator over a list of rows that has given none so far."""
    source = engine.cell(content.source) if isinstance(content.source, Ref) else None
    if not isinstance(source, RowsCell) or content.index:
        return None
    engine.write(value.cell, IteratorCell())
    return source


def _gathered_map(engine: Engine, value: Mapped) -> RowsCell | None:
    """What `map` gives of an iterable of which only the program knows how many elements it has."""
    (inner,) = value.inners
    parts = rolled(engine, inner)
    if parts is None or isinstance(parts.length, Const):
        return None
    return _collected(engine, value, parts.length, lambda i: engine.call(value.function, [parts.element(i)]))


def _collected(
    engine: Engine, value: Abstract, length: Abstract, element: Callable[[Abstract], Abstract]
) -> RowsCell | None:
    """The elements of `value` as rows; its iterators have given them."""
    ending = leave_open(engine, value, engine.b.span)
    found = collected(engine, length, element)
    exhaust(engine, ending)
    return found
