"""Concatenation, stacking, splitting, repetition and rotation of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged, NotNumeric
from ...hlo.ir import Value
from ...hlo.types import INT64, ArrayType, DType
from ...ops import Add, Broadcast, Compare, Concatenate, DynamicSlice, Negate, Remainder, Select
from ...values.boundary import Form
from ...values.lattice import (
    Abstract,
    Array,
    DictView,
    Enumerate,
    IteratorCell,
    Mapped,
    Reversed,
    SetCell,
    Zip,
)
from ...values.packing import stacked
from ...values.views import Window
from ..context import Context, Raw
from ..interfaces.allocation_checks import check_memory
from ..kernels.structures import call_now, cell_of, new_list
from ..operands.libraries import ArrayArgument, Rules, twins, with_views
from ..operands.nested_sequences import array_argument, elements, is_sequence
from ..rules.jax import axis_of, integer, ints, is_none
from .indexing.fancy_indexing import Fancy, gather
from .indexing.stores import cast
from .manipulation import as_array, shape_known


def arrays_of(ctx: Context, rules: Rules, raw: Raw, function: str) -> list[ArrayArgument]:
    """The arrays of a sequence argument (of an array, its rows)."""
    if not rules.is_jax and _is_no_sequence(ctx, raw):
        call_now(ctx, getattr(np, function), iter(()))  # NumPy takes no iterator, whatever it gives
    items = elements(ctx, raw)
    if items is None:
        items = ctx.iterate(raw) if isinstance(raw, Abstract) else None
    if items is None:
        ctx.fail(NotNumeric(span=ctx.span, what=function, kind="something other than a list of arrays"))
    if not items:
        rules.mismatch(ctx, "need at least one array to concatenate")
    return [array_argument(ctx, rules, item, function) for item in items]


def _is_no_sequence(ctx: Context, raw: Raw) -> bool:
    """True for an iterator, a set or a view of a dict."""
    lazy = isinstance(raw, Enumerate | Mapped | Reversed | Zip | DictView)
    return lazy or isinstance(cell_of(ctx, raw), IteratorCell | SetCell)


def joined(
    ctx: Context,
    rules: Rules,
    given: Sequence[ArrayArgument],
    axis: int,
    dtype: Raw,
    function: str,
    casting: Raw = "same_kind",
) -> Abstract:
    """Arrays one after another along an axis that all have, cast to a type by a rule of NumPy's."""
    first = given[0].shape
    for i, other in enumerate(given):
        if len(other.shape) != len(first):
            text = "all the input array dimensions except for the concatenation axis must match exactly"
            if not rules.is_jax:
                text = (
                    "all the input arrays must have same number of dimensions, but the array at index 0 has "
                    f"{len(first)} dimension(s) and the array at index {i} has {len(other.shape)} dimension(s)"
                )
            rules.mismatch(ctx, text)
        if any(n != m for k, (n, m) in enumerate(zip(first, other.shape)) if k != axis):
            rules.mismatch(
                ctx,
                "all the input array dimensions except for the concatenation axis must match exactly",
            )
    common, weak = rules.common_dtype(ctx, given)
    if not is_none(dtype):
        common, weak = rules.dtype(ctx, dtype, function), False
    if not rules.is_jax:
        check_casts(ctx, given, common, ctx.known(casting, f"casting of {function}"))
    values = [cast(ctx, g.value, common) for g in given]
    values = [v for v in values if v.type.static_shape[axis]] or values[:1]
    return rules.array(ctx, ctx.op(Concatenate(axis), *values) if len(values) > 1 else values[0], weak)


def check_casts(ctx: Context, given: Sequence[ArrayArgument], dtype: DType, casting: Any) -> None:
    """Makes the program raise TypeError where NumPy does not cast one of the arrays to `dtype`."""
    for each in given:
        if not np.can_cast(each.dtype, dtype, casting):
            pair = f"from {each.dtype!r} to {dtype!r}"
            ctx.raise_(TypeError(f"Cannot cast array data {pair} according to the rule {casting!r}"))


def reshaped_argument(ctx: Context, argument: ArrayArgument, shape: tuple[int, ...]) -> ArrayArgument:
    """An array argument in another shape."""
    return argument.of(ctx.reshape(argument.value, shape))


