"""Lists of arrays that a counted loop only appends to: the loop carries their new elements as rows of arrays.

In: a `for` with a known number of trips whose body does nothing with a list but append to it, the same number of
elements in every trip. Out: the loop stays one `While`; each number in the appended elements has an array with one
row for each trip, and after the loop the list has the rows as its elements. The first trip is peeled: in it, numbers
may be of other types than in the others. An array of the whole list is the array of rows itself
(`library/operands/nested_sequences.py`). Where a trip appends something else than numbers, tuples of them and arrays that it
allocates, its lists are as those of other loops, and if that is refused the loop is written out (`WriteOut`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from ....records import dataclass
from ... import limits
from ...diagnostics.diagnostic import Note
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType
from ...library.python.operators import binary
from ...ops import Broadcast, DynamicUpdateSlice, Reshape, constant
from ...stage import ir as stage
from ...stage.walk import uses_of_temps, walk
from ...values.boundary import Form
from ...values.gated import GatedNumber, may_be_unassigned, where_assigned
from ...values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    ListCell,
    Ref,
    Tuple,
    same_constant,
)
from ...values.packing import row
from ...values.slots import Hidden, Name, Purpose, Slot, Variable, is_temporary
from ...values.state import Content
from ...values.walk import cells_of
from ..core.engine import Engine
from ..exceptions.raising import is_observable
from ..state.frame import Frame
from ..state.merged import aliases_of
from ..state.phi import materialise
from ..state.retry import Retry, RetryReason, WriteOut, commit_unless_retried

_EMPTY = ListCell(())


def growing_lists(engine: Engine, frame: Frame, loop: stage.For, trips: int | None) -> list[Growing]:
    """The lists that `loop` only appends to and that nobody else sees; none where any trip may be the last."""
    if trips is None or trips < limits.WRITTEN_OUT_TRIPS or loop.until is not None or engine.raises.bodies:
        return []
    if loop in engine.loops.appending:
        return []
    found: list[Growing] = []
    for name in _only_appended(loop):
        slot = (frame.id, name)
        holder = engine.state.slots.get(slot)
        if isinstance(holder, Ref) and _is_private(engine, holder.cell, slot):
            found.append(Growing(engine, frame, loop, trips, holder.cell))
    return found


def infer_appending(engine: Engine, lists: list[Growing], infer: Callable[[], None]) -> None:
    """Infers a loop, with arrays of rows for the elements appended to `lists`."""
    for each in lists:
        each.begin()
    while True:
        with commit_unless_retried(engine, NewRows) as trial:
            infer()
        if not isinstance(trial.retried, NewRows):
            break
        if trial.retried.growing not in lists:
            raise Retry(trial.retried)
        trial.retried.growing.declare()
    for each in lists:
        each.end()


def _is_private(engine: Engine, cell: int, holder: Slot) -> bool:
    """True for a list that only the variable `holder` refers to."""
    content = engine.state.slots.get(cell)
    if not isinstance(content, ListCell) or aliases_of(content) or cell in engine.externals.initial:
        return False
    others = [s for s, c in engine.state.slots.items() if s != holder and _refers(s, c, cell)]
    return not others and not is_observable(engine, cell)


def _refers(slot: Slot, content: Any, cell: int) -> bool:
    if is_temporary(slot):
        return False
    return cell in cells_of(content) or any(s.ref.cell == cell for s in aliases_of(content))


@functools.lru_cache(maxsize=4096)
def _only_appended(loop: stage.For) -> tuple[str, ...]:
    """Local variables, and lists of comprehensions, on which the body of `loop` does nothing but append."""
    variables: dict[str, list[str]] = {}  # the temporaries that a variable is loaded into
    methods: dict[str, str] = {}  # `append` of these temporaries
    made: set[str] = set()
    called: dict[str, int] = {}
    built: dict[str, None] = {}
    changed: set[str] = set()
    for i in walk(loop.body):
        match i:
            case stage.Load(dst=dst, name=name, scope=stage.StorageClass.LOCAL):
                variables.setdefault(name, []).append(dst)
            case stage.GetAttr(dst=dst, obj=obj, attr="append"):
                methods[obj] = dst
            case stage.Call(func=func, args=(stage.Arg(kind=stage.ArgKind.POSITIONAL),)):
                called[func] = called.get(func, 0) + 1
            case stage.Append(target=target):
                built[target] = None
            case stage.Build(dst=dst):
                made.add(dst)
            case stage.Store(name=name) | stage.Delete(name=name):
                changed.add(name)
    uses = uses_of_temps(loop.body)

    def appends(temp: str) -> bool:
        method = methods.get(temp, "")
        return uses.get(temp) == 1 and uses.get(method) == 1 and called.get(method) == 1

    names = [n for n, temps in variables.items() if n not in changed and all(map(appends, temps))]
    return (*names, *[target for target in built if target not in made and uses[target] == 1])


@dataclass(frozen=True, slots=True)
class NewRows(RetryReason):
    """Raised where a trip appends numbers without an array of rows: the loop is inferred again with one."""

    growing: Growing


@dataclass(slots=True, eq=False)
class Growing:
    """A list while a loop appends to it; `items` is what the last inferred trip appended."""

    engine: Engine
    frame: Frame
    loop: stage.For
    trips: int
    cell: int
    before: tuple[Abstract, ...] = ()
    items: tuple[Abstract, ...] | None = None
    slots: list[Variable] = field(default_factory=list)
    """The variables that hold the arrays of rows, one for each number in `items`."""
    _kept: dict[int, Name] = field(default_factory=dict)
    """By position in `items`, the variable that holds the same array as the list."""
    _loop_began: int = 0
    _trip_began: int = 0
    _at_begin: dict[Slot, Content] = field(default_factory=dict)

    def has_arrays(self) -> bool:
        """True if the first trip has appended arrays; lists of numbers are rows anyway (`RowsCell`)."""
        content = self.engine.contents_at(self.cell)
        return isinstance(content, ListCell) and any(_has_arrays(self.engine, item) for item in content.items)

    def begin(self) -> None:
        """After the first trip: the others begin with an empty list."""
        state = self.engine.state
        self._loop_began = state.cell_number()
        self.before = cast(ListCell, self.engine.contents_at(self.cell)).items
        state.set(self.cell, _EMPTY)

    def _restart(self) -> Retry:
        """Restarts inference with the loop unrolled, for what cannot be a row."""
        text = "what the trips append to a list are no rows of arrays, so that every trip is code of its own"
        return Retry(WriteOut(self.loop, Note(text, self.loop.span, text), appends=True))

    def begin_trip(self) -> None:
        """Marks the begin of a trip: cells that it allocates have greater numbers."""
        self._trip_began = self.engine.state.cell_number()
        self._at_begin = dict(self.engine.state.slots)

    def end_trip(self, position: Abstract) -> None:
        """Ends a trip: its appended elements become rows at `position`, and the list is empty again."""
        state = self.engine.state
        content = state.get(self.cell)
        if not isinstance(content, ListCell) or aliases_of(content):
            raise self._restart()
        state.set(self.cell, _EMPTY)
        arrays = [item.cell for item in content.items if isinstance(item, Ref)]
        self._kept = {}
        items = tuple([self._row_of(item, i) for i, item in enumerate(content.items)])
        numbers = _numbers(Tuple(items))
        differs = self.items is not None and not _similar(Tuple(items), Tuple(self.items))
        if differs or len(set(arrays)) < len(arrays) or len(numbers) > limits.CARRIED_NUMBERS:
            raise self._restart()
        self.items = items
        self.slots = [self._slot(j, n) for j, n in enumerate(self._all_numbers())]
        at = materialise(self.engine.b, binary(self.engine, "-", position, Const(1)), ArrayType(INT64))
        if any(s not in state.slots for s in self.slots):
            raise Retry(NewRows(self))
        for slot, number in zip(self.slots, numbers, strict=True):
            state.set(slot, Array(self._stored(slot, number.value, at), Form.JAX))

    def declare(self) -> None:
        """Makes, before the loop, the arrays of rows that a trip was found to need."""
        b, state = self.engine.b, self.engine.state
        for slot, item in zip(self.slots, self._all_numbers(), strict=True):
            if slot not in state.slots:
                zero = constant(b, np.zeros((), item.dtype))
                rows = b.op(Broadcast((self.trips - 1, *item.shape), ()), zero)
                state.set(slot, Array(rows, Form.JAX))

    def _all_numbers(self) -> list[Array]:
        return _numbers(Tuple(self.items or ()))

    def end(self) -> None:
        """Fills, after the loop, the list with the elements of all trips."""
        state = self.engine.state
        lists = [s for s in state.slots if self._is_rows(s)]
        if self.loop in self.engine.loops.retyped:  # the second trip may append numbers of another type
            raise self._restart()
        assert self.items is not None
        arrays = [cast(Array, state.get(slot)).value for slot in self.slots]
        appended: list[Abstract] = []
        for trip in range(self.trips - 1):
            rows = iter([row(self.engine.b, array, trip) for array in arrays])
            appended += [self._element(item, rows) for item in self.items]
        for i, name in self._kept.items():
            appended[i - len(self.items)] = self._last(name)
        for slot in lists:
            state.forget(slot)
        state.set(self.cell, ListCell((*self.before, *appended)))

    def _slot(self, position: int, number: Array) -> Variable:
        """The variable for the rows of a number: one for each type that it may have."""
        kind = number.form, number.weak, number.key_impl, number.type
        return self.frame.id, Hidden(Purpose.ROWS, (self.cell, position, kind))

    def _is_rows(self, slot: Slot) -> bool:
        """True for a variable that `_slot` has named."""
        match slot:
            case (_, Hidden(Purpose.ROWS, (cell, _, _))):
                return bool(cell == self.cell)
        return False

    def _stored(self, slot: Variable, value: Value, at: Value) -> Value:
        """The array of rows with one more row."""
        b = self.engine.b
        shape = value.type.shape
        rows = cast(Array, self.engine.state.get(slot)).value
        zero = constant(b, 0, INT64)
        new = b.op(Reshape((1, *shape)), value)
        return b.op(DynamicUpdateSlice(), rows, new, at, *[zero] * len(shape))

    def _last(self, name: Name) -> Abstract:
        """The contents of a variable after the loop: the array that the last trip appended."""
        held = self.engine.state.get((self.frame.id, name))
        held = where_assigned(held) if may_be_unassigned(held) else held
        if not isinstance(held, Ref) or held.path:
            raise self._restart()
        return held

    def _row_of(self, item: Abstract, position: int = -1) -> Abstract:
        """What a trip appended, with all that differs from trip to trip as values of the program."""
        match item:
            case Const(value) if type(value) in (bool, int, float, complex):
                try:
                    return Array(constant(self.engine.b, value), Form.PYTHON)
                except OverflowError:
                    raise self._restart() from None
            case GatedNumber():
                raise self._restart()
            case Const() | Array():
                return item
            case Tuple(items, cls):
                return Tuple(tuple([self._row_of(part) for part in items]), cls)
            case Ref(cell, ()) if cell > self._trip_began:
                content = self.engine.state.get(cell)
                own = isinstance(content, ArrayCell) and content.writable is True and not aliases_of(content)
                if own and self._stays_as_it_is(cell, position):
                    return Array(content.value, Form.NDARRAY)
        raise self._restart()

    def _stays_as_it_is(self, cell: int, position: int) -> bool:
        """True for an array that no later trip stores into: it has no other name, or one variable, and no trip stores into
        an array of the trip before.
        """
        state, frame = self.engine.state, self.frame.id
        holders = [s for s, c in state.slots.items() if _refers(s, c, cell)]
        if not holders:
            return True
        (holder, *others) = holders
        if others or position < 0 or not isinstance(holder, tuple) or holder[0] != frame:
            return False
        held = state.get(holder)
        if not isinstance(held, Ref) or held.path or any(map(self._is_stored_into, self._at_begin)):
            return False
        self._kept[position] = holder[1]
        return True

    def _is_stored_into(self, slot: Slot) -> bool:
        """True for an array of an earlier trip, or one that may be, into which this trip stores."""
        before = self._at_begin[slot]
        if not isinstance(before, ArrayCell) or self.engine.state.slots.get(slot) is before:
            return False
        return not isinstance(slot, int) or slot > self._loop_began or bool(aliases_of(before))

    def _element(self, item: Abstract, rows: Iterator[Value]) -> Abstract:
        """An appended element, of the next of its rows."""
        match item:
            case Tuple(items, cls):
                return Tuple(tuple([self._element(part, rows) for part in items]), cls)
            case Array(form=Form.NDARRAY):
                return Ref(self.engine.state.new_cell(ArrayCell(next(rows))))
            case Array():
                return replace(item, value=next(rows))
        return item


def _has_arrays(engine: Engine, item: Abstract) -> bool:
    if isinstance(item, Tuple):
        return any(_has_arrays(engine, part) for part in item.items)
    return isinstance(item, Ref) and isinstance(engine.state.slots.get(item.cell), ArrayCell)


def _numbers(item: Abstract) -> list[Array]:
    """The numbers of what a trip appended, in order."""
    if isinstance(item, Tuple):
        return [n for part in item.items for n in _numbers(part)]
    return [item] if isinstance(item, Array) else []


def _similar(a: Abstract, b: Abstract) -> bool:
    """True if two trips append the same structure, whatever the numbers and their types."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return a.cls is b.cls and len(a.items) == len(b.items) and all(map(_similar, a.items, b.items))
    if isinstance(a, Const) and isinstance(b, Const):
        return same_constant(a.value, b.value)
    return type(a) is type(b)
