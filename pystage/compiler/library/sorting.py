"""Sorting and order statistics.

XLA's sort is stable and puts NaN last. Where NumPy's `argsort` is not asked to be stable, it may order equal
elements otherwise.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from ..diagnostics.codes_types import ArgumentNotStaged, NoSuchOperation
from ..hlo.ir import Value
from ..hlo.types import INT64, ArrayType, DType, is_complex, is_floating
from ..ops import (
    Add,
    Broadcast,
    Compare,
    Divide,
    Floor,
    Iota,
    Minimum,
    Multiply,
    Select,
    Sort,
    Subtract,
    Transpose,
)
from ..values.boundary import Form
from ..values.lattice import Abstract
from .context import Context, Raw
from .creation import filled
from .gathering import Fancy, gather
from .jaxtail import jax_call
from .jaxvalues import axes_of, axis_of, is_none
from .joining import part
from .nesting import is_sequence, nested
from .reducing import reduced_shape
from .rules import Rules, twins


def is_nan(ctx: Context, value: Value) -> Value:
    """Where a value is NaN."""
    return ctx.op(Compare("NE"), value, value)


def _check(ctx: Context, order: Raw, function: str) -> None:
    if not is_none(order):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=function, argument="order"))


def _line(ctx: Context, rules: Rules, a: Raw, axis: Raw, function: str) -> tuple[Value, int, bool]:
    """The array and the axis to sort along; all elements in one line where the axis is None."""
    given = rules.operand(ctx, a, function) if rules.is_jax else nested(ctx, rules, a, function)
    if is_none(axis) or ctx.known(axis, f"the axis of {function}") is None:
        return ctx.reshape(given.value, (given.value.type.size,)), 0, given.weak
    if not given.rank:
        if function == "sort" or rules.is_jax:
            rules.mismatch(ctx, "axis -1 is out of bounds for array of dimension 0", np.exceptions.AxisError)
        return ctx.reshape(given.value, (1,)), 0, given.weak
    return given.value, axis_of(ctx, axis, given.rank, function), given.weak


def _sorted_by(ctx: Context, axis: int, keys: int, *values: Value) -> tuple[Value, ...]:
    return ctx.b.ops(Sort(axis, True, keys), *values)


@twins(np.sort, jnp.sort, delegates=False)
def sort(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = -1,
    kind: Raw = None,
    order: Raw = None,
    *,
    stable: Raw = None,
    descending: Raw = False,
) -> Abstract:
    """A sorted copy."""
    _check(ctx, order, "sort")
    if rules.is_jax and ctx.known(descending, "descending of sort"):
        return jax_call(ctx, jnp.sort, [a], {"axis": axis, "descending": True})
    value, at, weak = _line(ctx, rules, a, axis, "sort")
    return rules.array(ctx, _sorted_by(ctx, at, 1, value)[0], weak)


@twins(np.argsort, jnp.argsort, delegates=False)
def argsort(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = -1,
    kind: Raw = None,
    order: Raw = None,
    *,
    stable: Raw = None,
    descending: Raw = False,
) -> Abstract:
    """The places of the elements in ascending order; equal ones in the order in which they stand."""
    _check(ctx, order, "argsort")
    if rules.is_jax and ctx.known(descending, "descending of argsort"):
        return jax_call(ctx, jnp.argsort, [a], {"axis": axis, "descending": True})
    value, at, _ = _line(ctx, rules, a, axis, "argsort")
    places = ctx.op(Iota(ArrayType(rules.index_dtype(ctx), value.type.shape), at))
    return rules.array(ctx, _sorted_by(ctx, at, 1, value, places)[1])


@twins(np.partition, None, delegates=False)
def partition(
    ctx: Context, rules: Rules, a: Raw, kth: Raw, axis: Raw = -1, kind: Raw = "introselect", order: Raw = None
) -> Abstract:
    """A copy whose `kth` element stands where it does when sorted; here all do."""
    _check(ctx, order, "partition")
    ctx.known(kth, "kth of partition")
    value, at, weak = _line(ctx, rules, a, axis, "partition")
    return rules.array(ctx, _sorted_by(ctx, at, 1, value)[0], weak)


@twins(np.lexsort, None, delegates=False)
def lexsort(ctx: Context, rules: Rules, keys: Raw, axis: Raw = -1) -> Abstract:
    """The places in ascending order of the last key, then the one before, and so on."""
    listed = ctx.iterate(keys)
    if not listed:
        ctx.raise_(TypeError("need sequence of keys with len > 0 in lexsort"))
    values = [nested(ctx, rules, k, "lexsort").value for k in listed][::-1]
    at = axis_of(ctx, axis, values[0].type.rank, "lexsort")
    if any(v.type.shape != values[0].type.shape for v in values):
        ctx.raise_(ValueError("all keys need to be the same shape"))
    places = ctx.op(Iota(ArrayType(INT64, values[0].type.shape), at))
    return rules.array(ctx, _sorted_by(ctx, at, len(values), *values, places)[-1])


# ---------------------------------------------------------------- order statistics


def _lines(
    ctx: Context, rules: Rules, a: Raw, axis: Raw, keepdims: Raw, function: str
) -> tuple[Value, tuple[int, ...]]:
    """The elements of each result sorted along a last axis, and the shape of the results."""
    given = nested(ctx, rules, a, function)
    shape = given.shape
    axes = tuple(range(given.rank)) if is_none(axis) else axes_of(ctx, axis, given.rank, function)
    if is_complex(given.dtype):
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"np.{function}", types=str(given.dtype)))
    kept = [i for i in range(given.rank) if i not in axes]
    order = (*kept, *axes)
    value = given.value if order == tuple(range(given.rank)) else ctx.op(Transpose(order), given.value)
    size = int(np.prod([shape[i] for i in axes], dtype=np.int64))
    value = ctx.reshape(value, (*[shape[i] for i in kept], size))
    keep = bool(ctx.known(keepdims, f"keepdims of {function}"))
    return _sorted_by(ctx, len(kept), 1, value)[0], reduced_shape(shape, axes, keep)


def _last(ctx: Context, value: Value, index: int) -> Value:
    """One place of the last axis, without it."""
    shape = value.type.static_shape
    return ctx.reshape(part(ctx, value, len(shape) - 1, index, index + 1), shape[:-1])


@twins(np.median, None, delegates=False)
def median(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = None,
    out: Raw = None,
    overwrite_input: Raw = False,
    keepdims: Raw = False,
) -> Abstract:
    """The middle element, or the mean of the two in the middle; NaN if there is one."""
    lines, shape = _lines(ctx, rules, a, axis, keepdims, "median")
    size = lines.type.static_shape[-1]
    dtype = rules.inexact(ctx, lines.type.dtype)
    if size == 0:
        return rules.result(ctx, filled(ctx, np.nan, shape, dtype))
    ends = [ctx.convert(_last(ctx, lines, i), dtype) for i in ((size - 1) // 2, size // 2)]
    middle = ends[0]
    if size % 2 == 0:
        two = filled(ctx, 2, middle.type.static_shape, dtype)
        middle = ctx.op(Divide(), ctx.op(Add(), *ends), two)
    if is_floating(lines.type.dtype):
        last = _last(ctx, lines, size - 1)
        middle = ctx.op(Select(), is_nan(ctx, last), last, middle)
    return rules.result(ctx, ctx.reshape(middle, shape))


def _quantile(
    name: str, ctx: Context, rules: Rules, a: Raw, q: Raw, axis: Raw, method: Raw, keepdims: Raw
) -> Abstract:
    """quantile and percentile by linear interpolation."""
    if ctx.known(method, f"the method of {name}") != "linear":
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"np.{name}", argument="method"))
    lines, shape = _lines(ctx, rules, a, axis, keepdims, name)
    given = nested(ctx, rules, q, name)
    own = lines.type.dtype
    weak = given.form is Form.PYTHON and not is_sequence(ctx, q) and is_floating(own)
    dtype: DType = own if weak else np.result_type(given.dtype, np.float16)
    dtype = dtype if weak else rules.inexact(ctx, given.dtype)
    fractions = ctx.convert(given.value, dtype)
    if name == "percentile":
        fractions = ctx.op(Divide(), fractions, filled(ctx, 100, given.shape, dtype))
    wanted = np.result_type(rules.inexact(ctx, own), dtype)
    result = _interpolated(ctx, lines, ctx.convert(fractions, wanted), wanted)
    return rules.result(ctx, ctx.reshape(result, (*given.shape, *shape)))


def _interpolated(ctx: Context, lines: Value, fractions: Value, dtype: DType) -> Value:
    """The values at fractions of sorted lines, by linear interpolation between neighbours."""
    *rest, size = lines.type.static_shape
    shape = fractions.type.static_shape
    at = ctx.op(Multiply(), fractions, filled(ctx, size - 1, shape, fractions.type.dtype))
    low = ctx.op(Floor(), at)
    share = ctx.op(Subtract(), at, low)
    first = ctx.convert(low, INT64)
    second = ctx.op(
        Minimum(), ctx.op(Add(), first, filled(ctx, 1, shape, INT64)), filled(ctx, size - 1, shape, INT64)
    )
    a, b = [
        ctx.convert(gather(ctx, lines, Fancy((len(rest),), (i,), shape, 0, False)), dtype)
        for i in (first, second)
    ]
    whole = (*shape, *rest)
    t = ctx.convert(ctx.op(Broadcast(whole, tuple(range(len(shape)))), share), dtype)
    step = ctx.op(Subtract(), b, a)
    up = ctx.op(Add(), a, ctx.op(Multiply(), step, t))
    down = ctx.op(
        Subtract(), b, ctx.op(Multiply(), step, ctx.op(Subtract(), filled(ctx, 1, whole, dtype), t))
    )
    result = ctx.op(Select(), ctx.op(Compare("GE"), t, filled(ctx, 0.5, whole, dtype)), down, up)
    if not is_floating(lines.type.dtype):
        return result
    last = ctx.broadcast(_last(ctx, lines, size - 1), whole)
    return ctx.op(Select(), is_nan(ctx, last), ctx.convert(last, dtype), result)


@twins(np.quantile, None, delegates=False)
def quantile(
    ctx: Context,
    rules: Rules,
    a: Raw,
    q: Raw,
    axis: Raw = None,
    out: Raw = None,
    overwrite_input: Raw = False,
    method: Raw = "linear",
    keepdims: Raw = False,
) -> Abstract:
    """The values below which the fractions `q` of the elements lie."""
    return _quantile("quantile", ctx, rules, a, q, axis, method, keepdims)


@twins(np.percentile, None, delegates=False)
def percentile(
    ctx: Context,
    rules: Rules,
    a: Raw,
    q: Raw,
    axis: Raw = None,
    out: Raw = None,
    overwrite_input: Raw = False,
    method: Raw = "linear",
    keepdims: Raw = False,
) -> Abstract:
    """As `quantile`, with `q` in percent."""
    return _quantile("percentile", ctx, rules, a, q, axis, method, keepdims)
