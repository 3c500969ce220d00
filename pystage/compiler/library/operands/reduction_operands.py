"""Operands of reductions: their elements, axes and element type.

In: an array argument with `axis`, `keepdims` and `where`, or the elements that a mask selects. Out: a
`ReductionOperand`, whose elements `reduce` combines. Masked elements are replaced by the neutral element.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....records import dataclass
from ...hlo.ir import Value
from ...hlo.op import HloOp
from ...hlo.types import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT64, DType, is_floating
from ...ops import Add, And, Broadcast, Compare, Maximum, Minimum, Multiply, Or, Reduce, Select
from ...values.bounded import Bounded, Extent
from ...values.lattice import Abstract, Const
from ..context import Context, Raw
from ..interfaces.operations import Operations
from ..numpy.indexing.bounded import belonging, bounded, with_masks
from ..numpy.indexing.bounded import where as mask_of
from ..numpy.indexing.bounded_operands import beside
from ..rules.jax import axes_of, is_none
from .libraries import Rules


@dataclass(frozen=True, slots=True)
class ReductionOperand:
    """The operand of a reduction: an array, the axes to reduce, and a mask of its shape where not all elements count.

    `shape` is the result's shape, in which reduced axes may be kept as axes of one element; `bounded` are its bounded axes.
    `from_zero`: a sum begins with 0.0, as NumPy's do, also that of one element or of arrays that are stacked; XLA (and so
    JAX) takes such a sum for the element, which may be -0.0, or for the sum of the arrays.
    """

    value: Value
    axes: tuple[int, ...]
    where: Value | None
    shape: tuple[int, ...]
    from_zero: bool = False
    bounded: tuple[Extent, ...] = ()

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.value.type.dtype

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of the array before it is reduced."""
        return self.value.type.shape

    @property
    def count(self) -> int:
        """The number of elements combined into one, if all count."""
        return int(np.prod([self.extents[a] for a in self.axes], dtype=np.int64))

    def of(self, value: Value) -> ReductionOperand:
        """The same reduction of other elements of the same shape."""
        return replace(self, value=value)


def source(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw,
    keepdims: Raw,
    name: str,
    where: Raw = True,
    ordered: bool = False,
) -> ReductionOperand:
    """The elements and axes of a reduction; `AxisProblem` for an axis that is not there.

    With `ordered`, the elements of a bounded array are in order: those that count come first.
    """
    keep = bool(ctx.known(keepdims, f"keepdims of {name}"))
    if isinstance(a, Bounded):
        return _bounded_source(ctx, rules, a, axis, keep, name, where, ordered)
    value = rules.operand(ctx, a, name).value
    axes = _axes(ctx, axis, value.type.rank, name)
    mask = None
    if not _is_everywhere(where):
        read = rules.operand(ctx, where, f"where of {name}")
        mask = ctx.broadcast(ctx.convert(read.value, BOOL), value.type.shape)
    shape = reduced_shape(value.type.shape, axes, keep)
    return ReductionOperand(value, axes, mask, shape, from_zero=not rules.is_jax)


