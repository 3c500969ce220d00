"""Products of slices of dynamic length: `a[i, :j] @ b[:j]`.

In: two operands, vectors or matrices, at least one a selection along one axis. Out: the product of the whole arrays,
with zeros for masked elements of a summed axis; a selected axis that is not summed stays a selection in the product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from ....hlo.ir import Value
from ....ops import Select
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const
from ...context import Context, Raw
from ..indexing.masks import Masked, aligned, check_counts, from_zero, refuse, sample, spread


@dataclass(slots=True)
class _Operand:
    """An operand of a product: its elements, and the axis along which they are selected."""

    value: Value
    weak: bool
    selection: Masked | None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.type.static_shape


def of_selections(ctx: Context, function: str, a: Raw, b: Raw) -> Abstract | None:
    """`np.dot`, `np.matmul`, `np.inner` or `np.vdot` of these; None if neither is a selection."""
    if not isinstance(a, Masked) and not isinstance(b, Masked):
        return None
    left, right = [_operand(ctx, x) for x in (a, b)]
    ranks = len(left.shape), len(right.shape)
    most = {"vdot": 1, "inner": 1}.get(function, 2)
    if not all(1 <= rank <= most for rank in ranks) or any(
        o.selection is not None and o.selection.mask.type.rank > 1 for o in (left, right)
    ):
        refuse(ctx, f"np.{function}", a, b)
    summed = ranks[0] - 1, max(ranks[1] - 2, 0)
    ours, theirs = [_along(o, axis) for o, axis in zip((left, right), summed)]
    free = [o.selection for o, own in zip((left, right), (ours, theirs)) if o.selection is not own]
    kept = [s for s in free if s is not None]
    if len(kept) > 1:
        refuse(ctx, f"np.{function} of two selections of rows or columns", a, b)
    first = ours or theirs
    if first is not None:
        _select(ctx, function, left, right, summed, first, (a, b))
    jax = any(isinstance(x, Array | Masked) and x.form is Form.JAX for x in (a, b))
    wholes = [ctx.jax(o.value, o.weak) if jax else ctx.ndarray(o.value) for o in (left, right)]
    made = ctx.call(Const(getattr(jnp if jax else np, function)), wholes)
    if not kept:
        return made
    read = ctx.read(made)
    assert isinstance(read, Array)
    axis = 0 if left.selection is kept[0] else read.rank - 1
    return kept[0].of(read if jax else ctx.ndarray(read.value), read.type, axis)


def _operand(ctx: Context, x: Raw) -> _Operand:
    if isinstance(x, Masked):
        return _Operand(x.elements(ctx), x.weak, x)
    read = ctx.read(x)
    if isinstance(read, Const):
        refuse(ctx, "a product with a number")
    return _Operand(read.value, read.weak, None)


def _along(operand: _Operand, axis: int) -> Masked | None:
    """The selection of an operand, if it is along the axis that is summed."""
    selection = operand.selection
    return selection if selection is not None and selection.axis == axis else None


def _select(
    ctx: Context,
    function: str,
    left: _Operand,
    right: _Operand,
    summed: tuple[int, int],
    first: Masked,
    given: tuple[Raw, Raw],
) -> None:
    """Puts the operands beside each other along the axes that are summed, with zeros for what is not selected."""
    parts = [_SelectedOperand(o, axis, _along(o, axis)) for o, axis in zip((left, right), summed)]
    positions = [from_zero(ctx, p.extent) if p.own is None else p.own.positions for p in parts]
    if not all(part.is_beside(first) for part in parts):
        ours, theirs = positions
        if ours is None or theirs is None or first.positions is None:
            refuse(ctx, f"np.{function} of elements that different masks select", *given)
        check_counts(ctx, ours.count, theirs.count, _product_of(function, parts, given), f"np.{function}")
        for part, at in zip(parts, (ours, theirs)):
            value = part.operand.value
            part.operand.value = aligned(ctx, value, part.axis, at, first.positions, first.mask.type.size)
    for part in parts:
        operand = part.operand
        where = spread(ctx, first.mask, operand.shape, part.axis)
        zero = ctx.broadcast(ctx.constant(0, operand.value.type.dtype), operand.shape)
        operand.value = ctx.op(Select(), where, operand.value, zero)


@dataclass(frozen=True, slots=True)
class _SelectedOperand:
    """An operand along the axis that is summed, and the selection along it."""

    operand: _Operand
    axis: int
    own: Masked | None

    @property
    def extent(self) -> int:
        return self.operand.shape[self.axis]

    def is_beside(self, first: Masked) -> bool:
        """True if its elements stand where those of `first` do."""
        own = self.own
        same = own is not None and own.mask is first.mask and own.start is first.start
        return same and own is not None and own.step == first.step


def _product_of(
    function: str, parts: list[_SelectedOperand], given: tuple[Raw, Raw]
) -> Callable[[int, int], None]:
    """The result of the plain run's function for so many elements: mostly an exception."""
    form = (
        Form.JAX if any(isinstance(x, Array | Masked) and x.form is Form.JAX for x in given) else Form.NDARRAY
    )
    shapes = [(p.operand.shape, p.axis, p.operand.value.type.dtype) for p in parts]

    def product(ours: int, theirs: int) -> None:
        samples = [
            sample(shape, axis, n, dtype, form) for (shape, axis, dtype), n in zip(shapes, (ours, theirs))
        ]
        getattr(jnp if form is Form.JAX else np, function)(*samples)

    return product
