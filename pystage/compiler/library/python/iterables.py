"""Builtins that construct or consume iterables: `range`, `enumerate`, `zip`, `sorted`, `list`, `dict`, `next`, …

In: abstract arguments. Out: abstract ranges and iterators that stay unexpanded, so that loops over them can
be rolled, or containers of enumerated elements.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...diagnostics.codes_constant import NotKnown
from ...hash_order import SetHistory, made_by, note_set
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.gated import Gated, alternatives, narrow
from ...values.lattice import (
    LISTS,
    NONE,
    Abstract,
    Array,
    Const,
    Enumerate,
    Mapped,
    Records,
    Reversed,
    RowsTuple,
    SliceObject,
    Tuple,
    Zip,
)
from ...values.vector import Vector, length_of
from ..containers.deques import is_deque
from ..context import Context, Raw
from ..kernels import row_tuples
from ..kernels.python_implementations import run_program
from ..kernels.structures import (
    MISSING,
    abstract,
    cell_of,
    items_in_list,
    known_object,
    new_dict,
    new_list,
    new_rows,
    new_set,
    new_turn,
)
from ..kernels.table_keys import known_key
from ..prelude import builtins
from ..registry import meaning, takes_alternatives
from ..rules.classes import c_name, class_of
from ..rules.split import needs_split
from . import generators, set_methods
from .builtins import listed
from .dict_methods import update
from .iterators import is_iterator
from .numbers.scalars import special
from .ordering import in_order, rows_in_order

# ---------------------------------------------------------------- lazy ones


@meaning(enumerate)
@takes_alternatives
def enumerate_(ctx: Context, iterable: Raw, start: Raw = 0) -> Abstract:
    """`enumerate(iterable, start)`."""
    inner, start = _iterable(ctx, iterable), _whole(ctx, abstract(start))
    if generators.is_suspended(ctx, inner):
        return run_program(ctx, builtins.numbered, [inner, start])
    return Enumerate(inner, abstract(start), new_turn(ctx))


def _whole(ctx: Context, start: Abstract) -> Abstract:
    """The start of an enumeration as a Python int."""
    if isinstance(start, Const) and type(start.value) is int:
        return start
    if isinstance(start, Array) and start.form is Form.PYTHON and start.dtype.kind == "i":
        return start
    index: Abstract = ctx.call(Const(operator.index), [start])
    return ctx.call(Const(int), [index])


@meaning(zip)
@takes_alternatives
def zip_(ctx: Context, *iterables: Raw, strict: Raw = False) -> Abstract:
    """`zip(*iterables, strict=…)`."""
    inners = tuple([_iterable(ctx, i) for i in iterables])
    is_strict = bool(ctx.known(strict, "strict of zip()"))
    fused = None if is_strict else generators.beside(ctx, inners)
    return Zip(inners, is_strict, new_turn(ctx)) if fused is None else fused


@meaning(reversed)
@takes_alternatives
def reversed_(ctx: Context, sequence: Raw, /) -> Abstract:
    """`reversed(sequence)`."""
    if not _are_arrays(ctx, alternatives(abstract(sequence))):
        sequence = _certain(ctx, abstract(sequence))
    method = None if is_deque(ctx, sequence) else special(ctx, sequence, "__reversed__")
    if method is not None:
        return ctx.call(method, [])
    _check_reversible(ctx, sequence)
    inner = _iterable(ctx, sequence)
    items = inner.items if isinstance(inner, RowsTuple) else items_in_list(ctx, inner)
    count = None if items is None else length_of(items)
    return Reversed(inner, count if isinstance(count, int) else None, new_turn(ctx))


def _check_reversible(ctx: Context, sequence: Raw) -> None:
    """Raises TypeError for what is certainly no sequence."""
    if isinstance(sequence, Gated | Bounded | Records):
        return
    (cls, *others) = class_of(ctx, sequence)
    if others:
        return
    read = ctx.read(sequence) if issubclass(cls, np.ndarray | jax.Array) else None
    if isinstance(read, Array) and not read.shape:
        ctx.raise_(TypeError("len() of unsized object"))
    is_sequence = hasattr(cls, "__len__") and hasattr(cls, "__getitem__")
    if issubclass(cls, np.generic) or not (hasattr(cls, "__reversed__") or is_sequence):
        ctx.raise_(TypeError(f"{c_name(cls)!r} object is not reversible"))


@meaning(map)
@takes_alternatives
def map_(ctx: Context, function: Raw, *iterables: Raw) -> Abstract:
    """`map(function, *iterables)`: calls when it is iterated over."""
    inners, function = tuple([_iterable(ctx, i) for i in iterables]), _certain(ctx, abstract(function))
    fused = generators.mapped(ctx, function, inners)
    return Mapped(function, inners, new_turn(ctx)) if fused is None else fused


def _iterable(ctx: Context, value: Raw) -> Abstract:
    """An argument that is iterated over later; an iterator is shared with its other names.

    What is one of several arrays, lists or tuples stays that, until it is iterated over.
    """
    value = abstract(value)
    if isinstance(value, Gated):
        found = alternatives(value)
        listed = all(
            isinstance(each, Tuple | RowsTuple) or isinstance(cell_of(ctx, each), LISTS) for each in found
        )
        return value if listed or _are_arrays(ctx, found) else _certain(ctx, value)
    if is_iterator(ctx, value):
        iterator: Abstract = value
        return iterator
    method = None if is_deque(ctx, value) else special(ctx, value, "__iter__")
    return ctx.call(method, []) if method is not None else value


def _are_arrays(ctx: Context, values: Sequence[Abstract]) -> bool:
    return all(isinstance(x, Array | Bounded) or ctx.is_ndarray(x) for x in values)


def _certain(ctx: Context, value: Abstract) -> Abstract:
    """`value` if it certainly is one alternative here, else `NeedsSplit`."""
    found = narrow(ctx.b, ctx.intervals, value)
    if isinstance(found, Gated):
        raise needs_split(found)
    return found


# ---------------------------------------------------------------- containers


@meaning(list)
def list_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`list(iterable)`."""
    rows = ctx.gathered(abstract(iterable))
    return new_list(ctx, listed(ctx, iterable, "list()")) if rows is None else new_rows(ctx, rows)


