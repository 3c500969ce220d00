"""`collections.deque`: objects whose elements are a list of their own (`rules/sequences.py`).

In: a reference to a deque, and abstract arguments. Out: what the method gives. What has no template in common is known
element by element, as that of lists.
"""

from __future__ import annotations

import collections
import operator
from dataclasses import replace
from typing import Any, cast

from ...diagnostics.codes_constant import NotKnown
from ...hlo.types import INT64
from ...ops import Add
from ...values.lattice import (
    NONE,
    Abstract,
    AnyList,
    Array,
    Const,
    Items,
    IteratorCell,
    Ref,
)
from ...values.vector import Vector, length_of
from ..containers import vectors
from ..containers.computed_items import is_index
from ..containers.deques import is_deque, maxlen_of
from ..containers.sequences import contents, items_of, mapped_sequence, new_sequence
from ..containers.unboxing import frozen, unboxed
from ..context import Context, Raw
from ..kernels.array_rows import has_arrays, with_shared
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    abstract,
    cell_of,
    elements_for,
    list_items,
    list_length,
    list_of,
    new_rows,
    with_elements,
)
from ..prelude import primitives
from ..prelude.deque import extend
from ..registry import meaning
from ..rules.classes import class_name
from ..rules.sequences import CHANGES
from . import generators

# ---------------------------------------------------------------- parts of a deque


def _set(ctx: Context, ref: Ref, elements: Items) -> None:
    """Gives a deque these elements."""
    items = items_of(ctx, ref)
    ctx.write(items.cell, with_elements(ctx.settle_ring(items), elements))


@meaning(primitives.note_change)
def note_change(ctx: Context, sequence: Raw) -> Abstract:
    """Records that a deque has changed its length."""
    _note_change(ctx, sequence)
    return NONE


def _note_change(ctx: Context, ref: Ref) -> None:
    cell = ctx.settle(ref)
    count = cell.fields[CHANGES]
    if isinstance(count, Const):
        now: Abstract = Const(count.value + 1)
    else:
        now = ctx.python(ctx.op(Add(), count.value, ctx.constant(1, INT64)))
    ctx.write(ref.cell, replace(cell, fields={**cell.fields, CHANGES: now}))


# ---------------------------------------------------------------- one element more or less


def _put(ctx: Context, ref: Ref, new: Abstract, in_front: bool) -> None:
    """Puts an element in at one end."""
    maxlen, now = maxlen_of(ctx, ref), _present(ctx, ref)
    _note_change(ctx, ref)
    if maxlen == 0:
        return
    now, held = _held(ctx, ref, now, new)
    rows = vectors.holding(ctx, now, held) if isinstance(now, Vector) else None
    if rows is not None:
        rows = vectors.push(ctx, rows, held, in_front, maxlen)
        _set(ctx, ref, with_shared(rows, has_arrays(held) and frozen(ctx, new)))
        return
    items = list_items(ctx, contents(ctx, ref))
    if in_front:
        _set(ctx, ref, (new, *items)[:maxlen])
    else:
        items = (*items, new)
        _set(ctx, ref, items if maxlen is None else items[-maxlen:])


def _present(ctx: Context, ref: Ref) -> Items:
    """The elements of a deque that is about to be changed."""
    return cast(AnyList, ctx.settle_ring(items_of(ctx, ref))).items


def _held(ctx: Context, ref: Ref, items: Items, new: Abstract) -> tuple[Items, Abstract]:
    """The elements of a deque in the form that can hold a new one, and the new one in this form."""
    if not isinstance(items, Vector):
        return items, new
    held = unboxed(ctx, new, items.element)
    now = _present(ctx, ref)
    return now if isinstance(now, Vector) else items, held


def _taken(ctx: Context, ref: Ref, in_front: bool) -> Abstract:
    """Takes the element at one end out."""
    items = _present(ctx, ref)
    empty = vectors.compared(ctx, "EQ", length_of(items), 0)
    vectors.check(ctx, empty, IndexError(), _pop_empty)
    if isinstance(items, Vector):
        found, rest = vectors.pop(ctx, items, in_front, ctx.vectors_of(items_of(ctx, ref)))
        _set(ctx, ref, rest)
    else:
        found = items[0 if in_front else -1]
        _set(ctx, ref, items[1:] if in_front else items[:-1])
    _note_change(ctx, ref)
    return found


@meaning(collections.deque.append)
def append(ctx: Context, self: Raw, x: Raw, /) -> Abstract:
    """`deque.append`."""
    _put(ctx, self, abstract(x), in_front=False)
    return NONE


@meaning(collections.deque.appendleft)
def appendleft(ctx: Context, self: Raw, x: Raw, /) -> Abstract:
    """`deque.appendleft`."""
    _put(ctx, self, abstract(x), in_front=True)
    return NONE


@meaning(collections.deque.pop)
def pop(ctx: Context, self: Raw, /) -> Abstract:
    """`deque.pop`."""
    return _taken(ctx, self, in_front=False)


@meaning(collections.deque.popleft)
def popleft(ctx: Context, self: Raw, /) -> Abstract:
    """`deque.popleft`."""
    return _taken(ctx, self, in_front=True)


# ---------------------------------------------------------------- whole deques


