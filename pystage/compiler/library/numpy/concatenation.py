"""Concatenation, stacking, repetition and rotation of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....records import dataclass
from ... import ops
from ...diagnostics.codes_types import ArgumentNotStaged, NotNumeric
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType, DType
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent, Progression, axes_with, extent_of
from ...values.lattice import (
    NONE,
    Abstract,
    Array,
    Const,
    DictView,
    Enumerate,
    IteratorCell,
    Mapped,
    Reversed,
    SetCell,
    SliceObject,
    Tuple,
    Zip,
)
from ...values.packing import stacked
from ...values.views import Window
from ..context import Context, Raw
from ..interfaces.allocation_checks import check_memory
from ..kernels.python_implementations import run_program
from ..kernels.structures import call_now, cell_of
from ..operands.bounded_arguments import (
    array_of,
    compact_argument,
    compacted,
    decided,
    flat_argument,
    placed_argument,
    size_along,
    value_of_size,
    with_ones,
)
from ..operands.known_calls import is_computed
from ..operands.libraries import ArrayArgument, Rules, twins
from ..operands.nested_sequences import array_argument, elements, is_sequence
from ..operands.rows_as_arrays import arrays_of_rows, chained, rank_of_rows
from ..rules.jax import axis_of, integer, ints, is_none
from ..rules.promote import value_of
from .indexing.bounded import count, refuse
from .indexing.bounded import shape as shape_of_bounded
from .indexing.bounded_operands import elementwise, placed, result_with
from .indexing.fancy_indexing import Fancy, gather
from .indexing.size_checks import Axis
from .indexing.stores import cast
from .manipulation import places_of_ones
from .subscripts.subscripts import array_getitem


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays to join; with `are_lines`, the lines of the only part along its first axis, of computed number."""

    parts: Sequence[ArrayArgument]
    are_lines: bool = False

    @property
    def rank(self) -> int:
        """The rank of the first array."""
        return self.parts[0].rank - self.are_lines

    def with_ones(self, ctx: Context, places: Callable[[int], Sequence[int]]) -> Arrays:
        """The arrays with axes of one element at the places that are those of their rank."""
        by = int(self.are_lines)
        parts = [with_ones(ctx, g, [at + by for at in places(g.rank - by)]) for g in self.parts]
        return Arrays(parts, self.are_lines)


def arrays_of(
    ctx: Context,
    rules: Rules,
    raw: Raw,
    function: str,
    axis: Raw = 0,
    chains: Callable[[int], bool] = lambda rank: False,
) -> Arrays:
    """The arrays of a sequence argument (of an array, its rows).

    Of a list of computed length those of a rank that the function `chains` need not be of one length where it joins them
    along their first axis.
    """
    if not rules.is_jax and _is_no_sequence(ctx, raw):
        call_now(ctx, getattr(np, function), iter(()))  # NumPy takes no iterator, whatever it gives
    called = getattr(rules.module, function)
    raw = decided(ctx, raw)
    rank, at = rank_of_rows(ctx, rules, raw), axis.value if isinstance(axis, Const) else axis
    chain = None
    if rank is not None and chains(rank) and at in (None, 0, -rank):
        chain = chained(ctx, rules, raw, called)
    raw = arrays_of_rows(ctx, raw, called, rules=rules) if chain is None else Tuple((chain,))
    if isinstance(raw, Bounded) and isinstance(raw.axes[0], Extent):
        none = ctx.op(ops.Compare("EQ"), count(ctx, raw, raw.axes[0]).value, ctx.constant(0, INT64))
        ctx.check(none, ValueError(), called, [Const(())])
        return Arrays([compact_argument(ctx, rules, raw, function)], True)
    items = elements(ctx, raw)
    if items is None:
        items = ctx.iterate(raw) if isinstance(raw, Abstract) else None
    if items is None:
        ctx.fail(NotNumeric(span=ctx.span, what=function, kind="something other than a list of arrays"))
    if not items:
        rules.mismatch(ctx, "need at least one array to concatenate")
    return Arrays([placed_argument(ctx, rules, item, function) for item in items])


def _is_no_sequence(ctx: Context, raw: Raw) -> bool:
    """True for an iterator, a set or a view of a dict."""
    lazy = isinstance(raw, Enumerate | Mapped | Reversed | Zip | DictView)
    return lazy or isinstance(cell_of(ctx, raw), IteratorCell | SetCell)