@twins(np.concatenate, jnp.concatenate, delegates=False)
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
    given = arrays_of(ctx, rules, arrays, "concatenate")
    if is_none(axis):
        if not rules.is_jax and is_none(dtype):
            given = _with_weak_numbers(ctx, given)
        given = [reshaped_argument(ctx, g, (g.value.type.size,)) for g in given]
        return joined(ctx, rules, given, 0, dtype, "concatenate", casting)
    if not given[0].rank:
        rules.mismatch(ctx, "zero-dimensional arrays cannot be concatenated")
    at = axis_of(ctx, axis, given[0].rank, "concatenate")
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
    twins(np.concat, jnp.concat, delegates=False)(concatenate)


@twins(np.stack, jnp.stack, delegates=False)
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
    """The arrays, all of one shape, along a new axis."""
    given = arrays_of(ctx, rules, arrays, "stack")
    shape = given[0].shape
    if any(g.shape != shape for g in given):
        rules.mismatch(ctx, "all input arrays must have the same shape")
    at = axis_of(ctx, axis, len(shape) + 1, "stack")
    if at == 0 and is_none(dtype) and casting == "same_kind":
        values, weak = rules.common(ctx, given)
        return rules.array(ctx, stacked(ctx.b, values), weak)
    wide = (*shape[:at], 1, *shape[at:])
    return joined(ctx, rules, [reshaped_argument(ctx, g, wide) for g in given], at, dtype, "stack", casting)


def _raised(ctx: Context, given: Sequence[ArrayArgument], rank: int) -> list[ArrayArgument]:
    """The arrays with at least `rank` axes, as `atleast_nd` gives them."""
    made = []
    for g in given:
        shape = g.shape
        if len(shape) == 0:
            shape = (1,) * rank
        elif len(shape) == 1 and rank > 1:
            shape = (1, *shape) if rank == 2 else (1, *shape, 1)
        elif len(shape) == 2 and rank == 3:
            shape = (*shape, 1)
        made.append(reshaped_argument(ctx, g, shape))
    return made


@twins(np.hstack, jnp.hstack, delegates=False)
def hstack(
    ctx: Context, rules: Rules, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind"
) -> Abstract:
    """Side by side: along the second axis, vectors along their only one."""
    given = _raised(ctx, arrays_of(ctx, rules, tup, "hstack"), 1)
    return joined(ctx, rules, given, 0 if given[0].rank == 1 else 1, dtype, "hstack", casting)


@twins(np.vstack, jnp.vstack, delegates=False)
def vstack(
    ctx: Context, rules: Rules, tup: Raw, *, dtype: Raw = None, casting: Raw = "same_kind"
) -> Abstract:
    """One below the other: along the first axis, vectors as rows."""
    given = _raised(ctx, arrays_of(ctx, rules, tup, "vstack"), 2)
    return joined(ctx, rules, given, 0, dtype, "vstack", casting)


@twins(np.dstack, jnp.dstack, delegates=False)
def dstack(ctx: Context, rules: Rules, tup: Raw) -> Abstract:
    """One behind the other: along the third axis."""
    return joined(ctx, rules, _raised(ctx, arrays_of(ctx, rules, tup, "dstack"), 3), 2, None, "dstack")


@twins(np.column_stack, jnp.column_stack, delegates=False)
def column_stack(ctx: Context, rules: Rules, tup: Raw) -> Abstract:
    """Vectors as the columns of a matrix."""
    given = [
        g if g.rank > 1 else reshaped_argument(ctx, g, (g.value.type.size, 1))
        for g in arrays_of(ctx, rules, tup, "column_stack")
    ]
    return joined(ctx, rules, given, 1, None, "column_stack")


@twins(np.append, jnp.append, delegates=False)
def append(ctx: Context, rules: Rules, arr: Raw, values: Raw, axis: Raw = None) -> Abstract:
    """A new array: the second after the first, both flat where there is no `axis`."""
    given = [array_argument(ctx, rules, a, "append") for a in (arr, values)]
    if is_none(axis):
        given = [reshaped_argument(ctx, g, (g.value.type.size,)) for g in given]
        return joined(ctx, rules, given, 0, None, "append")
    return joined(ctx, rules, given, axis_of(ctx, axis, given[0].rank, "append"), None, "append")


# ---------------------------------------------------------------- splitting


