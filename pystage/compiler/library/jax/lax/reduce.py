"""`jax.lax`: reductions, windows, and sorting.

A reduction with a reducer of lax and its neutral element is a plain HLO reduction; any other reducer is staged on
scalars into the region of the operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from .... import ops
from ....diagnostics.codes_jax import BadControlFlow, StructureDiffers
from ....diagnostics.codes_types import ArgumentNotStaged, BadAxis, NoSuchOperation, ShapeMismatch
from ....hlo.ir import Region, Value
from ....hlo.op import HloOp
from ....hlo.types import (
    BOOL,
    DType,
    ShapeError,
    is_complex,
    is_floating,
)
from ....ops.reductions.reduce import STANDARD
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, Tuple
from ...context import Context, Raw
from ...registry import meaning
from ...rules.jax import all_weak, axis_of, canonical, checked, integer, ints, items, jax_array, optional_ints
from ..loop_carries import tree_text
from ..pytrees import flatten, unflatten
from ..traced_calls import jax_call
from .elementwise import LOGICAL, NUMBERS, same_dtypes
from .products import padding_of

MONOIDS: dict[Any, HloOp] = {
    lax.add: ops.Add(),
    lax.mul: ops.Multiply(),
    lax.max: ops.Maximum(),
    lax.min: ops.Minimum(),
    lax.bitwise_and: ops.And(),
    lax.bitwise_or: ops.Or(),
    lax.bitwise_xor: ops.Xor(),
}
"""What lax recognises as a monoid, together with its neutral element."""


@functools.cache
def neutral(op: HloOp, dtype: DType) -> Any:
    """The neutral element of `op`."""
    match op:
        case ops.Add() | ops.Or() | ops.Xor():
            return dtype.type(0)
        case ops.Multiply():
            return dtype.type(1)
        case ops.And():
            return np.array(-1).astype(dtype)[()]
        case ops.Maximum() | ops.Minimum():
            return _least(dtype) if isinstance(op, ops.Maximum) else _greatest(dtype)
    raise TypeError(f"{op} has no neutral element")


def _least(dtype: DType) -> Any:
    if is_floating(dtype):
        return dtype.type(-np.inf)
    return dtype.type(False) if dtype == BOOL else dtype.type(np.iinfo(dtype).min)  # type: ignore[type-var]


def _greatest(dtype: DType) -> Any:
    if is_floating(dtype):
        return dtype.type(np.inf)
    return dtype.type(True) if dtype == BOOL else dtype.type(np.iinfo(dtype).max)  # type: ignore[type-var]


def reduced(ctx: Context, op: HloOp, array: Array, axes: tuple[int, ...]) -> Value:
    """The reduction of all elements along `axes`, from the neutral element on."""
    start = ctx.constant(neutral(op, array.dtype), array.dtype)
    return checked(ctx, ops.Reduce(op, axes), array.value, start)


def _axes(ctx: Context, raw: Raw, rank: int, function: str) -> tuple[int, ...]:
    """Axes counted from the front, as these functions ask for them."""
    axes = ints(ctx, raw, f"the axes of {function}")
    if any(not 0 <= a < rank for a in axes) or len(set(axes)) != len(axes):
        ctx.fail(BadAxis(span=ctx.span, function=function, axis=str(axes), rank=rank))
    return axes


def _named(function: Any, op: HloOp, dtypes: frozenset[DType]) -> Callable[..., Abstract]:
    name = f"lax.{function.__name__}"

    def reduce_named(ctx: Context, operand: Raw, axes: Raw) -> Abstract:
        array = jax_array(ctx, operand, name)
        chosen = _axes(ctx, axes, array.rank, name)
        if is_complex(array.dtype) and isinstance(op, ops.Maximum | ops.Minimum):
            return jax_call(ctx, function, [array, chosen])
        if array.dtype not in dtypes:
            ctx.fail(NoSuchOperation(span=ctx.span, operation=name, types=str(array.type)))
        return ctx.jax(reduced(ctx, op, array, chosen), array.weak)

    return reduce_named


for _function, _op, _dtypes in (
    (lax.reduce_sum, ops.Add(), NUMBERS),
    (lax.reduce_prod, ops.Multiply(), NUMBERS),
    (lax.reduce_max, ops.Maximum(), NUMBERS | LOGICAL),
    (lax.reduce_min, ops.Minimum(), NUMBERS | LOGICAL),
    (lax.reduce_and, ops.And(), LOGICAL),
    (lax.reduce_or, ops.Or(), LOGICAL),
    (lax.reduce_xor, ops.Xor(), LOGICAL),
):
    meaning(_function)(_named(_function, _op, _dtypes))


# ---------------------------------------------------------------- with a function


def _monoid(ctx: Context, computation: Raw, start: Raw) -> HloOp | None:
    """The operation, if the function is a monoid of lax's and `start`, known now, its neutral element."""
    if not isinstance(computation, Const):
        return None
    try:
        op = MONOIDS.get(computation.value)
    except TypeError:  # unhashable
        return None
    if op is None or not isinstance(start, Const):
        return None
    dtype = canonical(np.asarray(start.value).dtype, ctx.x64)
    if isinstance(op, ops.Maximum | ops.Minimum) and is_complex(dtype):
        return None
    return op if bool(np.equal(start.value, neutral(op, dtype))) else None