_MISMATCH = "all the input array dimensions except for the concatenation axis must match exactly"


def joined(
    ctx: Context,
    rules: Rules,
    arrays: Arrays,
    axis: int,
    dtype: Raw,
    function: str,
    casting: Raw = "same_kind",
) -> Abstract:
    """Arrays one after another along an axis that all have, cast to a type by a rule of NumPy's."""
    given = arrays.parts
    rank = given[0].rank
    for i, other in enumerate(given):
        if other.rank != rank:
            text = (
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{rank} dimension(s) and the array at index {i} has {other.rank} dimension(s)"
            )
            rules.mismatch(ctx, _MISMATCH if rules.is_jax else text)
        sizes = [(n, m) for k, (n, m) in enumerate(zip(given[0].axes, other.axes)) if k != axis]
        if not arrays.are_lines and any(_differ(n, m) for n, m in sizes):
            rules.mismatch(ctx, _MISMATCH)
    along = arrays.are_lines or any(isinstance(g.axes[axis], Extent) for g in given)
    extents: Sequence[Extent] = []
    if not arrays.are_lines and any(e.axis != axis for g in given for e in g.extents):

        def plain(*samples: Any) -> Any:
            return rules.module.concatenate(samples, axis)

        if not along:

            def whole(*wholes: Raw) -> Abstract:
                parts = [array_argument(ctx, rules, each, function) for each in wholes]
                return joined(ctx, rules, Arrays(parts), axis, dtype, function, casting)

            operands = [array_of(ctx, rules, g) for g in given]
            return elementwise(ctx, f"{rules.name}.{function}", plain, whole, *operands, apart=axis)
        given, extents = _side_by_side(ctx, rules, given, axis, f"{rules.name}.{function}", plain)
    common, weak = rules.common_dtype(ctx, given)
    if not is_none(dtype):
        common, weak = rules.dtype(ctx, dtype, function), False
    if not rules.is_jax:
        check_casts(ctx, given, common, ctx.known(casting, f"casting of {function}"))
    if along:
        given = [compacted(ctx, rules, g) for g in given]
    cast_to = [replace(g, value=cast(ctx, g.value, common)) for g in given]
    if arrays.are_lines:
        return _merged(ctx, rules, cast_to[0], axis, weak, function)
    if along:
        value, extent = _one_after_another(ctx, cast_to, axis)
        axes = axes_with(value.type.shape, (extent, *extents))
        return result_with(ctx, rules.array(ctx, value, weak), axes)
    values = [g.value for g in cast_to]
    values = [v for v in values if v.type.shape[axis]] or values[:1]
    return rules.array(ctx, ctx.op(ops.Concatenate(axis), *values) if len(values) > 1 else values[0], weak)


def _differ(one: Axis, other: Axis) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one != other


def _side_by_side(
    ctx: Context,
    rules: Rules,
    given: Sequence[ArrayArgument],
    axis: int,
    name: str,
    plain: Callable[..., Any],
) -> tuple[list[ArrayArgument], list[Extent]]:
    """Arrays bounded along the axis that joins them, aligned along the others, and the bounded axes among those."""
    given = [compacted(ctx, rules, g) for g in given]
    across = [replace(g, extents=tuple([e for e in g.extents if e.axis != axis])) for g in given]
    wholes, extents = placed(ctx, name, plain, [array_of(ctx, rules, g) for g in across], axis)
    aligned = [
        replace(
            array_argument(ctx, rules, whole, name), extents=tuple([e for e in g.extents if e.axis == axis])
        )
        for g, whole in zip(given, wholes, strict=True)
    ]
    return aligned, [e.moved(given[0].rank) for e in extents]


