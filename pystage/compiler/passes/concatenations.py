"""Concatenations of the elements of lists: out of loops, and without taking vectors apart.

In: a function of HLO IR. Out: the same function, in which a concatenation of values that a loop does not change stands
before it, and consecutive elements of a vector, or every n-th, are one slice of it. A read of a list at a computed place
is a read of the concatenation of its elements, where it stands: in a loop it would be made again in each trip. XLA joins
the single elements of a vector in quadratic time.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import limits
from ..hlo.ir import Function, Op, Value
from ..hlo.rewrite import Rewriter
from ..ops import Concatenate, Reshape, Slice, While


def rewrite_concatenations(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return Concatenations().function(function)


class Concatenations(Rewriter):
    """The pass, for one program."""

    def op(self, op: Op) -> None:
        if isinstance(op.kind, While):
            for each in _invariant(op):
                self.b.span = each.span
                self._once(each)
            self.b.span = op.span
        self._once(op)

    def _once(self, op: Op) -> None:
        """Copies an operation that does not stand before a loop already."""
        if op.results and op.results[0] in self.values:
            return
        parts = self.new_all(op.operands) if isinstance(op.kind, Concatenate) else ()
        joined = self._joined(parts)
        if len(joined) == len(parts):
            self.copy(op)
        else:
            self.values[op.results[0]] = joined[0] if len(joined) == 1 else self.b.op(op.kind, *joined)

    def vector(self, numbers: Sequence[Value]) -> Value:
        """A vector of numbers of one type, values of the new function."""
        joined = self._joined([self.b.op(Reshape((1,)), number) for number in numbers])
        return joined[0] if len(joined) == 1 else self.b.op(Concatenate(0), *joined)

    def _joined(self, parts: Sequence[Value]) -> list[Value]:
        """The parts of a concatenation, with one slice for each run of evenly spaced elements of a vector."""
        places = [_place(part) for part in parts]
        made: list[Value] = []
        start = 0
        while start < len(parts):
            place = places[start]
            step, count = _run(places, start)
            if place is None or count == 1:
                made.append(parts[start])
            else:
                vector, first = place
                made.append(self.b.op(Slice((first,), (first + step * (count - 1) + 1,), (step,)), vector))
            start += count
        return made


def _run(places: Sequence[tuple[Value, int] | None], start: int) -> tuple[int, int]:
    """The distance and number of the evenly spaced elements of a vector from here on; two stay apart, unless adjacent."""
    place, following = places[start], places[start + 1 : start + 2]
    if place is None or not following or following[0] is None or following[0][0] is not place[0]:
        return 1, 1
    step = following[0][1] - place[1]
    end = start + 2
    while end < len(places) and places[end] == (place[0], place[1] + step * (end - start)):
        end += 1
    count = end - start
    return (step, count) if step == 1 or (step > 1 and count > 2) else (1, 1)


def _place(value: Value) -> tuple[Value, int] | None:
    """Which element of which vector a vector of one is, if it is one."""
    if value.type.shape != (1,):
        return None
    op = value.owner
    while isinstance(op, Op) and isinstance(op.kind, Reshape):
        op = op.operands[0].owner
    if not (isinstance(op, Op) and isinstance(op.kind, Slice)):
        return None
    (vector,) = op.operands
    return (vector, op.kind.starts[0]) if vector.type.rank == 1 and op.results[0].type.size == 1 else None


def _invariant(loop: Op) -> list[Op]:
    """The concatenations in a loop that are of values from outside, and the reshapes that they are of."""
    inside: set[Value] = set()
    found: dict[Value, Op] = {}
    for region in loop.regions:
        inside.update(region.params)
        for op in region.walk():
            if isinstance(op.kind, Concatenate | Reshape) and not any(
                v in inside and v not in found for v in op.operands
            ):
                found[op.results[0]] = op
            inside.update(op.results)
            for inner in op.regions:
                inside.update(inner.params)
    wanted: set[Value] = set()
    for value, op in reversed(found.items()):
        if value in wanted or (
            isinstance(op.kind, Concatenate) and len(op.operands) >= limits.CONCATENATED_IN_LOOPS
        ):
            wanted.add(value)
            wanted.update(v for v in op.operands if v in found)
    return [op for value, op in found.items() if value in wanted]