def _scalar_region(
    ctx: Context, computation: Abstract, starts: list[Array], tree: Any
) -> tuple[Region, list[Array]]:
    """The function of two scalars (or two trees of them) as a region, and its results."""
    types = [s.type for s in starts]
    region = Region(tuple(types * 2))
    with ctx.b.region(region), ctx.state.fork():
        params = [ctx.jax(p, s.weak) for p, s in zip(region.params, starts * 2, strict=True)]
        first, second = params[: len(starts)], params[len(starts) :]
        made = ctx.call(computation, [unflatten(ctx, tree, first), unflatten(ctx, tree, second)])
        leaves, out_tree = flatten(ctx, made)
        if out_tree != tree:
            ctx.fail(
                StructureDiffers(
                    span=ctx.span,
                    function="a reduction",
                    first="the operands",
                    second="the result of the function",
                    structures=f"{tree_text(tree)} and {tree_text(out_tree)}",
                )
            )
        results = [jax_array(ctx, leaf, "a reduction") for leaf in leaves]
        region.results = tuple([r.value for r in results])
    return region, results


@meaning(lax.reduce)
def reduce(ctx: Context, operands: Raw, init_values: Raw, computation: Raw, dimensions: Raw) -> Abstract:
    """All elements along `dimensions` combined with a function of two scalars, or of two trees of them."""
    leaves, tree = flatten(ctx, operands)
    starts, start_tree = flatten(ctx, init_values)
    arrays = [jax_array(ctx, leaf, "lax.reduce") for leaf in leaves]
    if tree != start_tree or not arrays:
        text = "lax.reduce: operands and initial values must have one structure"
        ctx.fail(BadControlFlow(span=ctx.span, text=text))
    axes = _axes(ctx, dimensions, arrays[0].rank, "lax.reduce")
    first = [jax_array(ctx, start, "lax.reduce") for start in starts]
    op = _monoid(ctx, computation, starts[0]) if len(arrays) == 1 else None
    if op is not None:
        weak = all_weak([*arrays, *first])
        return unflatten(ctx, tree, [ctx.jax(reduced(ctx, op, arrays[0], axes), weak)])
    region, results = _scalar_region(ctx, computation, first, tree)
    values = [*[a.value for a in arrays], *[s.value for s in first]]
    try:
        made = ctx.b.apply(ops.ReduceWith(axes), values, [region]).results
    except ShapeError as error:
        ctx.fail(ShapeMismatch(span=ctx.span, text=f"lax.reduce: {error}"))
    weak_flags = [a.weak and r.weak for a, r in zip(arrays, results, strict=True)]
    return unflatten(ctx, tree, [ctx.jax(v, w) for v, w in zip(made, weak_flags, strict=True)])