def _one_after_another(ctx: Context, given: Sequence[ArrayArgument], at: int) -> tuple[Value, Extent]:
    """Arrays of which some are bounded along the axis that joins them: each is written where the last ended.

    Where the first is bounded by a capacity, so is the result.
    """
    values = [g.value for g in given]
    joined = ctx.op(ops.Concatenate(at), *values) if len(values) > 1 else values[0]
    along = given[0].axes[at]
    capacity = along.capacity if isinstance(along, Extent) else None
    begins: list[Value] = [ctx.constant(0, INT64)]
    for each in given:
        begins.append(ctx.op(ops.Add(), begins[-1], value_of_size(ctx, size_along(ctx, each, at))))
    if capacity is not None:
        ctx.needs_capacity(capacity, begins[-1])
    within = capacity is not None and not any(g.extents for g in given[1:])
    value = values[0] if within else joined
    computed = [isinstance(g.axes[at], Extent) for g in given]
    stay = 1 + next((i for i, c in enumerate(computed) if c), len(given))  # so many stand where they belong
    for begin, each_value in list(zip(begins, values))[stay:]:
        starts = [begin if axis == at else begins[0] for axis in range(value.type.rank)]
        if each_value.type.size:
            value = ctx.op(ops.DynamicUpdateSlice(), value, each_value, *starts)
    if capacity is not None and not within:
        limits = tuple([capacity.size if axis == at else n for axis, n in enumerate(value.type.shape)])
        value = ctx.op(ops.Slice((0,) * len(limits), limits, (1,) * len(limits)), value)
    return value, replace(extent_of(Progression(begins[0], 1, begins[-1]), at), capacity=capacity)


def _merged(ctx: Context, rules: Rules, lines: ArrayArgument, at: int, weak: bool, function: str) -> Abstract:
    """The lines of an array along its first axis, one after another along their axis `at`."""
    order = (*range(1, at + 1), 0, *range(at + 1, lines.rank))
    value = ctx.op(ops.Transpose(order), lines.value) if at else lines.value
    axes = [lines.axes[i] for i in order]
    extents = tuple([replace(axis, axis=i) for i, axis in enumerate(axes) if isinstance(axis, Extent)])
    moved = ArrayArgument(value, weak, lines.form, extents)
    each = axes[at + 1]
    if isinstance(each, Extent):
        if lines.rank > 2:
            refuse(ctx, f"{rules.name}.{function}", array_of(ctx, rules, moved))
        return array_of(ctx, rules, flat_argument(ctx, rules, moved))
    size = ctx.op(ops.Multiply(), value_of_size(ctx, size_along(ctx, moved, at)), ctx.constant(each, INT64))
    shape = value.type.shape
    merged = ctx.reshape(value, (*shape[:at], shape[at] * each, *shape[at + 2 :]))
    axes[at : at + 2] = [extent_of(Progression(ctx.constant(0, INT64), 1, size), at)]
    return result_with(ctx, rules.array(ctx, merged, weak), axes)


def check_casts(ctx: Context, given: Sequence[ArrayArgument], dtype: DType, casting: Any) -> None:
    """Makes the program raise TypeError where NumPy does not cast one of the arrays to `dtype`."""
    for each in given:
        if not np.can_cast(each.dtype, dtype, casting):
            pair = f"from {each.dtype!r} to {dtype!r}"
            ctx.raise_(TypeError(f"Cannot cast array data {pair} according to the rule {casting!r}"))


@twins(np.concatenate, jnp.concatenate, delegates=False, joins_rows=True)
def concatenate(
    ctx: Context,
    rules: Rules,
    arrays: Raw,
    axis: Raw = 0,
    out: Raw = None,
    *,
    dtype: Raw = None,
    casting: Raw = "same_kind",
) -> Abstract:
    """The arrays one after another along `axis`, or all elements where it is None."""
    given = arrays_of(ctx, rules, arrays, "concatenate", axis, lambda rank: True)
    if is_none(axis):
        parts = given.parts
        if not rules.is_jax and is_none(dtype):
            parts = _with_weak_numbers(ctx, parts)
        given = Arrays([flat_argument(ctx, rules, g) for g in parts])
        return joined(ctx, rules, given, 0, dtype, "concatenate", casting)
    if not given.rank:
        rules.mismatch(ctx, "zero-dimensional arrays cannot be concatenated")
    at = axis_of(ctx, axis, given.rank, "concatenate")
    return joined(ctx, rules, given, at, dtype, "concatenate", casting)


