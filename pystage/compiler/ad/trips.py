"""How often a loop runs, where nothing but its counter decides: a loop with `break` may stop before its greatest count.

In: a `While`. Out: the exact number of iterations, read off the condition (a comparison of one carried value with a
constant), what that value begins with, and what the body adds to it; None for any other loop.
"""

from __future__ import annotations

from ..hlo.ir import Op, Value
from ..ops import Add, Compare, Constant, Subtract, While


def exact_trips(op: Op) -> int | None:
    """The number of iterations of a loop; None if its condition is more than the end of a counter."""
    assert isinstance(op.kind, While)
    condition, body = op.regions
    test = condition.results[0].owner
    if (
        not isinstance(test, Op)
        or not isinstance(test.kind, Compare)
        or test.operands[0].owner is not condition
    ):
        return None
    index = test.operands[0].index
    start, limit = _known(op.operands[index]), _known(test.operands[1])
    step = _step(body.results[index], body.params[index])
    if start is None or limit is None or step is None:
        return None
    match test.kind.direction:
        case "LT" if step > 0:
            return len(range(start, limit, step))
        case "LE" if step > 0:
            return len(range(start, limit + 1, step))
        case "GT" if step < 0:
            return len(range(start, limit, step))
        case "GE" if step < 0:
            return len(range(start, limit - 1, step))
    return None


def _step(after: Value, before: Value) -> int | None:
    """The constant that is added to a counter in each trip."""
    owner = after.owner
    if (
        not isinstance(owner, Op)
        or not isinstance(owner.kind, Add | Subtract)
        or owner.operands[0] is not before
    ):
        return None
    by = _known(owner.operands[1])
    return -by if by is not None and isinstance(owner.kind, Subtract) else by


def _known(value: Value) -> int | None:
    """A constant integer."""
    owner = value.owner
    if not isinstance(owner, Op) or not isinstance(owner.kind, Constant):
        return None
    array = owner.kind.data
    return int(array) if array.dtype.kind in "iu" and array.shape == () else None