def _pieces(
    ctx: Context, rules: Rules, ary: Raw, sections: Raw, axis: int, function: str, equal: bool
) -> Abstract:
    shape = shape_known(ctx, rules, ary, function)
    extent = shape[axis]
    given = ctx.known(sections, f"the sections of {function}")
    if np.ndim(given) == 0:
        count = int(given)
        if count == 0 and equal:
            rules.mismatch(ctx, "integer modulo by zero", ZeroDivisionError)
        if count <= 0:
            rules.mismatch(ctx, "number sections must be larger than 0.")
        if equal and extent % count:
            rules.mismatch(ctx, "array split does not result in an equal division")
        each, more = divmod(extent, count)
        sizes = [each + 1] * more + [each] * (count - more)
        bounds = [0, *np.cumsum(sizes).tolist()]
    else:
        bounds = [0, *[int(i) for i in given], extent]
        if rules.is_jax and sorted(bounds) != bounds:
            rules.mismatch(ctx, "sizes passed to split must be nonnegative")
    made: list[Abstract] = []
    for first, last in itertools.pairwise(bounds):
        start, stop, _ = slice(first, last).indices(extent)
        starts = tuple([start if i == axis else 0 for i in range(len(shape))])
        wanted = tuple([max(stop - start, 0) if i == axis else n for i, n in enumerate(shape)])
        made.append(with_views(ctx, rules, ary, (Window(starts, wanted),), function))
    return new_list(ctx, made)


def _split(
    ctx: Context, rules: Rules, ary: Raw, sections: Raw, axis: Raw, function: str, equal: bool
) -> Abstract:
    made = as_array(ctx, rules, ary, function)
    at = axis_of(ctx, axis, len(shape_known(ctx, rules, made, function)), function)
    return _pieces(ctx, rules, made, sections, at, function, equal)


@twins(np.split, jnp.split)
def split(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw, axis: Raw = 0) -> Abstract:
    """A list of views: so many equal parts, or parts between the indices named."""
    return _split(ctx, rules, ary, indices_or_sections, axis, "split", True)


@twins(np.array_split, jnp.array_split)
def array_split(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw, axis: Raw = 0) -> Abstract:
    """As `split`, also into parts of unequal size."""
    return _split(ctx, rules, ary, indices_or_sections, axis, "array_split", False)


def _check_rank(ctx: Context, rules: Rules, ary: Raw, least: int, name: str) -> None:
    """The error for an array of fewer axes than a function splits."""
    if len(shape_known(ctx, rules, ary, name)) < least:
        rules.mismatch(ctx, f"{name} only works on arrays of {least} or more dimensions")


@twins(np.vsplit, jnp.vsplit)
def vsplit(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw) -> Abstract:
    """Split along the first axis."""
    _check_rank(ctx, rules, ary, 2, "vsplit")
    return _split(ctx, rules, ary, indices_or_sections, 0, "vsplit", True)


@twins(np.hsplit, jnp.hsplit)
def hsplit(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw) -> Abstract:
    """Split along the second axis, of a vector along its only one."""
    axis = 1 if len(shape_known(ctx, rules, ary, "hsplit")) > 1 else 0
    return _split(ctx, rules, ary, indices_or_sections, axis, "hsplit", True)


@twins(np.dsplit, jnp.dsplit)
def dsplit(ctx: Context, rules: Rules, ary: Raw, indices_or_sections: Raw) -> Abstract:
    """Split along the third axis."""
    _check_rank(ctx, rules, ary, 3, "dsplit")
    return _split(ctx, rules, ary, indices_or_sections, 2, "dsplit", True)


# ---------------------------------------------------------------- repetition


@twins(np.tile, jnp.tile, delegates=False)
def tile(ctx: Context, rules: Rules, A: Raw, reps: Raw) -> Abstract:
    """The whole array repeated along its axes."""
    given = array_argument(ctx, rules, A, "tile")
    counts = ints(ctx, reps, "reps of tile")
    rank = max(given.rank, len(counts))
    shape = (*[1] * (rank - given.rank), *given.shape)
    counts = (*[1] * (rank - len(counts)), *counts)
    spread = tuple([n for pair in zip(counts, shape) for n in pair])
    value = ctx.reshape(given.value, shape)
    if any(c != 1 for c in counts):
        value = ctx.op(Broadcast(spread, tuple([2 * i + 1 for i in range(rank)])), value)
    whole = tuple([c * n for c, n in zip(counts, shape)])
    return rules.array(ctx, ctx.reshape(value, whole), given.weak)