def _with_weak_numbers(ctx: Context, given: Sequence[ArrayArgument]) -> list[ArrayArgument]:
    """Python numbers in the element type of the arrays beside them, which they do not widen (NEP 50)."""
    weak = [g.form is Form.PYTHON and g.dtype.kind in "ifc" for g in given]
    if not any(weak) or all(weak):
        return list(given)
    common = np.result_type(*[g.dtype.type(0).item() if w else g.dtype for g, w in zip(given, weak)])
    if common.kind not in "fc" and common != INT64:
        argument = "a number of Python beside narrow integers"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.concatenate", argument=argument))
    return [g.of(ctx.convert(g.value, common)) if w else g for g, w in zip(given, weak)]


if np.concat is not np.concatenate:
    twins(np.concat, jnp.concat, delegates=False, joins_rows=True)(concatenate)


@twins(np.stack, jnp.stack, delegates=False, joins_rows=True)
def stack(
    ctx: Context,
    rules: Rules,
    arrays: Raw,
    axis: Raw = 0,
    out: Raw = None,
    *,
    dtype: Raw = None,
    casting: Raw = "same_kind",
) -> Abstract:
    """The arrays, all of one shape, along a new axis; those of a list of computed length are the rows of one."""
    given = arrays_of(ctx, rules, arrays, "stack")
    first = given.parts[0]
    for other in given.parts:
        if other.rank != first.rank or any(map(_differ, first.axes, other.axes)):
            rules.mismatch(ctx, "all input arrays must have the same shape")
    at = axis_of(ctx, axis, given.rank + 1, "stack")
    is_static = not any(g.extents for g in given.parts)
    if at == 0 and is_none(dtype) and casting == "same_kind" and is_static:
        values, weak = rules.common(ctx, given.parts)
        return rules.array(ctx, stacked(ctx.b, values), weak)
    return joined(ctx, rules, given.with_ones(ctx, lambda rank: [at]), at, dtype, "stack", casting)


@twins(np.hstack, jnp.hstack, delegates=False, joins_rows=True)
def hstack(
    ctx: Context, rules: Rules, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind"
) -> Abstract:
    """Side by side: along the second axis, vectors along their only one."""
    given = arrays_of(ctx, rules, tup, "hstack", chains=lambda rank: rank == 1)
    given = given.with_ones(ctx, functools.partial(places_of_ones, 1))
    return joined(ctx, rules, given, 0 if given.rank == 1 else 1, dtype, "hstack", casting)


@twins(np.vstack, jnp.vstack, delegates=False, joins_rows=True)
def vstack(
    ctx: Context, rules: Rules, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind"
) -> Abstract:
    """One below the other: along the first axis, vectors as rows."""
    given = arrays_of(ctx, rules, tup, "vstack", chains=lambda rank: rank > 1)
    given = given.with_ones(ctx, functools.partial(places_of_ones, 2))
    return joined(ctx, rules, given, 0, dtype, "vstack", casting)


@twins(np.dstack, jnp.dstack, delegates=False, joins_rows=True)
def dstack(ctx: Context, rules: Rules, tup: Raw) -> Abstract:
    """One behind the other: along the third axis."""
    given = arrays_of(ctx, rules, tup, "dstack").with_ones(ctx, functools.partial(places_of_ones, 3))
    return joined(ctx, rules, given, 2, None, "dstack")


@twins(np.column_stack, jnp.column_stack, delegates=False, joins_rows=True)
def column_stack(ctx: Context, rules: Rules, tup: Raw) -> Abstract:
    """Vectors as the columns of a matrix."""
    given = arrays_of(ctx, rules, tup, "column_stack").with_ones(ctx, _places_of_column)
    return joined(ctx, rules, given, 1, None, "column_stack")


def _places_of_column(rank: int) -> Sequence[int]:
    """Where a number, or a vector, gets axes that make it a column."""
    return (0, 1)[rank:]


@twins(np.append, jnp.append, delegates=False)
def append(ctx: Context, rules: Rules, arr: Raw, values: Raw, axis: Raw = None) -> Abstract:
    """A new array: the second after the first, both flat where there is no `axis`."""
    given = [placed_argument(ctx, rules, a, "append") for a in (arr, values)]
    if is_none(axis):
        given = [flat_argument(ctx, rules, g) for g in given]
        return joined(ctx, rules, Arrays(given), 0, None, "append")
    return joined(ctx, rules, Arrays(given), axis_of(ctx, axis, given[0].rank, "append"), None, "append")


# ---------------------------------------------------------------- repetition


