"""Helpers of the batching rules of operations.

A batched value has the batch dimension in front; so have all results of a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..hlo.calculus import Calculus
from ..hlo.ir import Op, Value
from ..hlo.op import HloOp


def shifted(axes: Iterable[int]) -> tuple[int, ...]:
    """Axes of one element of the batch as axes of the batched value."""
    return tuple([a + 1 for a in axes])


def broadcast_to_batch(c: Calculus, x: Value, batched: bool, batch_size: int, shape: Sequence[int]) -> Value:
    """`x` as `(batch_size, *shape)`: broadcasts a value that is not batched, and a scalar to the shape of its element."""
    full = (batch_size, *shape)
    if batched:
        return x if x.type.rank == len(full) else c.broadcast(x, full, (0,))
    return c.broadcast(x, full, range(1, 1 + x.type.rank))


def elementwise(
    kind: HloOp, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
) -> Sequence[Value]:
    """The rule of operations that work element by element, on operands of the result's shape or scalars."""
    shape = op.results[0].type.shape
    return (c.op(kind, *[broadcast_to_batch(c, x, f, batch_size, shape) for x, f in zip(operands, batched)]),)


def all_broadcast_to_batch(
    c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
) -> list[Value]:
    """All operands with the batch dimension in front."""
    return [
        broadcast_to_batch(c, x, f, batch_size, old.type.shape)
        for x, f, old in zip(operands, batched, op.operands, strict=True)
    ]


def as_one(
    kind: HloOp, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
) -> Sequence[Value]:
    """The rule of operations that treat axes in front alike: applied to whole batches, they give those of the results."""
    return c.apply(kind, all_broadcast_to_batch(c, op, operands, batched, batch_size)).results
