"""Iterables that a rolled loop iterates over, and those that it cannot.

`rolled` gives the length and the element at a staged position of what a single `While` can iterate over: a range, an array's
first axis, rows, an iterator that counts, and `zip`, `enumerate` and `reversed` of these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from ....records import dataclass
from ... import limits
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_control import NotIterable
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.errors import StagingError
from ...library.containers.computed_items import is_of_few
from ...library.containers.deques import is_deque
from ...library.containers.row_tables import view_rows
from ...library.containers.sequences import items_of
from ...library.containers.vectors import check, compared, get, holding, int_of
from ...library.kernels.array_rows import taken_once
from ...library.kernels.number_checks import refuse
from ...library.kernels.structures import list_length
from ...library.numpy.indexing.bounded import length as bounded_length
from ...library.numpy.subscripts import structured
from ...library.numpy.subscripts.subscripts import array_getitem
from ...library.python import deques, operators
from ...library.python.containers import container_getitem
from ...library.python.iterators import has_ended, is_computed_iterator, place_of
from ...library.python.ranges import range_element, range_length
from ...library.rules.classes import class_of
from ...library.rules.promote import PYTHON_DTYPES
from ...library.rules.tables import compacted, count_of
from ...library.rules.templates import template_of_items
from ...values.bounded import Bounded
from ...values.lattice import (
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    Const,
    Count,
    DictCell,
    DictView,
    Enumerate,
    FlatIterator,
    Items,
    IteratorCell,
    ListCell,
    Mapped,
    Range,
    Records,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    TableCell,
    Tuple,
    Unknown,
    Zip,
)
from ...values.vector import Sharing, Vector
from ..core.engine import Engine
from .iterators import (
    ENDLESS,
    content_of,
    is_endless,
    iterators_in,
    known_range,
    narrowed_iterable,
    ordered,
    record_count,
    steps,
)


@dataclass(frozen=True, slots=True)
class Rolled:
    """An iterable that a rolled loop iterates over: its length (known or staged), and the element at a position."""

    length: Abstract
    element: Callable[[Abstract], Abstract]
    length_now: Callable[[], Abstract] | None = None
    """The length at the begin of a trip, of an iterable whose length the body may change."""
    at_end: Callable[[bool], None] | None = None
    """Checks, after the last trip, that the body has not changed the length; whether Python certainly checks."""


def rolled(engine: Engine, value: Abstract, by_place: bool = False) -> Rolled | None:
    """How a rolled loop iterates over `value`; None where it must be unrolled over structure.

    `by_place`: a list of arrays or objects is read at computed places.
    """
    value = narrowed_iterable(engine, value)
    match value:
        case Ref() if isinstance(content_of(engine, value), RowsCell):
            return _rolled_list(engine, value)
        case Ref() | DictView() if isinstance(content_of(engine, value), TableCell):
            return _rolled_table(engine, value)
        case Ref() if is_deque(engine, value):
            return _rolled_deque(engine, value)
        case Ref() if is_endless(engine, value):
            return _rolled_count(engine, cast(Count, cast(IteratorCell, engine.state.get(value.cell)).source))
        case Range():
            return _rolled_range(engine, value)
        case Const(v) if isinstance(v, range):
            return _rolled_range(engine, Range(Const(v.start), Const(v.stop), Const(v.step)))
        case Const(v) if isinstance(v, str | bytes) and len(v) >= limits.WRITTEN_OUT_TRIPS and is_of_few(v):
            return Rolled(Const(len(v)), lambda i: cast(Abstract, container_getitem(engine, value, i)))
        case Array() if value.shape:
            return Rolled(Const(value.shape[0]), lambda i: array_getitem(engine, value, i))
        case Ref() if isinstance(engine.state.get(value.cell), ArrayCell):
            shape = cast(Array, engine.read(value)).shape
            if not shape:
                engine.raise_(TypeError("iteration over a 0-d array"))
            return Rolled(Const(shape[0]), lambda i: array_getitem(engine, value, i))
        case Bounded():
            return Rolled(bounded_length(engine, value), lambda i: array_getitem(engine, value, i))
        case Records(element=False):
            return Rolled(record_count(engine, value), lambda i: structured.getitem(engine, value, i))
        case Ref() if isinstance(engine.state.get(value.cell), IteratorCell):
            return _rolled_iterator(engine, value, by_place)
        case RowsTuple(rows):
            return Rolled(list_length(rows), lambda i: get(engine, rows, int_of(i)))
        case Enumerate(inner, start):
            parts = rolled(engine, inner, by_place)
            if parts is None:
                return None
            at = parts.element
            return replace(parts, element=lambda i: Tuple((operators.binary(engine, "+", start, i), at(i))))
        case Zip(inners, strict):
            return _rolled_zip(engine, value, inners, strict, by_place)
        case Mapped(function, (inner,)):
            parts = rolled(engine, inner, by_place)
            if parts is None:
                return None
            only = parts.element
            return replace(parts, element=lambda i: engine.call(function, [only(i)]))
        case Mapped(function, inners):
            parts = _rolled_zip(engine, value, inners, False, by_place)
            if parts is None:
                return None
            row = parts.element
            return replace(parts, element=lambda i: engine.call(function, cast(Tuple, row(i)).items))
        case Reversed(inner):
            parts = rolled(engine, inner, by_place)
            if parts is None:
                return None
            last, element = operators.binary(engine, "-", parts.length, Const(1)), parts.element
            return Rolled(
                parts.length,
                lambda i: element(operators.binary(engine, "-", last, i)),
                None if parts.length_now is None else functools.partial(_unchanged, engine, parts),
                parts.at_end,
            )
        case Unknown(reason):
            raise DiagnosticError(reason)
        case Const(tuple() as items):
            return _rolled_items(engine, tuple_of(items), by_place)
        case Tuple():
            return _rolled_items(engine, value, by_place)
        case Ref() if isinstance(content_of(engine, value), ListCell):
            return _rolled_items(engine, value, by_place)
        case _:
            return None


def _rolled_count(engine: Engine, count: Count) -> Rolled | None:
    """A loop over the integers of an endless count; None for other numbers, to which the step is added repeatedly."""
    if any(class_of(engine, x) != [int] for x in (count.next, count.step)):
        return None

    def element(position: Abstract) -> Abstract:
        return operators.binary(engine, "+", count.next, operators.binary(engine, "*", position, count.step))

    return Rolled(Const(ENDLESS), element)


def _rolled_iterator(engine: Engine, iterator: Ref, by_place: bool) -> Rolled | None:
    """A loop over the remaining elements of an iterator over an array or a list."""
    cell = cast(IteratorCell, engine.state.get(iterator.cell))
    source = cell.source.array if isinstance(cell.source, FlatIterator) else cell.source
    if not isinstance(source, Ref | Bounded | RowsTuple):
        return None
    parts = rolled(engine, source, by_place)
    is_array = (
        parts is not None and isinstance(parts.length, Const) and parts.length.value > limits.UNROLLED_TRIPS
    )
    if not (isinstance(cell.source, FlatIterator) or is_computed_iterator(engine, iterator) or is_array):
        return None  # the body may take elements of it, too
    if parts is None or (cell.index == 0 and cell.ended is False):
        return parts
    begin, element, length_now = place_of(cell), parts.element, parts.length_now

    def left(length: Abstract) -> Abstract:
        rest = engine.call(Const(max), [operators.binary(engine, "-", length, begin), Const(0)])
        return engine.branch(has_ended(engine, cell), lambda: Const(0), lambda: rest)

    at_first = left(parts.length)

    def left_now() -> Abstract:
        whole = cast("Callable[[], Abstract]", length_now)()
        return at_first if _is_same_length(whole, parts.length) else left(whole)

    return replace(
        parts,
        length=at_first,
        element=lambda i: element(operators.binary(engine, "+", begin, i)),
        length_now=None if length_now is None else left_now,
    )


def _rolled_items(engine: Engine, value: Ref | Tuple, by_place: bool) -> Rolled | None:
    """A loop over a tuple or a list of many known elements, as over their rows; None without a common template."""

    def content() -> Items | None:
        held = value if isinstance(value, Tuple) else content_of(engine, value)
        return held.items if isinstance(held, Tuple | ListCell | RowsCell) else None

    before = content()
    if not isinstance(before, tuple) or (len(before) < limits.WRITTEN_OUT_TRIPS and not by_place):
        return None
    rows = holding(engine, before)
    if rows is None and by_place and isinstance(value, Ref):
        count = Const(len(before))
        return Rolled(
            count,
            lambda i: cast(Abstract, container_getitem(engine, value, i)),
            lambda: list_length(content() or ()),
        )
    if rows is None:
        return None

    def element(position: Abstract) -> Abstract:
        now = content() or ()
        current = rows if isinstance(value, Tuple) or now is before else holding(engine, now)
        if current is None:
            raise DiagnosticError(NotIterable(span=engine.b.span, what="a list that the loop replaces"))
        return get(engine, current, int_of(position))

    return Rolled(Const(len(before)), element, lambda: list_length(content() or ()))


def tuple_of(items: tuple[Any, ...]) -> Tuple:
    """A known tuple as the tuple of its items."""
    return Tuple(tuple([tuple_of(item) if type(item) is tuple else Const(item) for item in items]))


def count_now(engine: Engine, value: Abstract) -> int | None:
    """The trip count of a loop over what has its elements now, if it does not leave or change that; None for others."""
    match value:
        case Enumerate(inner) | Reversed(inner):
            return count_now(engine, inner)
        case Zip(inners) | Mapped(_, inners):
            return min(
                [count for inner in inners if (count := count_now(engine, inner)) is not None], default=None
            )
        case Tuple(items):
            return len(items)
        case Const(value=str() | bytes() | tuple() | frozenset() as whole):
            return len(whole)
        case DictView(cell=cell) | Ref(cell=cell):
            content = engine.state.get(cell)
            if isinstance(content, ListCell):
                return len(content.items)
            return len(content.entries) if isinstance(content, DictCell) else None
    return None


def count_of_like_items(engine: Engine, value: Abstract) -> int:
    """The trip count of a loop over a list or a tuple of several values of one type; 0 for any other loop."""
    match value:
        case Enumerate(inner) | Reversed(inner):
            return count_of_like_items(engine, inner)
        case Zip(inners):
            counts = [count_of_like_items(engine, inner) for inner in inners]
            return min([count for count in counts if count], default=0)
        case Ref() if isinstance(cell := content_of(engine, value), ListCell):
            many = len(cell.items) >= limits.WRITTEN_OUT_TRIPS
            many &= all(isinstance(item, Ref | Bounded | Tuple | Array) for item in cell.items)
            return len(cell.items) if many or _are_alike(engine, cell.items) else 0
        case Const(tuple() as items):
            return count_of_like_items(engine, tuple_of(items))
        case Tuple(items) if _are_alike(engine, items):
            return len(items) if template_of_items(items) is not None else 0
    return 0


def _are_alike(engine: Engine, items: Sequence[Abstract]) -> bool:
    """True for several arrays of one type, numbers of one kind, or tuples of such."""

    def kind(item: Abstract) -> object:
        if isinstance(item, Const):
            return type(item.value) if type(item.value) in PYTHON_DTYPES else None
        if isinstance(item, Tuple):
            parts = tuple(map(kind, item.items))
            return None if None in parts else parts
        content = content_of(engine, item) if isinstance(item, Ref) and not item.path else item
        return content.value.type if isinstance(content, ArrayCell | Array) else None

    kinds = set(map(kind, items))
    return len(items) > limits.LOOPED_ARRAYS and len(kinds) == 1 and None not in kinds


def _rolled_list(engine: Engine, value: Ref) -> Rolled:
    """A loop over a list of rows, which the body may change: it reads the list at each trip."""

    def content() -> Vector[Abstract]:
        items = cast(AnyList, engine.ring(value)).items
        if isinstance(items, tuple):
            raise DiagnosticError(NotIterable(span=engine.b.span, what="a list that the loop replaces"))
        return items

    begun = content()

    def element(position: Abstract) -> Abstract:
        rows = content()
        found = get(engine, rows, int_of(position))
        taken = engine.loops.take()
        if taken is None or rows is not begun or rows.shared is Sharing.TWICE:  # one may come again
            return found
        return taken_once(engine, found, *taken)

    return Rolled(list_length(begun), element, lambda: list_length(content()))


def _rolled_table(engine: Engine, value: Ref | DictView) -> Rolled:
    """A loop over a dict of rows; RuntimeError where the body changes the number of entries, as in Python."""
    view = ordered(engine, value)
    ref = Ref(view.cell)
    engine.settle(ref)
    start = compacted(engine.b, cast(TableCell, engine.cell(ref)))
    if start is not engine.cell(ref):
        engine.write(ref.cell, start)

    def content() -> TableCell:
        cell = engine.cell(ref)
        if not isinstance(cell, TableCell):
            raise DiagnosticError(NotIterable(span=engine.b.span, what="a dict that the loop replaces"))
        return cell

    def check_size(certain: bool = True) -> None:
        now = content()
        resized = compared(engine, "NE", count_of(engine.b, now), start.entries.length)
        moved = compared(engine, "NE", now.removed, start.removed)
        what = "the order of a dict from which the loop takes entries out"
        reason = NotKnown(span=engine.b.span, what=what)
        if certain:
            check(engine, resized, RuntimeError(), _changed_size)
        check(engine, moved, StagingError(()), refuse, [lambda: reason])
        if not certain:
            check(engine, resized, StagingError(()), refuse, [lambda: reason])

    def element(position: Abstract) -> Abstract:
        check_size()
        rows = view_rows(engine, replace(content(), slots=None), view.kind)  # of which none was taken out
        return get(engine, rows, int_of(position))

    return Rolled(list_length(start.entries), element, None, check_size)


def _rolled_deque(engine: Engine, value: Ref) -> Rolled | None:
    """A loop over a deque of rows; RuntimeError where the body changes its length."""
    if not isinstance(engine.cell(items_of(engine, value)), RowsCell):
        return None
    before = deques.changes(engine, value)

    def check_changes(certain: bool = True) -> None:
        changed = compared(engine, "NE", deques.changes(engine, value), before)
        check(engine, changed, RuntimeError(), deques.mutated)

    def element(position: Abstract) -> Abstract:
        check_changes()
        return deques.element(engine, value, position)

    return Rolled(deques.length(engine, value), element, None, check_changes)


def _changed_size() -> None:
    """Raises the RuntimeError of a loop over a dict that it has changed in size."""
    entries = {0: 0}
    for key in entries:
        entries[key + 1] = 0


def _unchanged(engine: Engine, parts: Rolled) -> Abstract:
    """The length of what a loop iterates over; PS3xx where the body changes it."""
    now = parts.length if parts.length_now is None else parts.length_now()
    if not _is_same_length(now, parts.length):
        what = "a list from behind, or beside others, which the loop makes longer or shorter"
        raise DiagnosticError(NotIterable(span=engine.b.span, what=what))
    return now


def _is_same_length(a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Array) and isinstance(b, Array):
        return a.value is b.value
    return isinstance(a, Const) and isinstance(b, Const) and bool(a.value == b.value)


def obstacle(engine: Engine, value: Abstract) -> Abstract:
    """The part that no loop can iterate over: `value`, or what the iterator `value` iterates over."""
    return _part(value, lambda each: steps(engine, each) is None and rolled(engine, each) is None)


def written_out(engine: Engine, value: Abstract) -> Abstract:
    """The part over which no loop is rolled: `value`, or what the iterator `value` iterates over."""
    return _part(value, lambda each: rolled(engine, each) is None)


def _part(value: Abstract, holds: Callable[[Abstract], bool]) -> Abstract:
    """The first part that satisfies a test among those that an iterator iterates over; `value` where there is none."""
    match value:
        case Enumerate(inner=inner) | Reversed(inner=inner):
            inners: tuple[Abstract, ...] = (inner,)
        case Zip(inners=inners) | Mapped(inners=inners):
            pass
        case _:
            return value
    found = [each for each in inners if holds(each)]
    return _part(found[0], holds) if found else value


def _rolled_range(engine: Engine, value: Range) -> Rolled:
    whole = known_range(value)
    if whole is not None:
        length: Abstract = Const(len(whole))
    else:
        length = range_length(engine, value)

    return Rolled(length, lambda i: range_element(engine, value, i))


def _rolled_zip(
    engine: Engine, value: Abstract, inners: tuple[Abstract, ...], strict: bool, by_place: bool
) -> Rolled | None:
    cells = iterators_in(engine, value)
    if len({*cells}) < len(cells):
        return None
    parts = [rolled(engine, inner, by_place) for inner in inners]
    if not parts or any(p is None for p in parts):
        return None
    known = cast("list[Rolled]", parts)
    lengths = [p.length for p in known]
    if strict and len({engine.known(n, "a length of zip(…, strict=True)") for n in lengths}) > 1:
        return None  # it raises after the trips
    length = lengths[0] if len(lengths) == 1 else engine.call(Const(min), lengths)

    def length_now() -> Abstract:
        for each in known:
            _unchanged(engine, each)
        return length

    def at_end(certain: bool) -> None:
        for each in known:
            if each.at_end is not None:
                each.at_end(False)

    changing = any(p.length_now is not None for p in known)
    return Rolled(
        length,
        lambda i: Tuple(tuple([p.element(i) for p in known])),
        length_now if changing else None,
        at_end if any(p.at_end is not None for p in known) else None,
    )