@twins(np.tile, jnp.tile, delegates=False)
def tile(ctx: Context, rules: Rules, A: Raw, reps: Raw) -> Abstract:
    """The whole array repeated along its axes."""
    given = placed_argument(ctx, rules, A, "tile")
    counts = list(_counts(ctx, reps))
    given = with_ones(ctx, given, range(len(counts) - given.rank))
    counts = [*[1] * (given.rank - len(counts)), *counts]
    known = [isinstance(n, int) and isinstance(axis, int) for n, axis in zip(counts, given.axes)]
    times = [int(n) if is_known else 1 for n, is_known in zip(counts, known)]
    if min(times, default=1) < 0 and not given.value.type.size:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="tile", argument="negative reps"))
    if any(n != 1 for n in times):
        spread = tuple([n for pair in zip(times, given.shape) for n in pair])
        value = ctx.op(ops.Broadcast(spread, tuple([2 * i + 1 for i in range(given.rank)])), given.value)
        shape = tuple([n * m for n, m in zip(times, given.shape)])
        given = replace(given, value=ctx.reshape(value, shape))
    made = array_of(ctx, rules, given)
    for axis, n in enumerate(counts):
        if not known[axis]:
            made = run_program(ctx, _tiled, [made, n, axis])
    return made


def _counts(ctx: Context, reps: Raw) -> Sequence[Any]:
    """The counts of `np.tile`, known or computed."""
    if not is_computed(ctx, reps):
        return ints(ctx, reps, "reps of tile")
    items = ctx.iterate(reps) if is_sequence(ctx, reps) or ctx.is_ndarray(reps) else [reps]
    if items is None:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="tile", argument="reps of computed number"))
    return [item if is_computed(ctx, item) else integer(ctx, item, "reps of tile") for item in items]


def _tiled(a: Any, times: Any, axis: Any) -> Any:
    """The elements of an array again and again along one axis."""
    n = a.shape[axis]
    places = np.arange(n * max(int(times), 0)) % max(n, 1)
    return np.moveaxis(np.moveaxis(a, axis, 0)[places], 0, axis)


@twins(np.repeat, jnp.repeat)
def repeat(ctx: Context, rules: Rules, a: Raw, repeats: Raw, axis: Raw = None) -> Abstract:
    """Each element repeated, along an axis or flat."""
    given = placed_argument(ctx, rules, a, "repeat")
    given = flat_argument(ctx, rules, given) if is_none(axis) else given
    at = 0 if is_none(axis) else axis_of(ctx, axis, given.rank, "repeat")
    if rules.is_jax and is_sequence(ctx, repeats):
        rules.operand(ctx, repeats, "repeat")  # raises
    along, shape = given.axes[at], given.shape
    if isinstance(along, Extent) or is_computed(ctx, repeats):
        n = (
            Const(along)
            if isinstance(along, int)
            else ctx.python(value_of_size(ctx, size_along(ctx, given, at)))
        )
        places = run_program(ctx, _repeated, [n, repeats])
        index = (*[SliceObject(NONE, NONE, NONE)] * at, places)
        return array_getitem(ctx, array_of(ctx, rules, given), Tuple(index))
    counts = np.asarray(ctx.known(repeats, "the counts of repeat, and so its size,"))
    if (counts < 0).any():
        rules.mismatch(ctx, "repeats may not contain negative values.")
    if counts.size == 1:
        times = int(counts.reshape(()))
        spread = (*shape[: at + 1], times, *shape[at + 1 :])
        axes = (*range(at + 1), *range(at + 2, len(shape) + 1))
        whole = (*shape[:at], along * times, *shape[at + 1 :])
        value = ctx.reshape(ctx.op(ops.Broadcast(spread, axes), given.value), whole)
        return array_of(ctx, rules, replace(given, value=value))
    if counts.shape != (along,):
        text = f"operands could not be broadcast together with shape ({along},) {counts.shape}"
        rules.mismatch(ctx, text)
    check_memory(ArrayType(INT64, (sum(map(int, counts)),)))
    positions = np.repeat(np.arange(along), counts)
    return array_of(ctx, rules, replace(given, value=taken(ctx, given.value, positions, at)))


