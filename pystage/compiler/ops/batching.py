"""What the rules for many lanes at once share: a lane is one of several applications of an operation.

A value of all lanes has a leading axis that counts them; so have all results of a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..hlo.calculus import Calculus
from ..hlo.ir import Op, Value
from ..hlo.op import HloOp


def later(axes: Iterable[int]) -> tuple[int, ...]:
    """Axes of one lane as axes of all."""
    return tuple([a + 1 for a in axes])


def of_all_lanes(c: Calculus, x: Value, has_lanes: bool, lanes: int, shape: Sequence[int]) -> Value:
    """`x` as `(lanes, *shape)`: what all lanes share is repeated, a scalar of a lane fills its part."""
    full = (lanes, *shape)
    if has_lanes:
        return x if x.type.rank == len(full) else c.broadcast(x, full, (0,))
    return c.broadcast(x, full, range(1, 1 + x.type.rank))


def elementwise(
    kind: HloOp, c: Calculus, op: Op, operands: Sequence[Value], has_lanes: Sequence[bool], lanes: int
) -> Sequence[Value]:
    """The rule of operations that work element by element, on operands of the result's shape or scalars."""
    shape = op.results[0].type.static_shape
    return (c.op(kind, *[of_all_lanes(c, x, f, lanes, shape) for x, f in zip(operands, has_lanes)]),)


def repeated(
    c: Calculus, op: Op, operands: Sequence[Value], has_lanes: Sequence[bool], lanes: int
) -> list[Value]:
    """All operands with an axis of lanes in front."""
    return [
        of_all_lanes(c, x, f, lanes, old.type.static_shape)
        for x, f, old in zip(operands, has_lanes, op.operands, strict=True)
    ]