def _axes(ctx: Context, axis: Raw, rank: int, name: str) -> tuple[int, ...]:
    if is_none(axis):
        return tuple(range(rank))
    given = ctx.known(axis, f"the axis of {name}")
    if given is None:
        return tuple(range(rank))
    if isinstance(given, float | np.floating):
        ctx.raise_(TypeError("integer argument expected, got float"))
    if rank == 0 and given in (0, -1):  # NumPy takes a scalar as one axis here
        return ()
    return tuple(sorted(axes_of(ctx, given, rank, name, repeated="duplicate value in 'axis'")))


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    """The shape of the result of the reduction."""
    if keep:
        return tuple([1 if i in axes else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def _is_everywhere(given: Raw) -> bool:
    return given is True or (isinstance(given, Const) and given.value is True)


def _bounded_source(
    ctx: Context, rules: Rules, a: Bounded, axis: Raw, keep: bool, name: str, where: Raw, ordered: bool
) -> ReductionOperand:
    """The operand for a bounded array: a mask of the elements that belong to it along the reduced axes; other axes stay
    bounded.
    """
    axes = _axes(ctx, axis, a.rank, name)
    if not ordered and _is_everywhere(where) and all(e.axis in axes for e in a.extents):
        a = with_masks(ctx, a)
    reduced = [e for e in a.extents if e.axis in axes]
    mask = mask_of(ctx, a, reduced) if reduced else None
    if not _is_everywhere(where):
        given = beside(ctx, f"where of {name}", np.broadcast_to, a, where)
        chosen = ctx.broadcast(
            ctx.convert(rules.operand(ctx, given, f"where of {name}").value, BOOL), a.type.shape
        )
        mask = chosen if mask is None else ctx.op(And(), mask, chosen)
    kept = tuple(
        [
            replace(e, axis=e.axis if keep else e.axis - sum([r < e.axis for r in axes]))
            for e in a.extents
            if e.axis not in axes
        ]
    )
    shape = reduced_shape(a.type.shape, axes, keep)
    return ReductionOperand(belonging(ctx, a), axes, mask, shape, from_zero=not rules.is_jax, bounded=kept)


def reduced(ctx: Context, rules: Rules, of: ReductionOperand, value: Value) -> Abstract:
    """The result of a reduction: `value`, bounded along the bounded axes that were not reduced."""
    if not of.bounded:
        return rules.result(ctx, value)
    return bounded(ctx, ctx.jax(value) if rules.is_jax else ctx.ndarray(value), of.bounded)


# ---------------------------------------------------------------- combining


STACKED = 32
"""The largest number of elements of a sum that may be one of each of several arrays."""


def neutral(combine: HloOp, dtype: DType) -> object:
    """The neutral element of the reduction."""
    match combine:
        case Add() | Or():
            return 0
        case Multiply() | And():
            return 1
    if dtype == BOOL:
        return isinstance(combine, Minimum)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)  # type: ignore[type-var]
        return info.max if isinstance(combine, Minimum) else info.min
    return np.inf if isinstance(combine, Minimum) else -np.inf


def reduce(ctx: Operations, combine: HloOp, of: ReductionOperand, initial: Value | None = None) -> Value:
    """The reduction of all elements that count, from `initial` on."""
    value = of.value
    unit = ctx.constant(neutral(combine, of.dtype), of.dtype)
    from_zero = of.from_zero and isinstance(combine, Add) and of.dtype.kind in "fcV" and of.count <= STACKED
    if of.where is not None:
        value = ctx.op(Select(), of.where, value, ctx.broadcast(unit, of.extents))
    if of.axes:
        value = ctx.op(Reduce(combine, of.axes), value, unit)
    if from_zero and initial is None:
        value = ctx.op(Add(), ctx.broadcast(unit, value.type.shape), value)
    if initial is not None:
        # XLA takes what a `Reduce` begins with for neutral: it leaves it out over axes of one element.
        value = ctx.op(combine, ctx.broadcast(initial, value.type.shape), value)
    return ctx.reshape(value, of.shape)


def total(ctx: Operations, of: ReductionOperand, initial: Value | None = None) -> Value:
    """The sum; 16-bit floats are summed in 32 bits."""
    return _wide(ctx, Add(), of, initial)


def product(ctx: Operations, of: ReductionOperand, initial: Value | None = None) -> Value:
    """The product; 16-bit floats are multiplied in 32 bits."""
    return _wide(ctx, Multiply(), of, initial)


def _wide(ctx: Operations, combine: HloOp, of: ReductionOperand, initial: Value | None) -> Value:
    wide = wider(of.dtype)
    start = None if initial is None else ctx.convert(initial, wide)
    return ctx.convert(reduce(ctx, combine, of.of(ctx.convert(of.value, wide)), start), of.dtype)


def wider(dtype: DType) -> DType:
    """The type in which sums of `dtype` are computed."""
    return FLOAT32 if dtype in (FLOAT16, BFLOAT16) else dtype


def counted(ctx: Operations, of: ReductionOperand, dtype: DType) -> Value:
    """The number of elements that count, in the shape of the result."""
    if of.where is None:
        return ctx.broadcast(ctx.constant(of.count, dtype), of.shape)
    ones = ReductionOperand(ctx.convert(of.where, INT64), of.axes, None, of.shape)
    return ctx.convert(reduce(ctx, Add(), ones), dtype)


def not_zero(ctx: Operations, value: Value) -> Value:
    """Where `value` is not zero, as booleans."""
    if value.type.dtype == BOOL:
        return value
    zero = ctx.broadcast(ctx.constant(0, value.type.dtype), value.type.shape)
    return ctx.op(Compare("NE"), value, zero)


def without_nan(ctx: Operations, of: ReductionOperand) -> ReductionOperand:
    """The operand without NaN elements; integers have none."""
    if not (is_floating(of.dtype) or of.dtype.kind == "c"):
        return of
    number = ctx.op(Compare("EQ"), of.value, of.value)
    where = number if of.where is None else ctx.op(And(), number, of.where)
    return replace(of, where=where)


def spread_back(ctx: Operations, value: Value, of: ReductionOperand) -> Value:
    """A reduced value broadcast to the shape of the operand."""
    kept = tuple([i for i in range(len(of.extents)) if i not in of.axes])
    flat = ctx.reshape(value, tuple([of.extents[i] for i in kept]))
    return ctx.op(Broadcast(of.extents, kept), flat)


EXTREMA: dict[str, HloOp] = {"max": Maximum(), "min": Minimum()}
