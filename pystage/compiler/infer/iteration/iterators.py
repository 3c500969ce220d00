"""Iteration over iterables whose structure is known now: `elements` lists what they hold, `steps` gives it one by one.

Loops that are rolled iterate by position (`rolled_iterables.py`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

from ... import limits
from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_constant import NotKnown, TooManyToUnroll
from ...diagnostics.codes_control import NotIterable
from ...diagnostics.diagnostic import DiagnosticError
from ...diagnostics.span import Span
from ...hlo.ir import Value
from ...library.containers.deques import is_deque
from ...library.containers.sequences import contents, is_sequence, items_of
from ...library.containers.vectors import check, compared
from ...library.kernels.python_implementations import run_program
from ...library.kernels.structures import list_items, view_items
from ...library.numpy.indexing.stores import shape_of
from ...library.numpy.subscripts import structured
from ...library.numpy.subscripts.subscripts import array_getitem
from ...library.prelude import builtins
from ...library.python import deques, generators, operators
from ...library.python.iterators import is_iterator, taken
from ...library.rules.classes import not_iterable
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
        case Ref() if is_sequence(engine, value):
            items_of(engine, value)  # which are one list
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
        made = run_program(engine, builtins.as_list, [value])
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


def record_count(engine: Engine, value: Records) -> Abstract:
    """The number of elements of a loop over records."""
    if not value.element and not structured.rank_of(engine, value):
        engine.raise_(TypeError("iteration over a 0-d array"))
    return structured.length(engine, value)


def _record_steps(engine: Engine, value: Records, order: int = 1) -> Iterator[Step]:
    """The elements of a structured ndarray at the time when the loop reaches them; the fields of an element."""
    count = record_count(engine, value)
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
            return list(list_items(engine, cell.items))
        case DictCell(entries):
            return [engine.constant_object(k) for k in entries]
        case TableCell():
            return view_items(engine, DictView("keys", ordered(engine, value).cell))
        case SetCell() as known:
            members = known.in_order()
            if members is None:
                what = "the order of a set that was changed, or copied, where pystage does not follow it"
                raise DiagnosticError(NotKnown(span=engine.b.span, what=what))
            return [engine.constant_object(m) for m in members]
        case IteratorCell():
            return [step() for step in _iterator_steps(engine, value)]
        case ArrayCell():
            return _array_elements(engine, value)
        case ObjectCell() if is_sequence(engine, value):
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
        case Ref() if isinstance(cell := content_of(engine, value), RowsCell):
            return isinstance(cell.items.length, int)
        case Ref() | DictView() if isinstance(content_of(engine, value), TableCell):
            return False
        case Ref() if is_deque(engine, value):
            return not isinstance(engine.cell(items_of(engine, value)), RowsCell)
        case Ref() if is_endless(engine, value):
            return False
        case Enumerate(inner) | Reversed(inner):
            return is_listed(engine, inner)
        case Zip(inners) | Mapped(_, inners):
            ending = [inner for inner in inners if not is_endless(engine, inner)]
            return bool(ending or not inners) and all(is_listed(engine, inner) for inner in ending)
        case _:
            return True


def content_of(engine: Engine, value: Ref | DictView) -> Any:
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
        case Ref() if isinstance(content_of(engine, value), LISTS):
            return _list_steps(engine, value)
        case Ref() if isinstance(content_of(engine, value), DictCell):
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
        items = list_items(engine, cast(AnyList, engine.cell(value)).items)
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
        items = list_items(engine, cast(AnyList, engine.cell(value)).items)
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


def _deque_steps(engine: Engine, value: Ref) -> Iterator[Step]:
    """The elements of a deque at the time when the loop reaches them; RuntimeError if its length changes."""
    before = deques.changes(engine, value)
    count = engine.known(deques.length(engine, value), "the length of a deque")
    for position in range(count + 1):
        changed = compared(engine, "NE", deques.changes(engine, value), before)
        check(engine, changed, RuntimeError(), deques.mutated)
        if position < count:
            yield functools.partial(deques.element, engine, value, Const(position))
