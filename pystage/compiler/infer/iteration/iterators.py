"""Iteration: the elements of an iterable, and whether a loop over it can be rolled.

`elements` lists an iterable whose structure is known now. `rolled` gives the length and the element at a staged position
of one that a single `While` can iterate over: a range, an array's first axis, rows, an iterator that counts, and `zip`,
`enumerate` and `reversed` of these.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from ....records import dataclass
from ... import limits
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_constant import NotKnown, TooManyToUnroll
from ...diagnostics.codes_control import NotIterable
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.errors import StagingError
from ...diagnostics.span import Span
from ...hlo.ir import Value
from ...library.containers.computed_items import is_of_few
from ...library.containers.deques import contents, is_deque, items_of
from ...library.containers.row_lists import as_rows, check, compared, int_of, item
from ...library.containers.row_tables import view_rows
from ...library.kernels.array_rows import taken_once
from ...library.kernels.number_checks import refuse
from ...library.kernels.structures import list_items, list_length, view_items
from ...library.numpy.indexing.bounded import length as bounded_length
from ...library.numpy.indexing.stores import shape_of
from ...library.numpy.subscripts import structured
from ...library.numpy.subscripts.subscripts import array_getitem
from ...library.python import generators, operators
from ...library.python.collections import deques
from ...library.python.containers import container_getitem
from ...library.python.iterators import has_ended, is_computed_iterator, is_iterator, place_of, taken
from ...library.python.ranges import range_element, range_length
from ...library.rules.classes import class_of, not_iterable
from ...library.rules.promote import PYTHON_DTYPES
from ...library.rules.tables import compacted, count_of
from ...library.rules.templates import template_of_list
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated
from ...values.lattice import (
    LISTS,
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    Const,
    Count,
    DictCell,
    DictView,
    Enumerate,
    Filtered,
    FlatIterator,
    IteratorCell,
    ListCell,
    Mapped,
    ObjectCell,
    Range,
    Records,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    SetCell,
    Sharing,
    TableCell,
    Tuple,
    Unknown,
    Zip,
)
from ...values.node import CellNumber
from ...values.walk import values_of
from ..core.engine import Engine
from ..diagnostics.describe import describe
from ..objects import objects


@dataclass(frozen=True, slots=True)
class Rolled:
    """An iterable that a rolled loop iterates over: its length (known or staged), and the element at a position."""

    length: Abstract
    element: Callable[[Abstract], Abstract]
    length_now: Callable[[], Abstract] | None = None
    """The length at the begin of a trip, of an iterable whose length the body may change."""
    at_end: Callable[[bool], None] | None = None
    """Checks, after the last trip, that the body has not changed the length; whether Python certainly checks."""


LAZY = (Enumerate, Zip, Reversed, Mapped)
"""Iterators whose elements can be taken once."""


def check_iterable(engine: Engine, value: Abstract, text: str = "{!r} object is not iterable") -> None:
    """Raises TypeError with this text for what is certainly no iterable."""
    name = not_iterable(engine, value)
    if name is not None:
        engine.raise_(TypeError(text.format(name)))


def narrowed_iterable(engine: Engine, value: Abstract) -> Abstract:
    """`value` without the alternatives that are impossible here, in what it iterates over.

    `NeedsSplit` where the path says which of them it is.
    """
    match value:
        case Gated():
            return engine.certain(value)
        case Enumerate(inner) | Reversed(inner):
            found = narrowed_iterable(engine, inner)
            return value if found is inner else replace(value, inner=found)
        case Zip(inners) | Mapped(_, inners):
            parts = tuple([narrowed_iterable(engine, each) for each in inners])
            return value if all(map(operator.is_, inners, parts)) else replace(value, inners=parts)
    return value


def elements(engine: Engine, value: Abstract) -> list[Abstract] | None:
    """The elements, where the structure is known now; None otherwise, as for a range with computed ends."""
    value = narrowed_iterable(engine, value)
    check_iterable(engine, value)
    run_to_end(engine, value)
    found = _elements(engine, value)
    if found is not None:
        _take(engine, value)
    return found


def run_to_end(engine: Engine, value: Abstract) -> None:
    """Replaces a generator, all of whose elements are needed, by an iterator over the list of them."""
    if generators.is_suspended(engine, value):
        made = engine.call(Const(generators.as_list), [value])
        engine.state.set(cast(Ref, value).cell, IteratorCell(made))


def _take(engine: Engine, value: Abstract) -> None:
    """Records that a lazy iterator has been iterated over; PS606 if it was before, or on some path."""
    if not isinstance(value, LAZY) or value.turn is None:
        return
    turn = cast(Ref, value.turn)
    cell = engine.state.get(turn.cell)
    if not isinstance(cell, IteratorCell) or cell.source is None:
        what = describe(value, engine.state)
        why = "the first loop has taken its elements, all or some of them"
        instead = "make a list of it first, and go over that"
        name = f"going over {what} a second time"
        raise DiagnosticError(NotServed(span=engine.b.span, name=name, why=why, instead=instead))
    engine.write(turn.cell, IteratorCell())


def take_all(engine: Engine, value: Abstract) -> None:
    """`_take` of a lazy iterator and of those that it iterates over."""
    _take(engine, value)
    match value:
        case Enumerate(inner) | Reversed(inner):
            take_all(engine, inner)
        case Zip(inners) | Mapped(_, inners):
            for each in inners:
                take_all(engine, each)


def iterators_in(engine: Engine, value: Abstract) -> list[int]:
    """The iterators that iterating over `value` takes elements of."""
    match value:
        case Enumerate(inner) | Reversed(inner):
            return iterators_in(engine, inner)
        case Zip(inners) | Mapped(_, inners):
            return [cell for inner in inners for cell in iterators_in(engine, inner)]
        case Ref() if isinstance(cell := engine.state.get(value.cell), IteratorCell):
            source = cell.source
            return [value.cell, *(iterators_in(engine, source.inner) if isinstance(source, Filtered) else ())]
    return []


def leave_open(engine: Engine, value: Abstract, span: Span | None) -> list[tuple[CellNumber, IteratorCell]]:
    """Records that a loop of the program iterates over `value`: inside it the positions of its iterators are not known.

    Gives the iterators that have no more elements once the loop has come to its end. Others, which count or stand
    beside what may end before them, are left open.
    """
    take_all(engine, value)
    found = [(cell, cast(IteratorCell, engine.state.get(cell))) for cell in iterators_in(engine, value)]
    for cell, _ in found:
        engine.state.set(cell, left_open(span))
    ends = not _is_parallel(value)
    return [(cell, content) for cell, content in found if ends and not isinstance(content.source, Count)]


def left_open(span: Span | None) -> Unknown:
    """The state of an iterator after a loop of which only the program knows when it ended."""
    name = "going on with an iterator from which a loop or `next` has taken elements"
    why = "which element comes next, only the run knows"
    instead = "take all of its elements in one loop, or keep in variables what the next element is made of"
    return Unknown(NotServed(span=span, name=name, why=why, instead=instead))


def _is_parallel(value: Abstract) -> bool:
    """True for an iterator that ends with the first of several iterables."""
    match value:
        case Enumerate(inner) | Reversed(inner):
            return _is_parallel(inner)
        case Zip(inners) | Mapped(_, inners):
            return len(inners) > 1 or any(map(_is_parallel, inners))
    return False


def exhaust(engine: Engine, iterators: list[tuple[CellNumber, IteratorCell]]) -> None:
    """Records that a loop has taken all elements of these iterators."""
    for cell, content in iterators:
        engine.state.set(cell, _at_end(engine, content))


def _at_end(engine: Engine, content: IteratorCell) -> IteratorCell:
    """An exhausted iterator."""
    if isinstance(content.source, FlatIterator):
        return replace(content, index=shape_of(engine, content.source.array)[0])
    return IteratorCell()


def _elements(engine: Engine, value: Abstract) -> list[Abstract] | None:
    match value:
        case Tuple(items):
            return list(items)
        case RowsTuple(rows):
            return list(list_items(engine, rows))
        case Const(v):
            return _constant_elements(engine, value, v)
        case Range():
            return _range_elements(engine, value)
        case Ref():
            return _cell_elements(engine, value)
        case DictView():
            return view_items(engine, value)
        case Enumerate(inner, start):
            parts = elements(engine, inner)
            if parts is None:
                return None
            return [
                Tuple((operators.binary(engine, "+", start, Const(i)) if i else start, part))
                for i, part in enumerate(parts)
            ]
        case Zip():
            return _zip_elements(engine, value)
        case Reversed(inner, count):
            parts = elements(engine, inner)
            if parts is None or count is None:
                return None if parts is None else parts[::-1]
            return parts[:count][::-1] if len(parts) >= count else []
        case Mapped(function, inners):
            if any(is_iterator(engine, inner) for inner in inners):
                return [_mapped(engine, function, row) for row in _zip_steps(engine, inners, strict=False)]
            lists = [elements(engine, i) for i in inners]
            if any(part is None for part in lists):
                return None
            return [engine.call(function, list(args)) for args in zip(*cast("list[list[Abstract]]", lists))]
        case Array():
            return _array_elements(engine, value)
        case Bounded(axes=(int(), *_)):
            return _array_elements(engine, value)
        case Records():
            return [step() for step in _record_steps(engine, value)]
        case _:
            return None


def _record_count(engine: Engine, value: Records) -> Abstract:
    """The number of elements of a loop over records."""
    if not value.element and not structured.rank_of(engine, value):
        engine.raise_(TypeError("iteration over a 0-d array"))
    return structured.length(engine, value)


def _record_steps(engine: Engine, value: Records, order: int = 1) -> Iterator[Step]:
    """The elements of a structured ndarray at the time when the loop reaches them; the fields of an element."""
    count = _record_count(engine, value)
    if not isinstance(count, Const):
        structured.refuse(engine, "a loop over the elements, which must be known")
    _check_count(engine, count.value)
    for position in range(count.value)[::order]:
        yield functools.partial(structured.getitem, engine, value, Const(position))


def _constant_elements(engine: Engine, value: Abstract, v: Any) -> list[Abstract]:
    if isinstance(v, (str | bytes | range | frozenset | tuple, type)):
        _check_count(engine, len(v) if hasattr(v, "__len__") else 0)
        return [engine.constant_object(x) for x in v]  # type: ignore[union-attr]
    raise DiagnosticError(NotIterable(span=engine.b.span, what=describe(value, engine.state)))


def _check_count(engine: Engine, count: int) -> None:
    if count > limits.UNROLLED_TRIPS:
        raise DiagnosticError(TooManyToUnroll(span=engine.b.span, trips=count, limit=limits.UNROLLED_TRIPS))


def known_range(value: Range) -> range | None:
    """The Python range, if all parts are known."""
    parts = (value.start, value.stop, value.step)
    if all(isinstance(p, Const) for p in parts):
        return range(*[int(cast(Const, p).value) for p in parts])
    return None


def _range_elements(engine: Engine, value: Range) -> list[Abstract] | None:
    whole = known_range(value)
    if whole is None:
        return None
    _check_count(engine, len(whole))
    return [Const(i) for i in whole]


def _cell_elements(engine: Engine, value: Ref) -> list[Abstract] | None:
    cell = engine.cell(value)
    match cell:
        case ListCell() | RowsCell():
            return list(list_items(engine, cell))
        case DictCell(entries):
            return [engine.constant_object(k) for k in entries]
        case TableCell():
            return view_items(engine, DictView("keys", ordered(engine, value).cell))
        case SetCell(members):
            return [engine.constant_object(m) for m in members]
        case IteratorCell():
            return [step() for step in _iterator_steps(engine, value)]
        case ArrayCell():
            return _array_elements(engine, value)
        case ObjectCell() if is_deque(engine, value):
            return list(list_items(engine, contents(engine, value)))
        case ObjectCell():
            return list(object_items(engine, iterator_of(engine, value)))
    return None


def iterator_of(engine: Engine, value: Ref) -> Abstract:
    """The result of `iter(value)` for an instance of a user class; the instance itself where it is indexed."""
    if is_deque(engine, value):
        return value
    check_iterable(engine, value)
    method = objects.special_method(engine, value, "__iter__")
    return value if method is None else engine.call(method, [])


def object_items(engine: Engine, iterator: Abstract) -> Iterator[Abstract]:
    """The elements of `iterator_of`, each computed when it is taken, as `for` does.

    By `__next__`, or by `__getitem__` from 0 on; their end is an exception that they certainly raise.
    """
    step = objects.special_method(engine, iterator, "__next__")
    by_index = objects.special_method(engine, iterator, "__getitem__") if step is None else None
    if step is None and by_index is None:
        cell = engine.state.get(iterator.cell) if isinstance(iterator, Ref) else None
        if isinstance(cell, ObjectCell):
            engine.raise_(TypeError(f"iter() returned non-iterator of type {cell.cls.__name__!r}"))
        found = elements(engine, iterator)
        if found is None:
            raise DiagnosticError(NotIterable(span=engine.b.span, what=describe(iterator, engine.state)))
        yield from found
        return
    for position in range(limits.UNROLLED_TRIPS + 1):
        if by_index is not None:
            item = engine.attempt(functools.partial(engine.call, by_index, [Const(position)]), IndexError)
        else:
            item = engine.attempt(functools.partial(engine.call, cast(Abstract, step), []), StopIteration)
        if item is None:
            return
        yield item
    raise DiagnosticError(
        TooManyToUnroll(span=engine.b.span, trips=limits.UNROLLED_TRIPS + 1, limit=limits.UNROLLED_TRIPS)
    )


def _zip_elements(engine: Engine, value: Zip) -> list[Abstract] | None:
    if any(is_iterator(engine, inner) for inner in value.inners):
        return [step() for step in _zip_steps(engine, value.inners, value.strict)]
    lists: list[list[Abstract]] = []
    for inner in value.inners:
        parts = elements(engine, inner)
        if parts is None:
            return None
        lists.append(parts)
    if value.strict:
        _check_strict(engine, [len(part) for part in lists])
    return [Tuple(tuple(items)) for items in zip(*lists)]


def _check_strict(engine: Engine, lengths: list[int]) -> None:
    """Raises what `zip(…, strict=True)` raises after as many elements as there are."""
    try:
        list(zip(*[range(n) for n in lengths], strict=True))
    except ValueError as error:
        engine.raise_(error)


def _array_elements(engine: Engine, value: Abstract) -> list[Abstract]:
    axes = value.axes if isinstance(value, Bounded) else cast(Array, engine.read(value)).shape
    if not axes:
        engine.raise_(TypeError("iteration over a 0-d array"))
    count = cast(int, axes[0])
    _check_count(engine, count)
    return [array_getitem(engine, value, Const(i)) for i in range(count)]


# ---------------------------------------------------------------- one by one

Step = Callable[[], Abstract]
"""Gives an element that a loop has reached: a call, where `map` makes one."""


ENDLESS = 1 << 62
"""A number of elements that no run reaches."""


def is_endless(engine: Engine, value: Abstract) -> bool:
    """True for an iterator that counts without end."""
    cell = engine.state.get(value.cell) if isinstance(value, Ref) else None
    return isinstance(cell, IteratorCell) and isinstance(cell.source, Count)


def is_listed(engine: Engine, value: Abstract) -> bool:
    """True if the elements of a loop are known now; False for a range with a computed end."""
    match value:
        case Range():
            return known_range(value) is not None
        case Bounded() | RowsTuple():
            return False
        case Records(parts=(part, *_), element=False):
            return is_listed(engine, part)
        case Ref() if isinstance(cell := _content(engine, value), RowsCell):
            return isinstance(cell.length, int)
        case Ref() | DictView() if isinstance(_content(engine, value), TableCell):
            return False
        case Ref() if is_deque(engine, value):
            return not isinstance(engine.cell(items_of(engine, value)), RowsCell)
        case Ref() if is_endless(engine, value):
            return False
        case Enumerate(inner) | Reversed(inner):
            return is_listed(engine, inner)
        case Zip(inners) | Mapped(_, inners):
            ending = [inner for inner in inners if not is_endless(engine, inner)]
            return bool(ending) and all(is_listed(engine, inner) for inner in ending)
        case _:
            return True


def _content(engine: Engine, value: Ref | DictView) -> Any:
    """The contents of the cell that is iterated over."""
    return engine.cell(Ref(value.cell))


def steps(engine: Engine, value: Abstract) -> Iterator[Step] | None:
    """The elements of a loop, found step by step: the body may change a list or a dict meanwhile."""
    value = narrowed_iterable(engine, value)
    check_iterable(engine, value)
    if not is_listed(engine, value) and not is_endless(engine, value):
        return None
    if isinstance(value, Enumerate | Zip | Mapped) or (
        isinstance(value, Reversed) and isinstance(value.inner, Ref)
    ):
        _take(engine, value)
    match value:
        case Ref() if isinstance(_content(engine, value), LISTS):
            return _list_steps(engine, value)
        case Ref() if isinstance(_content(engine, value), DictCell):
            return _dict_steps(engine, DictView("keys", value.cell))
        case Ref() if isinstance(engine.state.get(value.cell), IteratorCell):
            return _iterator_steps(engine, value)
        case Ref() if is_deque(engine, value):
            return _deque_steps(engine, value)
        case Ref() if isinstance(engine.state.get(value.cell), ArrayCell):
            return _array_steps(engine, value)
        case Records():
            return _record_steps(engine, value)
        case DictView():
            return _dict_steps(engine, value)
        case Enumerate(inner, start):
            parts = cast("Iterator[Step]", steps(engine, inner))
            return (functools.partial(_numbered, engine, start, i, part) for i, part in enumerate(parts))
        case Zip(inners, strict):
            return _zip_steps(engine, inners, strict)
        case Reversed(inner, _) if isinstance(inner, Records):
            return _record_steps(engine, inner, order=-1)
        case Reversed(inner, count) if isinstance(inner, Ref):
            return _reversed_steps(engine, inner, count)
        case Mapped(function, inners):
            rows = _zip_steps(engine, inners, strict=False)
            return (functools.partial(_mapped, engine, function, row) for row in rows)
        case _:
            found = elements(engine, value)
            return None if found is None else (functools.partial(_same, item) for item in found)


def _same(item: Abstract) -> Abstract:
    return item


def _numbered(engine: Engine, start: Abstract, i: int, part: Step) -> Abstract:
    return Tuple((operators.binary(engine, "+", start, Const(i)) if i else start, part()))


def _mapped(engine: Engine, function: Abstract, row: Step) -> Abstract:
    return engine.call(function, list(cast(Tuple, row()).items))


def _list_steps(engine: Engine, value: Ref) -> Iterator[Step]:
    """The elements of a list, which the body may make longer or shorter."""
    for position in range(limits.UNROLLED_TRIPS + 1):
        items = list_items(engine, cast(AnyList, engine.cell(value)))
        if position >= len(items):
            return
        yield functools.partial(_same, items[position])
    raise DiagnosticError(
        TooManyToUnroll(span=engine.b.span, trips=limits.UNROLLED_TRIPS + 1, limit=limits.UNROLLED_TRIPS)
    )


def _iterator_steps(engine: Engine, value: Ref) -> Iterator[Step]:
    """The remaining elements of an iterator, of which the body may take some too."""
    for _ in range(limits.UNROLLED_TRIPS + 1):
        item = taken(engine, value)
        if item is None:
            return
        yield functools.partial(_same, item)
    raise DiagnosticError(
        TooManyToUnroll(span=engine.b.span, trips=limits.UNROLLED_TRIPS + 1, limit=limits.UNROLLED_TRIPS)
    )


def _array_steps(engine: Engine, value: Ref, order: int = 1) -> Iterator[Step]:
    """The elements of an ndarray at the time when the loop reaches them."""
    shape = shape_of(engine, value)
    if not shape:
        engine.raise_(TypeError("iteration over a 0-d array"))
    _check_count(engine, shape[0])
    for position in range(shape[0])[::order]:
        yield functools.partial(array_getitem, engine, value, Const(position))


def _reversed_steps(engine: Engine, value: Ref, count: int | None) -> Iterator[Step]:
    """From the last element that there was to the first; they end where a list has become too short."""
    if isinstance(engine.cell(value), ArrayCell):
        yield from _array_steps(engine, value, order=-1)
        return
    if not isinstance(engine.cell(value), LISTS):
        for item in reversed(elements(engine, value) or []):
            yield functools.partial(_same, item)
        return
    for position in reversed(range(count or 0)):
        items = list_items(engine, cast(AnyList, engine.cell(value)))
        if position >= len(items):
            return
        yield functools.partial(_same, items[position])


def _dict_steps(engine: Engine, view: DictView) -> Iterator[Step]:
    """Keys, values or items at the time when the loop reaches them; RuntimeError if the number of entries changes."""
    keys = list(cast(DictCell, engine.cell(Ref(view.cell))).entries)
    for position in range(len(keys) + 1):
        entries = cast(DictCell, engine.cell(Ref(view.cell))).entries
        if len(entries) != len(keys):
            engine.raise_(RuntimeError("dictionary changed size during iteration"))
        if position < len(keys):
            if keys[position] not in entries:
                engine.raise_(RuntimeError("dictionary keys changed during iteration"))
            yield functools.partial(_same, view_items(engine, view)[position])


def _zip_steps(engine: Engine, inners: tuple[Abstract, ...], strict: bool) -> Iterator[Step]:
    """Rows of elements, until one of the parts has no more."""
    parts = [cast("Iterator[Step]", steps(engine, inner)) for inner in inners]
    while parts:
        row: list[Step] = []
        for part in parts:
            step = next(part, None)
            if step is None:
                break
            row.append(step)
        if len(row) < len(parts):
            if strict:
                others = parts[1:] if not row else []
                longer = [next(part, None) is not None for part in others]
                _check_strict(engine, [*[1] * len(row), 0, *[int(more) for more in longer[len(row) :]]])
            return
        yield functools.partial(_row, row)


def _row(row: list[Step]) -> Abstract:
    return Tuple(tuple([step() for step in row]))


# ---------------------------------------------------------------- rolled


def rolled(engine: Engine, value: Abstract, by_place: bool = False) -> Rolled | None:
    """How a rolled loop iterates over `value`; None where it must be unrolled over structure.

    `by_place`: a list of arrays or objects is read at computed places.
    """
    value = narrowed_iterable(engine, value)
    match value:
        case Ref() if isinstance(_content(engine, value), RowsCell):
            return _rolled_list(engine, value)
        case Ref() | DictView() if isinstance(_content(engine, value), TableCell):
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
            return Rolled(_record_count(engine, value), lambda i: structured.getitem(engine, value, i))
        case Ref() if isinstance(engine.state.get(value.cell), IteratorCell):
            return _rolled_iterator(engine, value, by_place)
        case RowsTuple(rows):
            return Rolled(list_length(rows), lambda i: item(engine, rows, int_of(i)))
        case Enumerate(inner, start):
            parts = rolled(engine, inner, by_place)
            if parts is None:
                return None
            at = parts.element
            return Rolled(
                parts.length,
                lambda i: Tuple((operators.binary(engine, "+", start, i), at(i))),
                parts.length_now,
                parts.at_end,
            )
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
        case Ref() | Tuple():
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

    def content() -> AnyList:
        return ListCell(value.items) if isinstance(value, Tuple) else cast(AnyList, _content(engine, value))

    before = content()
    if not isinstance(before, ListCell) or (len(before.items) < limits.WRITTEN_OUT_TRIPS and not by_place):
        return None
    rows = as_rows(engine, before)
    if rows is None and by_place and isinstance(value, Ref):
        count = Const(len(before.items))
        return Rolled(
            count,
            lambda i: cast(Abstract, container_getitem(engine, value, i)),
            lambda: list_length(content()),
        )
    if rows is None:
        return None

    def element(position: Abstract) -> Abstract:
        now = content()
        current = rows if isinstance(value, Tuple) or now is before else as_rows(engine, now)
        if current is None:
            raise DiagnosticError(NotIterable(span=engine.b.span, what="a list that the loop replaces"))
        return item(engine, current, int_of(position))

    return Rolled(Const(len(before.items)), element, lambda: list_length(content()))


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
        case Ref() if isinstance(cell := _content(engine, value), ListCell):
            many = len(cell.items) >= limits.WRITTEN_OUT_TRIPS
            many &= all(isinstance(item, Ref | Bounded | Tuple | Array) for item in cell.items)
            return len(cell.items) if many or _are_alike(engine, cell.items) else 0
        case Const(tuple() as items):
            return count_of_like_items(engine, tuple_of(items))
        case Tuple(items) if _are_alike(engine, items):
            return len(items) if template_of_list(ListCell(items)) is not None else 0
    return 0


def _are_alike(engine: Engine, items: Sequence[Abstract]) -> bool:
    """True for several arrays of one type, numbers of one kind, or tuples of such."""

    def kind(item: Abstract) -> object:
        if isinstance(item, Const):
            return type(item.value) if type(item.value) in PYTHON_DTYPES else None
        if isinstance(item, Tuple):
            parts = tuple(map(kind, item.items))
            return None if None in parts else parts
        content = _content(engine, item) if isinstance(item, Ref) and not item.path else item
        return content.value.type if isinstance(content, ArrayCell | Array) else None

    kinds = set(map(kind, items))
    return len(items) > limits.LOOPED_ARRAYS and len(kinds) == 1 and None not in kinds


def _rolled_list(engine: Engine, value: Ref) -> Rolled:
    """A loop over a list of rows, which the body may change: it reads the list at each trip."""

    def content() -> RowsCell:
        cell = engine.ring(value)
        if isinstance(cell, ListCell):
            raise DiagnosticError(NotIterable(span=engine.b.span, what="a list that the loop replaces"))
        return cast(RowsCell, cell)

    begun = content()

    def element(position: Abstract) -> Abstract:
        rows = content()
        found = item(engine, rows, int_of(position))
        taken = engine.loops.take()
        if taken is None or rows is not begun or rows.shared is Sharing.TWICE:  # one may come again
            return found
        return taken_once(engine, found, *taken)

    return Rolled(list_length(begun), element, lambda: list_length(content()))


def ordered(engine: Engine, value: Ref | DictView) -> DictView:
    """The view of a dict that a loop iterates over.

    Of a set, whose order depends on the hashes of its elements, these must be known.
    """
    cell = cast(TableCell, engine.cell(Ref(value.cell)))
    if cell.container is set:
        what = "the order of a set of computed elements"
        for number in (cell.entries.length, *values_of(cell.entries.element)):
            if isinstance(number, Value):
                engine.known(Array(number, Form.NDARRAY), what)
        raise DiagnosticError(NotKnown(span=engine.b.span, what=what))
    return value if isinstance(value, DictView) else DictView("keys", value.cell)


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
        return item(engine, rows, int_of(position))

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


def _deque_steps(engine: Engine, value: Ref) -> Iterator[Step]:
    """The elements of a deque at the time when the loop reaches them; RuntimeError if its length changes."""
    before = deques.changes(engine, value)
    count = engine.known(deques.length(engine, value), "the length of a deque")
    for position in range(count + 1):
        changed = compared(engine, "NE", deques.changes(engine, value), before)
        check(engine, changed, RuntimeError(), deques.mutated)
        if position < count:
            yield functools.partial(deques.element, engine, value, Const(position))


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