def _repeated(n: Any, repeats: Any) -> Any:
    """The place of each of `n` elements, as often as it is repeated."""
    counts = np.asarray(repeats)
    if counts.ndim == 0:
        if counts < 0:
            raise ValueError("repeats may not contain negative values.")
        times = int(counts)
        return np.arange(n * times) // max(times, 1)
    if len(counts) != n and len(counts) != 1:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({len(counts)},)")
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    ends = np.cumsum(counts + np.zeros(n, np.intp))
    total = int(ends[-1]) if n > 0 else 0
    if total < 0:  # the sum has wrapped around
        raise ValueError("negative dimensions are not allowed")
    return np.searchsorted(ends, np.arange(total), side="right")


def taken(ctx: Context, value: Value, positions: np.ndarray, axis: int) -> Value:
    """The slices at known indices along an axis."""
    indices = ctx.constant(positions, INT64)
    return gather(ctx, value, Fancy((axis,), (indices,), positions.shape, axis, False))


@twins(np.roll, jnp.roll, delegates=False)
def roll(ctx: Context, rules: Rules, a: Raw, shift: Raw, axis: Raw = None) -> Abstract:
    """The elements shifted cyclically along axes; one shift may be staged."""
    given = placed_argument(ctx, rules, a, "roll")
    if is_none(axis):
        flat = flat_argument(ctx, rules, given)
        several = elements(ctx, shift)
        for by in [shift] if several is None else several:
            flat = _rolled(ctx, rules, flat, by, 0)
        if not isinstance(a, Bounded):
            return array_of(ctx, rules, replace(flat, value=ctx.reshape(flat.value, given.shape)))
        own = Tuple(tuple(shape_of_bounded(ctx, a)))
        return ctx.call(Const(rules.module.reshape), [array_of(ctx, rules, flat), own])
    axes = ints(ctx, axis, "the axis of roll")
    shifts = elements(ctx, shift)
    if shifts is None:
        shifts = [shift] * len(axes)
    elif len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        rules.mismatch(ctx, "'shift' and 'axis' should be scalars or 1D sequences")
    for each, by in zip(axes, shifts):
        given = _rolled(ctx, rules, given, by, axis_of(ctx, each, given.rank, "roll"))
    return array_of(ctx, rules, given)


def _rolled(ctx: Context, rules: Rules, given: ArrayArgument, shift: Raw, axis: int) -> ArrayArgument:
    shape, value = given.shape, given.value
    extent = shape[axis]
    bounded = isinstance(given.axes[axis], Extent)
    if value.type.size == 0 or (extent == 1 and not bounded):
        return given
    given_shift = ctx.read(shift)
    if bounded or isinstance(given_shift, Array):
        if isinstance(given_shift, Array) and given_shift.rank:
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.roll", argument="an array of shifts"))
        given = compacted(ctx, rules, given)
        twice, _ = _one_after_another(ctx, [given, given], axis)
        size = value_of_size(ctx, size_along(ctx, given, axis))
        size = ctx.op(ops.Maximum(), size, ctx.constant(1, INT64)) if bounded else size
        by = ctx.reshape(value_of(ctx, given_shift, INT64), ())
        start = _modulo(ctx, ctx.op(ops.Negate(), ctx.convert(by, INT64)), size)
        zero = ctx.constant(0, INT64)
        starts = [start if i == axis else zero for i in range(len(shape))]
        return replace(given, value=ctx.op(ops.DynamicSlice(shape), twice, *starts))
    cut = -integer(ctx, shift, "the shift of roll") % extent
    if cut == 0:
        return given
    parts = part(ctx, value, axis, cut, extent), part(ctx, value, axis, 0, cut)
    return replace(given, value=ctx.op(ops.Concatenate(axis), *parts))


def _modulo(ctx: Context, value: Value, extent: Value) -> Value:
    """`value % extent`, from 0 on."""
    rest = ctx.op(ops.Remainder(), value, extent)
    negative = ctx.op(ops.Compare("LT"), rest, ctx.constant(0, INT64))
    return ctx.op(ops.Select(), negative, ctx.op(ops.Add(), rest, extent), rest)


def part(ctx: Context, value: Value, axis: int, start: int, stop: int) -> Value:
    """The elements from `start` to before `stop` along an axis."""
    shape = value.type.shape
    starts = tuple([start if i == axis else 0 for i in range(len(shape))])
    sizes = tuple([stop - start if i == axis else n for i, n in enumerate(shape)])
    return Window(starts, sizes).read(ctx.b, value)