@meaning(lax.reduce_window)
def reduce_window(
    ctx: Context,
    operand: Raw,
    init_value: Raw,
    computation: Raw,
    window_dimensions: Raw,
    window_strides: Raw = None,
    padding: Raw = "VALID",
    base_dilation: Raw = None,
    window_dilation: Raw = None,
) -> Abstract:
    """Each window of one array combined with a function of two scalars."""
    name = "lax.reduce_window"
    array = jax_array(ctx, operand, name)
    window = ints(ctx, window_dimensions, f"the window of {name}")
    strides = optional_ints(ctx, window_strides, f"the strides of {name}")
    base = optional_ints(ctx, base_dilation, f"base_dilation of {name}") or ()
    spread = optional_ints(ctx, window_dilation, f"window_dilation of {name}") or ()
    pads = ctx.known(padding, f"the padding of {name}")
    if isinstance(pads, str):
        reach = [(n - 1) * d + 1 for n, d in zip(window, spread or (1,) * len(window), strict=True)]
        pads = padding_of(ctx, array.shape, reach, strides or (), pads)
    start = init_value if isinstance(init_value, Abstract) else Const(init_value)
    if isinstance(start, Array) and start.form is Form.PYTHON and start.dtype != array.dtype:
        start = Const(
            ctx.known(start, f"the first value of {name}")
        )  # JAX looks at a number before it asks for its type
    op = _monoid(ctx, computation, start)
    plain = isinstance(op, ops.Add | ops.Maximum | ops.Minimum)
    if plain:
        assert op is not None
        first = ctx.jax(ctx.constant(neutral(op, array.dtype), array.dtype))
    else:
        first = jax_array(ctx, start, name)
        same_dtypes(ctx, name, [array, first])
        op = _one_operation(ctx, computation, first)
    pairs = tuple([(int(low), int(high)) for low, high in pads])
    made = ops.ReduceWindow(op, window, strides or (1,) * len(window), pairs, base, spread)
    return ctx.jax(checked(ctx, made, array.value, first.value), array.weak and plain)


def _one_operation(ctx: Context, computation: Abstract, start: Array) -> HloOp:
    """The one operation that a function of two scalars consists of; PS203 where it is more."""
    tree = flatten(ctx, Const(0))[1]
    region, _ = _scalar_region(ctx, computation, [ctx.jax(start.value, start.weak)], tree)
    while len(region.ops) == 1 and region.results == region.ops[0].results:
        (op,) = region.ops
        if set(op.operands) != set(region.params):
            break
        if isinstance(op.kind, STANDARD):
            return op.kind
        if not isinstance(op.kind, ops.Call):
            break
        region = op.kind.function.body
    ctx.fail(
        ArgumentNotStaged(
            span=ctx.span,
            function="jax.lax.reduce_window",
            argument="computation, which is more than one operation like lax.max",
        )
    )


# ---------------------------------------------------------------- order


@meaning(lax.sort)
def sort(
    ctx: Context, operand: Raw, dimension: Raw = -1, is_stable: Raw = True, num_keys: Raw = 1
) -> Abstract:
    """One array sorted along an axis, or several reordered alike by the first `num_keys` of them."""
    single = isinstance(operand, Array) or ctx.is_ndarray(operand)
    listed = [operand] if single else items(ctx, operand, "lax.sort")
    arrays = [jax_array(ctx, item, "lax.sort") for item in listed]
    keys = integer(ctx, num_keys, "num_keys of lax.sort")
    if not arrays or not 1 <= keys <= len(arrays):
        ctx.fail(ShapeMismatch(span=ctx.span, text=f"lax.sort: {keys} keys of {len(arrays)} arrays"))
    axis = axis_of(ctx, dimension, arrays[0].rank, "lax.sort")
    op = ops.Sort(axis, bool(ctx.known(is_stable, "is_stable of lax.sort")), keys)
    try:
        values = ctx.b.ops(op, *[a.value for a in arrays])
    except ShapeError as error:
        ctx.fail(ShapeMismatch(span=ctx.span, text=f"lax.sort: {error}"))
    results = [ctx.jax(v, a.weak) for v, a in zip(values, arrays, strict=True)]
    return results[0] if single else Tuple(tuple(results))
