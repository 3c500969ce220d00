"""Concatenation and stacking of bounded arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....hlo.ir import Value
from ....hlo.types import INT64
from ....ops import Add, Compare, DynamicUpdateSlice, Slice
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent, Progression, extent_of
from ....values.capacity import Capacity
from ....values.lattice import NONE, Abstract, Array, Const, Ref, SliceObject, Tuple
from ...context import Context, Raw
from ...kernels.python_implementations import run_program, size_depends
from ...kernels.structures import abstract, sequence_items
from ...operands.libraries import Rules
from ...operands.rows_as_arrays import arrays_of_rows, chained, rank_of_rows
from ...rules.jax import axis_of, is_none
from ..indexing.bounded import bounded, compact, count, raveled, refuse
from ..indexing.bounded_operands import elementwise, placed
from ..indexing.size_checks import operand
from ..subscripts.subscripts import array_getitem
from .size_rules import Rows, as_whole, composed_for_bounded, composed_twins, twins_for_bounded


def _parts(ctx: Context, arrays: Raw, function: str) -> list[Abstract]:
    items = sequence_items(ctx, arrays)
    if items is None:
        refuse(ctx, function, arrays)
    return list(items)


def _rank(ctx: Context, part: Abstract) -> int:
    o = operand(ctx, part)
    return 0 if o is None else len(o.axes)


def _rows(chains: Any = lambda rank: False) -> Rows:
    """The argument of a function for a list whose length, or whose elements' length, only the program knows.

    Where it chains arrays of such a rank along their first axis, they need not be of one length.
    """

    def by_rules(rules: Rules, function: Any) -> Any:
        def rows(ctx: Context, /, arrays: Raw, axis: Raw = 0, *args: Raw, **kwargs: Raw) -> Raw:
            rank, at = rank_of_rows(ctx, rules, arrays), axis.value if isinstance(axis, Const) else axis
            if rank is not None and chains(rank) and at in (None, 0, -rank):
                found = chained(ctx, rules, arrays, function)
                if found is not None:
                    return Tuple((found,))
            return arrays_of_rows(ctx, arrays, function, rules=rules)

        return rows

    return by_rules


@twins_for_bounded(np.concatenate, jnp.concatenate, rows=_rows(lambda rank: True))
def concatenate(
    ctx: Context,
    rules: Rules,
    arrays: Raw,
    axis: Raw = 0,
    out: Raw = None,
    *,
    dtype: Raw = None,
    casting: Raw = None,
) -> Abstract:
    """The arrays one after another along `axis`, or all elements where it is None."""
    lines = isinstance(arrays, Bounded) and arrays.rank == 2 and is_none(out) and is_none(dtype)
    if (
        lines and axis_of(ctx, axis, 1, "concatenate") == 0
    ):  # a list of computed length: its arrays are the rows
        copied = ctx.call(Const(rules.module.copy), [arrays])
        assert isinstance(copied, Bounded)
        return raveled(ctx, copied)
    parts = _parts(ctx, arrays, f"{rules.name}.concatenate")
    if not is_none(out):
        refuse(ctx, "np.concatenate with out", *parts)
    if is_none(axis):
        parts, axis = [_flat(ctx, rules, part) for part in parts], 0
    at = axis_of(ctx, axis, _rank(ctx, parts[0]), "concatenate")
    if any(_rank(ctx, part) != _rank(ctx, parts[0]) for part in parts):
        rules.mismatch(ctx, "all the input arrays must have same number of dimensions")
    along = [isinstance(part, Bounded) and isinstance(part.axes[at], Extent) for part in parts]
    across = [isinstance(p, Bounded) and any(e.axis != at for e in p.extents) for p in parts]
    if any(across):
        if any(along):
            return _along_several(ctx, rules, parts, at, dtype)
        return _side_by_side(ctx, rules, parts, at, dtype)
    return _one_after_another(ctx, rules, parts, at, dtype)


def _flat(ctx: Context, rules: Rules, part: Abstract) -> Abstract:
    return raveled(ctx, part) if isinstance(part, Bounded) else ctx.call(Const(rules.module.ravel), [part])


def _call(ctx: Context, rules: Rules, wholes: Sequence[Abstract], at: int, dtype: Raw) -> Abstract:
    kwargs = {} if is_none(dtype) else {"dtype": dtype}
    return ctx.call(Const(rules.module.concatenate), [Tuple(tuple(wholes)), Const(at)], kwargs)


def _side_by_side(ctx: Context, rules: Rules, parts: Sequence[Abstract], at: int, dtype: Raw) -> Abstract:
    """Arrays that are bounded along other axes than the one along which they are joined."""

    def whole(*wholes: Raw) -> Abstract:
        return _call(ctx, rules, wholes, at, dtype)

    def plain(*samples: Any) -> Any:
        return rules.module.concatenate(samples, at)

    return elementwise(ctx, f"{rules.name}.concatenate", plain, whole, *parts, apart=at)


def _along_several(ctx: Context, rules: Rules, parts: Sequence[Abstract], at: int, dtype: Raw) -> Abstract:
    """Arrays that are bounded along the axis along which they are joined, and along others."""
    parts = [compact(ctx, part) if isinstance(part, Bounded) else part for part in parts]
    across: list[Abstract] = []
    for part in parts:
        others = [e for e in part.extents if e.axis != at] if isinstance(part, Bounded) else []
        whole = part.whole if isinstance(part, Bounded) else part
        across.append(bounded(ctx, whole, others) if others and isinstance(whole, Ref | Array) else whole)

    def plain(*samples: Any) -> Any:
        return rules.module.concatenate(samples, at)

    wholes, extents = placed(ctx, f"{rules.name}.concatenate", plain, across, at)
    lines: list[Abstract] = []
    for part, whole in zip(parts, map(abstract, wholes)):
        own = [e for e in part.extents if e.axis == at] if isinstance(part, Bounded) else []
        lines.append(bounded(ctx, whole, own) if own and isinstance(whole, Ref | Array) else whole)
    made = _one_after_another(ctx, rules, lines, at, dtype)
    return bounded(ctx, made.whole, [*made.extents, *[e.moved(made.rank) for e in extents]])


def _one_after_another(ctx: Context, rules: Rules, parts: Sequence[Abstract], at: int, dtype: Raw) -> Bounded:
    """Arrays of which some are bounded along the axis that joins them: each is written where the last ended.

    Where the first is bounded by a capacity, so is the result.
    """
    parts = [compact(ctx, part) if isinstance(part, Bounded) else part for part in parts]
    wholes = [part.whole if isinstance(part, Bounded) else part for part in parts]
    joined = ctx.read(_call(ctx, rules, wholes, at, dtype))
    assert isinstance(joined, Array)
    capacity = _capacity(parts[0], at)
    values = [ctx.convert(as_whole(ctx, whole).value, joined.dtype) for whole in wholes]
    begins: list[Value] = [ctx.constant(0, INT64)]
    for part, value in zip(parts, values):
        extent = part.axes[at] if isinstance(part, Bounded) else 0
        own = ctx.constant(value.type.static_shape[at], INT64)
        if isinstance(part, Bounded) and isinstance(extent, Extent):
            own = count(ctx, part, extent).value
        begins.append(ctx.op(Add(), begins[-1], own))
    if capacity is not None:
        ctx.needs_capacity(capacity, begins[-1])
    within = capacity is not None and not any(isinstance(part, Bounded) for part in parts[1:])
    value = values[0] if within else joined.value
    computed = [isinstance(part, Bounded) and isinstance(part.axes[at], Extent) for part in parts]
    placed = 1 + next((i for i, c in enumerate(computed) if c), len(parts))  # so many stand where they belong
    for begin, each in list(zip(begins, values))[placed:]:
        starts = [begin if axis == at else begins[0] for axis in range(each.type.rank)]
        if each.type.size:
            value = ctx.op(DynamicUpdateSlice(), value, each, *starts)
    if capacity is not None and not within:
        limits = tuple([capacity.size if axis == at else n for axis, n in enumerate(joined.shape)])
        value = ctx.op(Slice((0,) * len(limits), limits, (1,) * len(limits)), value)
    made = ctx.jax(value, joined.weak) if joined.form is Form.JAX else ctx.ndarray(value)
    extent = extent_of(Progression(begins[0], 1, begins[-1]), at)
    return bounded(ctx, made, [replace(extent, capacity=capacity)])


def _capacity(part: Abstract, at: int) -> Capacity | None:
    """The capacity that bounds an array along an axis."""
    along = part.axes[at] if isinstance(part, Bounded) else None
    return along.capacity if isinstance(along, Extent) else None


@twins_for_bounded(np.append, jnp.append)
def append(ctx: Context, rules: Rules, arr: Raw, values: Raw, axis: Raw = None) -> Abstract:
    """A new array: the second after the first, both flat where there is no `axis`."""
    parts = (_flat(ctx, rules, arr), _flat(ctx, rules, values)) if is_none(axis) else (arr, values)
    return ctx.call(Const(rules.module.concatenate), [Tuple(parts), Const(0) if is_none(axis) else axis])


@twins_for_bounded(np.stack, jnp.stack, rows=_rows())
def stack(ctx: Context, rules: Rules, arrays: Raw, axis: Raw = 0) -> Abstract:
    """The arrays, all of one shape, along a new axis; those of a list of computed length are the rows of one."""
    _raise_without_rows(ctx, arrays, rules.module.stack)
    return run_program(ctx, _stacked, [Const(rules.module), arrays, axis])


def _stacked(xp: Any, arrays: Any, axis: Any) -> Any:
    if isinstance(arrays, np.ndarray | jax.Array):
        return xp.moveaxis(xp.copy(arrays), 0, axis)
    return xp.concatenate([xp.expand_dims(a, axis) for a in arrays], axis=axis)


def _raise_without_rows(ctx: Context, arrays: Raw, function: Any) -> None:
    """Makes the program raise what a function that joins arrays raises for an array without rows."""
    rows = arrays.axes[0] if isinstance(arrays, Bounded) else 1
    if isinstance(rows, Extent):
        none = ctx.op(Compare("EQ"), count(ctx, arrays, rows).value, ctx.constant(0, INT64))
        ctx.check(none, ValueError(), function, [Const(())])


@twins_for_bounded(np.vstack, jnp.vstack, rows=_rows(lambda rank: rank > 1))
def vstack(
    ctx: Context, rules: Rules, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind"
) -> Abstract:
    """One below the other: along the first axis, vectors as rows."""
    if not is_none(dtype):
        refuse(ctx, f"{rules.name}.vstack with a dtype", tup)
    if isinstance(tup, Bounded):
        _raise_without_rows(ctx, tup, rules.module.vstack)
        return run_program(ctx, _of_rows, [Const(rules.module), tup])
    parts = _parts(ctx, tup, f"{rules.name}.vstack")
    rows = [ctx.call(Const(rules.module.atleast_2d), [part]) for part in parts]
    return ctx.call(Const(rules.module.concatenate), [Tuple(tuple(rows)), Const(0)])


def _of_rows(xp: Any, tup: Any) -> Any:
    if tup.ndim != 2:
        return xp.concatenate([xp.atleast_2d(a) for a in tup], axis=0)
    return xp.copy(tup)


@twins_for_bounded(np.hstack, jnp.hstack, rows=_rows(lambda rank: rank == 1))
def hstack(
    ctx: Context, rules: Rules, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind"
) -> Abstract:
    """Side by side: along the second axis, vectors along their only one."""
    if not is_none(dtype):
        refuse(ctx, f"{rules.name}.hstack with a dtype", tup)
    if isinstance(tup, Bounded):
        return ctx.call(Const(rules.module.concatenate), [tup, Const(0 if tup.rank == 2 else 1)])
    given = _parts(ctx, tup, f"{rules.name}.hstack")
    parts = [ctx.call(Const(rules.module.atleast_1d), [part]) for part in given]
    at = 0 if parts and _rank(ctx, parts[0]) == 1 else 1
    return ctx.call(Const(rules.module.concatenate), [Tuple(tuple(parts)), Const(at)])


@composed_twins(np.column_stack, jnp.column_stack, rows=_rows())
def column_stack(xp: Any, tup: Any) -> Any:
    """Vectors as the columns of a matrix."""
    return xp.concatenate([a[:, None] if xp.ndim(a) == 1 else a for a in map(xp.copy, tup)], axis=1)


@twins_for_bounded(np.expand_dims, jnp.expand_dims)
def expand_dims(ctx: Context, rules: Rules, a: Raw, axis: Raw) -> Abstract:
    """With a new axis."""
    assert isinstance(a, Bounded)
    at = axis_of(ctx, axis, a.rank + 1, "expand_dims")
    full = SliceObject(NONE, NONE, NONE)
    return array_getitem(ctx, a, Tuple((*[full] * at, NONE, *[full] * (a.rank - at))))


@composed_twins(np.atleast_1d, jnp.atleast_1d)
def atleast_1d(xp: Any, a: Any) -> Any:
    """A bounded array, which has an axis."""
    return a


@composed_twins(np.atleast_2d, jnp.atleast_2d)
def atleast_2d(xp: Any, a: Any) -> Any:
    """A vector as a matrix of one row."""
    return a[None, :] if xp.ndim(a) == 1 else a


@composed_twins(np.outer, jnp.outer)
def outer(xp: Any, a: Any, b: Any) -> Any:
    """The products of all elements of two arrays, both flat."""
    return xp.ravel(a)[:, None] * xp.ravel(b)[None, :]


@composed_for_bounded(np.take)
def take(a: Any, indices: Any, axis: Any = None, *, mode: Any = "raise") -> Any:
    """The elements at indices along an axis, or of the flat array; of a `jax.Array` by its method, which takes no list."""
    if isinstance(indices, list) or not isinstance(a, jax.Array):
        a = np.asarray(a)
    if isinstance(a, jax.Array) and mode == "raise":
        raise NotImplementedError("The 'raise' mode to jnp.take is not supported.")
    if axis is None:
        a, axis = a.reshape(-1), 0
    if a.shape[axis] == 0 and np.size(indices) > 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if mode == "clip":
        indices = np.clip(indices, 0, max(a.shape[axis] - 1, 0))
    elif mode == "wrap":
        indices = np.asarray(indices) % max(a.shape[axis], 1)
    found = np.moveaxis(a, axis, 0)[indices]
    if np.ndim(indices) > 1 and axis % a.ndim > 0:
        size_depends("np.take at indices of several axes", "take the flat indices, and reshape")
    return np.moveaxis(found, 0, axis) if np.ndim(indices) == 1 else found