@meaning(tuple)
def tuple_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`tuple(iterable)`."""
    if isinstance(iterable, RowsTuple):
        return iterable
    rows = ctx.gathered(abstract(iterable)) if not ctx.is_ndarray(iterable) else None
    return Tuple(tuple(listed(ctx, iterable, "tuple()"))) if rows is None else row_tuples.of_items(ctx, rows)


@meaning(dict)
def dict_(ctx: Context, source: Raw = (), /, **entries: Raw) -> Abstract:
    """`dict(source, **entries)`."""
    made = new_dict(ctx, {})
    update(ctx, made, source, **entries)
    return made


@meaning(set)
def set_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`set(iterable)`."""
    iterable = set_methods.repeatable(ctx, iterable)
    made = set_methods.of_elements(ctx, iterable)
    if made is not None:
        return made
    known, history = _members(ctx, iterable, "set()")
    return new_set(ctx, known, made_by(set, history))


@meaning(frozenset)
def frozenset_(ctx: Context, iterable: Raw = (), /) -> Abstract:
    """`frozenset(iterable)`; elements must be known."""
    known, history = _members(ctx, iterable, "frozenset()")
    if len(known) > 1 and history is None:
        ctx.fail(NotKnown(span=ctx.span, what="the order of a set that becomes a frozenset"))
    found = frozenset(history.replay() if isinstance(history, SetHistory) else known)
    note_set(found)
    return Const(found)


def _members(ctx: Context, iterable: Raw, what: str) -> tuple[Any, Any]:
    """The elements of a new set, and the operand of which it is made; None where only a set of unknown order has them."""
    known = known_object(ctx, iterable)
    found = (known, known) if isinstance(known, range) else set_methods.known_operand(ctx, iterable)
    if found is None:
        items = listed(ctx, iterable, what)
        found = set_methods.listed_operand(
            ctx, iterable, [known_key(ctx, i, "an element of a set") for i in items]
        )
    return found


@meaning(slice)
def slice_(ctx: Context, first: Raw, stop: Raw = MISSING, step: Raw = None, /) -> Abstract:
    """`slice(stop)`, `slice(start, stop, step)`."""
    if stop is MISSING:
        return SliceObject(NONE, abstract(first), NONE)
    return SliceObject(abstract(first), abstract(stop), abstract(step))


@meaning(sorted)
def sorted_(ctx: Context, iterable: Raw, /, *, key: Raw = None, reverse: Raw = False) -> Abstract:
    """`sorted(iterable)`: the order must be known, except for a few numbers of one type."""
    return sorted_list(ctx, iterable, key, reverse)


def sorted_list(ctx: Context, iterable: Raw, key: Raw, reverse: Raw, total: bool = False) -> Abstract:
    """A new list of the elements in order; `total`: PS401 for objects, which may have ties that are not equal."""
    if (isinstance(key, Const) and key.value is None) or key is None:
        iterable = set_methods.in_any_order(ctx, iterable)
    rows = set_methods.gathered(ctx, iterable)
    if rows is not None:
        if set_methods.is_set(cell_of(ctx, iterable)):
            in_order_of = functools.partial(rows_in_order, ctx, rows, key, reverse, True, total)
            return new_rows(ctx, set_methods.without_effects(ctx, in_order_of))
        return new_rows(ctx, rows_in_order(ctx, rows, key, reverse, total=total))
    found = in_order(ctx, listed(ctx, iterable, "sorted()"), key, reverse, total)
    return new_rows(ctx, found) if isinstance(found, Vector) else new_list(ctx, found)