@meaning(primitives.snapshot)
def snapshot(ctx: Context, iterable: Raw) -> Abstract:
    """The present elements of an iterable: of a deque, or the rest of an iterator over rows."""
    if generators.is_suspended(ctx, iterable):
        return abstract(iterable)
    if not is_deque(ctx, iterable):
        rows = ctx.gathered(abstract(iterable)) if isinstance(cell_of(ctx, iterable), IteratorCell) else None
        return abstract(iterable) if rows is None else new_rows(ctx, rows)
    return list_of(ctx, contents(ctx, iterable))


@meaning(collections.deque)
def deque(ctx: Context, iterable: Raw = (), maxlen: Raw = None) -> Abstract:
    """`deque(iterable, maxlen)`."""
    bound = ctx.known(maxlen, "the maxlen of a deque")
    if bound is not None and not isinstance(bound, int):
        ctx.raise_(TypeError("an integer is required"))
    if bound is not None and bound < 0:
        ctx.raise_(ValueError("maxlen must be non-negative"))
    source = snapshot(ctx, iterable)
    rows = ctx.gathered(source)
    if rows is not None and bound is None:
        return new_sequence(ctx, collections.deque, rows, None)
    made = new_sequence(ctx, collections.deque, (), bound)
    if rows is not None:
        run_program(ctx, extend, [made, new_rows(ctx, rows)])
        return made
    items = elements_for(ctx, source, "deque()")
    _set(ctx, made, tuple(items if bound is None else items[max(len(items) - bound, 0) :]))
    return made


@meaning(collections.deque.copy, collections.deque.__copy__)
def copy(ctx: Context, self: Raw, /) -> Abstract:
    """`deque.copy`."""
    return mapped_sequence(ctx, self, lambda item: item)


# ---------------------------------------------------------------- places


def _pop_empty() -> None:
    """Raises what `d.pop()` of an empty deque raises."""
    collections.deque[Any]().pop()


def _outside() -> None:
    """Raises what an index out of range raises."""
    operator.getitem(collections.deque(), 0)


def _place(ctx: Context, items: Items, index: Raw) -> vectors.Int:
    """An index counted from the front; IndexError where there is no such element."""
    position = abstract(index)
    if not is_index(position):
        ctx.raise_(TypeError(f"sequence index must be integer, not {class_name(ctx, index)!r}"))
    if isinstance(items, Vector):
        return vectors.front(ctx, items, position, _outside)
    known = operator.index(ctx.known(position, "the index of a deque"))
    if not -len(items) <= known < len(items):
        ctx.raise_(IndexError("deque index out of range"))
    return known % len(items)


def _ring(ctx: Context, ref: Raw) -> Items:
    """The elements of a deque, a vector that begins at any row."""
    return cast(AnyList, ctx.ring(items_of(ctx, ref))).items


def _at_index(ctx: Context, ref: Raw, index: Raw) -> Items:
    """The elements of a deque, as a vector where the index is computed."""
    items, position = _ring(ctx, ref), abstract(index)
    if isinstance(position, Array) and is_index(position) and ctx.is_computed(position):
        return vectors.holding(ctx, items) or items
    return items


@meaning(collections.deque.__getitem__)
def getitem(ctx: Context, self: Raw, index: Raw, /) -> Abstract:
    """`d[index]`."""
    items = _at_index(ctx, self, index)
    place = _place(ctx, items, index)
    if isinstance(items, Vector):
        return vectors.get(ctx, items, place, ctx.vectors_of(items_of(ctx, self)))
    return items[cast(int, place)]


@meaning(collections.deque.__setitem__)
def setitem(ctx: Context, self: Raw, index: Raw, value: Raw, /) -> Abstract:
    """`d[index] = value`."""
    now, new = _at_index(ctx, self, index), abstract(value)
    place = _place(ctx, now, index)
    now, held = _held(ctx, self, now, new)
    rows = vectors.holding(ctx, now, held) if isinstance(now, Vector) else None
    if rows is not None:
        rows = vectors.put(ctx, rows, place, held)
        _set(ctx, self, with_shared(rows, has_arrays(held) and frozen(ctx, new)))
        return NONE
    items = list(list_items(ctx, contents(ctx, self)))
    items[ctx.known(index, "the index of a deque")] = new
    _set(ctx, self, tuple(items))
    return NONE


@meaning(collections.deque.__delitem__)
def delitem(ctx: Context, self: Raw, index: Raw, /) -> Abstract:
    """`del d[index]`."""
    _place(ctx, _ring(ctx, self), index)
    ctx.call(ctx.getattr(items_of(ctx, self), "pop"), [abstract(index)])
    _note_change(ctx, self)
    return NONE


@meaning(collections.deque.__len__)
def length(ctx: Context, self: Raw, /) -> Abstract:
    """`len(d)`."""
    return list_length(_ring(ctx, self))


# ---------------------------------------------------------------- loops


def changes(ctx: Context, ref: Raw) -> vectors.Int:
    """The number of changes of a deque's length."""
    return vectors.int_of(cell_of(ctx, ref).fields[CHANGES])


def element(ctx: Context, ref: Raw, place: Abstract) -> Abstract:
    """The element that a loop has reached."""
    items = _ring(ctx, ref)
    if isinstance(items, Vector):
        return vectors.get(ctx, items, vectors.int_of(place))
    if isinstance(place, Const):
        return cast(Abstract, items[place.value])
    ctx.fail(NotKnown(span=ctx.span, what="the place of an element of a deque"))


def mutated() -> None:
    """Raises the RuntimeError of a loop over a deque that has changed its length."""
    ring = collections.deque([0])
    for each in ring:
        ring.append(each)