@twins(np.repeat, jnp.repeat)
def repeat(ctx: Context, rules: Rules, a: Raw, repeats: Raw, axis: Raw = None) -> Abstract:
    """Each element repeated, along an axis or flat; the counts must be known."""
    given = array_argument(ctx, rules, a, "repeat")
    if is_none(axis):
        given = reshaped_argument(ctx, given, (given.value.type.size,))
        at = 0
    else:
        at = axis_of(ctx, axis, given.rank, "repeat")
    shape = given.shape
    if rules.is_jax and is_sequence(ctx, repeats):
        rules.operand(ctx, repeats, "repeat")  # raises
    counts = np.asarray(ctx.known(repeats, "the counts of repeat, and so its size,"))
    if (counts < 0).any():
        rules.mismatch(ctx, "repeats may not contain negative values.")
    if counts.size == 1:
        times = int(counts.reshape(()))
        spread = (*shape[: at + 1], times, *shape[at + 1 :])
        axes = (*range(at + 1), *range(at + 2, len(shape) + 1))
        whole = (*shape[:at], shape[at] * times, *shape[at + 1 :])
        value = ctx.reshape(ctx.op(Broadcast(spread, axes), given.value), whole)
        return rules.array(ctx, value, given.weak)
    if counts.shape != (shape[at],):
        text = f"operands could not be broadcast together with shape ({shape[at]},) {counts.shape}"
        rules.mismatch(ctx, text)
    check_memory(ArrayType(INT64, (sum(map(int, counts)),)))
    positions = np.repeat(np.arange(shape[at]), counts)
    return rules.array(ctx, taken(ctx, given.value, positions, at), given.weak)


def taken(ctx: Context, value: Value, positions: np.ndarray, axis: int) -> Value:
    """The slices at known indices along an axis."""
    indices = ctx.constant(positions, INT64)
    return gather(ctx, value, Fancy((axis,), (indices,), positions.shape, axis, False))


@twins(np.roll, jnp.roll, delegates=False)
def roll(ctx: Context, rules: Rules, a: Raw, shift: Raw, axis: Raw = None) -> Abstract:
    """The elements shifted cyclically along axes; one shift may be staged."""
    given = array_argument(ctx, rules, a, "roll")
    value = given.value
    if is_none(axis):
        value = _rolled(ctx, ctx.reshape(value, (value.type.size,)), shift, 0)
        return rules.array(ctx, ctx.reshape(value, given.shape), given.weak)
    axes = ints(ctx, axis, "the axis of roll")
    shifts = elements(ctx, shift)
    if shifts is None:
        shifts = [shift] * len(axes)
    elif len(axes) == 1:
        axes = axes * len(shifts)
    if len(shifts) != len(axes):
        rules.mismatch(ctx, "'shift' and 'axis' should be scalars or 1D sequences")
    for each, by in zip(axes, shifts):
        value = _rolled(ctx, value, by, axis_of(ctx, each, given.rank, "roll"))
    return rules.array(ctx, value, given.weak)


def _rolled(ctx: Context, value: Value, shift: Raw, axis: int) -> Value:
    shape = value.type.static_shape
    extent = shape[axis]
    if extent <= 1 or value.type.size == 0:
        return value
    if isinstance(shift, Array):
        twice = ctx.op(Concatenate(axis), value, value)
        start = _modulo(ctx, ctx.op(Negate(), ctx.convert(ctx.reshape(shift.value, ()), INT64)), extent)
        zero = ctx.constant(0, INT64)
        return ctx.op(DynamicSlice(shape), twice, *[start if i == axis else zero for i in range(len(shape))])
    by = integer(ctx, shift, "the shift of roll") % extent
    if by == 0:
        return value
    return ctx.op(
        Concatenate(axis),
        part(ctx, value, axis, extent - by, extent),
        part(ctx, value, axis, 0, extent - by),
    )


def _modulo(ctx: Context, value: Value, extent: int) -> Value:
    """`value % extent`, from 0 on."""
    rest = ctx.op(Remainder(), value, ctx.constant(extent, INT64))
    negative = ctx.op(Compare("LT"), rest, ctx.constant(0, INT64))
    return ctx.op(Select(), negative, ctx.op(Add(), rest, ctx.constant(extent, INT64)), rest)


def part(ctx: Context, value: Value, axis: int, start: int, stop: int) -> Value:
    """The elements from `start` to before `stop` along an axis."""
    shape = value.type.static_shape
    starts = tuple([start if i == axis else 0 for i in range(len(shape))])
    sizes = tuple([stop - start if i == axis else n for i, n in enumerate(shape)])
    return Window(starts, sizes).read(ctx.b, value)
