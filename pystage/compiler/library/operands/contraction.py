"""Sums of products of labelled arrays: the common form of `einsum`, `matmul`, `dot` and `tensordot`.

In: values whose axes have labels, and the labels of the result. Out: one `DotGeneral` where both operands share summed
labels, else a broadcast product. Diagonals and sums of a single operand precede it, a transposition follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....autocasting import product_type
from ....records import dataclass
from ...hlo.ir import Value
from ...hlo.types import BOOL, FLOAT32, DType
from ...ops import Add, Broadcast, DotGeneral, Multiply, Or, Transpose
from ...values.views import Diagonal, Permuted, View, read_path
from ..interfaces.operations import Operations
from .reduction_operands import ReductionOperand, reduce, total

Labels = tuple[str, ...]


def diagonal_views(rank: int, offset: int, first: int, second: int, frozen: bool = False) -> tuple[View, ...]:
    """The views that take a diagonal of two axes of an array of `rank`, which becomes the last axis."""
    order = (*[axis for axis in range(rank) if axis not in (first, second)], first, second)
    diagonal = Diagonal(offset, frozen)
    return (diagonal,) if order == tuple(range(rank)) else (Permuted(order), diagonal)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value whose axes have labels."""

    value: Value
    labels: Labels

    @property
    def sizes(self) -> dict[str, int]:
        """The extent of each label."""
        return dict(zip(self.labels, self.value.type.shape))

    def axes(self, labels: Sequence[str]) -> tuple[int, ...]:
        """The axes of some labels."""
        return tuple([self.labels.index(label) for label in labels])


@dataclass(frozen=True, slots=True)
class Precision:
    """How a product is computed: StableHLO's precision, and the element type of the result.

    `from_zero`: each sum begins with 0.0, as NumPy's do, so that one product of -0.0 gives 0.0.
    """

    name: str | None = None
    preferred: DType | None = None
    from_zero: bool = False


def lowered(precision: str | None, dtype: DType) -> str | None:
    """The precision of a product of this element type: that of `pystage.autocast`, unless it asks for its own."""
    low = product_type()
    return low if low is not None and precision in (None, "DEFAULT") and dtype == FLOAT32 else precision


def without_repeats(ctx: Operations, x: Labelled) -> Labelled:
    """The value with each label once: of axes with the same label, the diagonal."""
    while len(set(x.labels)) < len(x.labels):
        label = next(label for label in x.labels if x.labels.count(label) > 1)
        first = x.labels.index(label)
        second = x.labels.index(label, first + 1)
        views = diagonal_views(len(x.labels), 0, first, second)
        rest = tuple([each for i, each in enumerate(x.labels) if i not in (first, second)])
        x = Labelled(read_path(ctx.b, x.value, views), (*rest, label))
    return x


def summed_out(ctx: Operations, x: Labelled, kept: Sequence[str], precision: Precision) -> Labelled:
    """The value summed over the labels that are not kept."""
    axes = tuple([i for i, label in enumerate(x.labels) if label not in kept])
    if not axes:
        return x
    shape = tuple([n for i, n in enumerate(x.value.type.shape) if i not in axes])
    of = ReductionOperand(x.value, axes, None, shape, precision.from_zero)
    value = reduce(ctx, Or(), of) if x.value.type.dtype == BOOL else total(ctx, of)
    return Labelled(value, tuple([label for label in x.labels if label in kept]))


def ordered(ctx: Operations, x: Labelled, labels: Sequence[str]) -> Value:
    """The value with its axes in the order of the labels."""
    order = x.axes(labels)
    return x.value if order == tuple(range(len(order))) else ctx.op(Transpose(order), x.value)


_USUAL = Precision()


def product(
    ctx: Operations, left: Labelled, right: Labelled, result: Sequence[str], precision: Precision = _USUAL
) -> Labelled:
    """The sum of products over all labels that the result lacks; its axes in any order."""
    left = summed_out(ctx, left, (*result, *right.labels), precision)
    right = summed_out(ctx, right, (*result, *left.labels), precision)
    shared = [label for label in left.labels if label in right.labels]
    batch = [label for label in shared if label in result]
    contracted = [label for label in shared if label not in result]
    if not contracted and precision.preferred in (None, left.value.type.dtype):
        made = _elementwise(ctx, left, right)
    else:
        kind = DotGeneral(
            left.axes(batch),
            right.axes(batch),
            left.axes(contracted),
            right.axes(contracted),
            lowered(precision.name, left.value.type.dtype),
            precision.preferred,
        )
        free = [label for label in left.labels if label not in shared]
        free += [label for label in right.labels if label not in shared]
        made = Labelled(ctx.op(kind, left.value, right.value), (*batch, *free))
    dtype, count = made.value.type.dtype, math.prod([left.sizes[label] for label in contracted])
    if precision.from_zero and count == 1 and dtype.kind in "fcV":
        zeros = ctx.broadcast(ctx.constant(0, dtype), made.value.type.shape)
        made = Labelled(ctx.op(Add(), zeros, made.value), made.labels)
    return made


def _elementwise(ctx: Operations, left: Labelled, right: Labelled) -> Labelled:
    """A product without a sum: both operands broadcast to all labels."""
    labels = (*left.labels, *[label for label in right.labels if label not in left.labels])
    sizes = {**right.sizes, **left.sizes}
    shape = tuple([sizes[label] for label in labels])
    spread = []
    for x in (left, right):
        x = Labelled(ordered(ctx, x, [label for label in labels if label in x.labels]), x.labels)
        axes = tuple([i for i, label in enumerate(labels) if label in x.labels])
        spread.append(x.value if x.value.type.shape == shape else ctx.op(Broadcast(shape, axes), x.value))
    return Labelled(ctx.op(Multiply(), *spread), labels)
