"""Bounded arrays one after another, and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ....hlo.ir import Value
from ....hlo.types import INT64
from ....ops import Add, DynamicUpdateSlice, Slice
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent, Progression, extent_of
from ....values.capacity import Capacity
from ....values.lattice import NONE, Abstract, Array, Const, Ref, SliceObject, Tuple
from ...context import Context, Raw
from ...kernels.rows_as_arrays import arrays_of_rows, chained, rank_of_rows
from ...kernels.structures import abstract, sequence_items
from ...rules.jax import axis_of, is_none
from ..composed import run_program, size_depends
from ..indexing.bounded import bounded, compact, count, raveled, refuse
from ..indexing.bounded_operands import elementwise, placed
from ..indexing.size_checks import operand
from ..indexing.subscripts import array_getitem
from .size_rules import as_whole, composed_for_bounded, for_bounded


def _parts(ctx: Context, arrays: Raw, function: str) -> list[Abstract]:
    items = sequence_items(ctx, arrays)
    if items is None:
        refuse(ctx, function, arrays)
    return list(items)


def _rank(ctx: Context, part: Abstract) -> int:
    o = operand(ctx, part)
    return 0 if o is None else len(o.axes)


def _rows(function: Any, chains: Any = lambda rank: False) -> Any:
    """What a function takes in place of a list whose length, or that of whose elements, only the program knows.

    Where it chains arrays of such a rank along their first axis, they need not be of one length.
    """

    def rows(ctx: Context, arrays: Raw, axis: Raw = 0, *args: Raw, **kwargs: Raw) -> Raw:
        rank, at = rank_of_rows(ctx, arrays), axis.value if isinstance(axis, Const) else axis
        if rank is not None and chains(rank) and at in (None, 0, -rank):
            found = chained(ctx, arrays, function)
            if found is not None:
                return Tuple((found,))
        return arrays_of_rows(ctx, arrays, function)

    return rows


@for_bounded(np.concatenate, rows=_rows(np.concatenate, lambda rank: True))
def concatenate(
    ctx: Context, arrays: Raw, axis: Raw = 0, out: Raw = None, *, dtype: Raw = None, casting: Raw = None
) -> Abstract:
    """The arrays one after another along `axis`, or all elements where it is None."""
    lines = isinstance(arrays, Bounded) and arrays.rank == 2 and is_none(out) and is_none(dtype)
    if (
        lines and axis_of(ctx, axis, 1, "concatenate") == 0
    ):  # a list of computed length: its arrays are the rows
        copied = ctx.call(Const(np.copy), [arrays])
        assert isinstance(copied, Bounded)
        return raveled(ctx, copied)
    parts = _parts(ctx, arrays, "np.concatenate")
    if not is_none(out):
        refuse(ctx, "np.concatenate with out", *parts)
    if is_none(axis):
        parts, axis = [_flat(ctx, part) for part in parts], 0
    at = axis_of(ctx, axis, _rank(ctx, parts[0]), "concatenate")
    if any(_rank(ctx, part) != _rank(ctx, parts[0]) for part in parts):
        ctx.raise_(ValueError("all the input arrays must have same number of dimensions"))
    along = [isinstance(part, Bounded) and isinstance(part.axes[at], Extent) for part in parts]
    across = [isinstance(p, Bounded) and any(e.axis != at for e in p.extents) for p in parts]
    if any(across):
        if any(along):
            return _along_several(ctx, parts, at, dtype)
        return _side_by_side(ctx, parts, at, dtype)
    return _one_after_another(ctx, parts, at, dtype)


def _flat(ctx: Context, part: Abstract) -> Abstract:
    return raveled(ctx, part) if isinstance(part, Bounded) else ctx.call(Const(np.ravel), [part])


def _call(ctx: Context, wholes: Sequence[Abstract], at: int, dtype: Raw) -> Abstract:
    kwargs = {} if is_none(dtype) else {"dtype": dtype}
    return ctx.call(Const(np.concatenate), [Tuple(tuple(wholes)), Const(at)], kwargs)


def _side_by_side(ctx: Context, parts: Sequence[Abstract], at: int, dtype: Raw) -> Abstract:
    """Arrays that are bounded along other axes than the one along which they are joined."""

    def whole(*wholes: Raw) -> Abstract:
        return _call(ctx, wholes, at, dtype)

    def plain(*samples: Any) -> Any:
        return np.concatenate(samples, at)

    return elementwise(ctx, "np.concatenate", plain, whole, *parts, apart=at)


def _along_several(ctx: Context, parts: Sequence[Abstract], at: int, dtype: Raw) -> Abstract:
    """Arrays that are bounded along the axis along which they are joined, and along others."""
    parts = [compact(ctx, part) if isinstance(part, Bounded) else part for part in parts]
    across: list[Abstract] = []
    for part in parts:
        others = [e for e in part.extents if e.axis != at] if isinstance(part, Bounded) else []
        whole = part.whole if isinstance(part, Bounded) else part
        across.append(bounded(ctx, whole, others) if others and isinstance(whole, Ref | Array) else whole)
    wholes, extents = placed(ctx, "np.concatenate", lambda *given: np.concatenate(given, at), across, at)
    lines: list[Abstract] = []
    for part, whole in zip(parts, map(abstract, wholes)):
        own = [e for e in part.extents if e.axis == at] if isinstance(part, Bounded) else []
        lines.append(bounded(ctx, whole, own) if own and isinstance(whole, Ref | Array) else whole)
    made = _one_after_another(ctx, lines, at, dtype)
    return bounded(ctx, made.whole, [*made.extents, *[e.moved(made.rank) for e in extents]])


def _one_after_another(ctx: Context, parts: Sequence[Abstract], at: int, dtype: Raw) -> Bounded:
    """Arrays of which some are bounded along the axis along which they are joined: each is written where the last ended.

    Where the first is bounded by a capacity, so is the result.
    """
    parts = [compact(ctx, part) if isinstance(part, Bounded) else part for part in parts]
    wholes = [part.whole if isinstance(part, Bounded) else part for part in parts]
    joined = ctx.read(_call(ctx, wholes, at, dtype))
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


@for_bounded(np.append)
def append(ctx: Context, arr: Raw, values: Raw, axis: Raw = None) -> Abstract:
    """A new array: the second after the first, both flat where there is no `axis`."""
    parts = (_flat(ctx, arr), _flat(ctx, values)) if is_none(axis) else (arr, values)
    return ctx.call(Const(np.concatenate), [Tuple(parts), Const(0) if is_none(axis) else axis])


@composed_for_bounded(np.stack, rows=_rows(np.stack))
def stack(arrays: Any, axis: Any = 0) -> Any:
    """The arrays, all of one shape, along a new axis; those of a list of computed length are the rows of one."""
    if isinstance(arrays, np.ndarray):
        if len(arrays) == 0:
            raise ValueError("need at least one array to stack")
        return np.moveaxis(np.copy(arrays), 0, axis)
    return np.concatenate([np.expand_dims(a, axis) for a in arrays], axis=axis)


@for_bounded(np.vstack, rows=_rows(np.vstack, lambda rank: rank > 1))
def vstack(ctx: Context, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind") -> Abstract:
    """One below the other: along the first axis, vectors as rows."""
    if not is_none(dtype):
        refuse(ctx, "np.vstack with a dtype", tup)
    if isinstance(tup, Bounded):
        return run_program(ctx, _of_rows, [tup])
    rows = [ctx.call(Const(np.atleast_2d), [part]) for part in _parts(ctx, tup, "np.vstack")]
    return ctx.call(Const(np.concatenate), [Tuple(tuple(rows)), Const(0)])


def _of_rows(tup: Any) -> Any:
    if tup.ndim != 2:
        return np.concatenate([np.atleast_2d(a) for a in tup], axis=0)
    if len(tup) == 0:
        raise ValueError("need at least one array to concatenate")
    return np.copy(tup)


@for_bounded(np.hstack, rows=_rows(np.hstack, lambda rank: rank == 1))
def hstack(ctx: Context, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind") -> Abstract:
    """Side by side: along the second axis, vectors along their only one."""
    if not is_none(dtype):
        refuse(ctx, "np.hstack with a dtype", tup)
    if isinstance(tup, Bounded):
        return ctx.call(Const(np.concatenate), [tup, Const(0 if tup.rank == 2 else 1)])
    parts = [ctx.call(Const(np.atleast_1d), [part]) for part in _parts(ctx, tup, "np.hstack")]
    at = 0 if parts and _rank(ctx, parts[0]) == 1 else 1
    return ctx.call(Const(np.concatenate), [Tuple(tuple(parts)), Const(at)])


@composed_for_bounded(np.column_stack, rows=_rows(np.column_stack))
def column_stack(tup: Any) -> Any:
    """Vectors as the columns of a matrix."""
    return np.concatenate([a[:, None] if np.ndim(a) == 1 else a for a in map(np.asarray, tup)], axis=1)


@for_bounded(np.expand_dims)
def expand_dims(ctx: Context, a: Raw, axis: Raw) -> Abstract:
    """With a new axis."""
    assert isinstance(a, Bounded)
    at = axis_of(ctx, axis, a.rank + 1, "expand_dims")
    full = SliceObject(NONE, NONE, NONE)
    return array_getitem(ctx, a, Tuple((*[full] * at, NONE, *[full] * (a.rank - at))))


@composed_for_bounded(np.atleast_1d)
def atleast_1d(a: Any) -> Any:
    """A bounded array has an axis."""
    return a


@composed_for_bounded(np.atleast_2d)
def atleast_2d(a: Any) -> Any:
    """A vector as a matrix of one row."""
    return a[None, :] if np.ndim(a) == 1 else a


@composed_for_bounded(np.outer)
def outer(a: Any, b: Any) -> Any:
    """The products of all elements of two arrays, both flat."""
    return np.ravel(a)[:, None] * np.ravel(b)[None, :]


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
