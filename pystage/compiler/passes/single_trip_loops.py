"""Branches that store into arrays, as loops of at most one trip.

In: a function of HLO IR. Out: the same function, in which no `If` returns an array that its arms store into. XLA
copies the results of a branch, whole, but keeps the values that a loop carries in place: so the arm becomes the body of
a `While` that carries the arrays and a flag, which it clears. If both arms store, there are two such loops, of
which one runs. A large array that an arm makes anew is carried with them. A branch stays as it is where there is no array
for it to begin as, or where more would be copied than is stored into.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...records import dataclass
from .. import limits
from ..analysis.buffers import Buffers
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.types import BOOL, ArrayType
from ..ops import If, Not, While, constant


def single_trip_loops(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    return _Looping().function(function)


@dataclass(frozen=True, slots=True)
class _Stores:
    """The results of a branch: `arrays` by the index of the result, what that is when the branch begins.

    Last come those into which both arms store, or neither; of the others an arm makes a new array.
    """

    arrays: dict[int, Value]
    others: tuple[int, ...]


class _Looping(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._buffers = Buffers()

    def op(self, op: Op) -> None:
        stores = self._stores(op) if isinstance(op.kind, If) else None
        if stores is None:
            self.copy(op)
        else:
            self._loops(op, stores)

    def _stores(self, op: Op) -> _Stores | None:
        """The arrays that the arms store into, and those that they compute anew, or None if the branch stays."""
        stored: dict[int, Value] = {}
        arrays: dict[int, Value] = {}
        others = []
        for index, result in enumerate(op.results):
            entries = [self._buffers.entry(region, region.results[index]) for region in op.regions]
            outside = (
                [v for v in self._outside(op, entries) if v.type == result.type] if result.type.shape else []
            )
            if outside and entries[0] is entries[1]:
                stored[index] = outside[0]
            elif result.type.size <= limits.SINGLE_TRIP_ELEMENTS:
                others.append(index)
            elif outside:
                arrays[index] = outside[0]
            else:
                return None
        if not stored or len(set(stored.values())) < len(stored):
            return None
        if sum(each.type.size for each in arrays.values()) > sum(each.type.size for each in stored.values()):
            return None  # the copies that are saved are fewer
        return _Stores({**arrays, **stored}, tuple(others))

    def _outside(self, op: Op, entries: Sequence[Value]) -> list[Value]:
        """Of what each arm's array is a later state, as far as the arms find it; else with what its making begins."""
        found: list[Value] = []
        for value, region in zip(entries, op.regions, strict=True):
            while self._buffers.is_inside(region, value):
                before = self._begins_as(value)
                if before is None:
                    break
                value = before
            else:
                found.append(value)
        return found

    def _begins_as(self, value: Value) -> Value | None:
        """The array with which a loop or a branch begins that makes this one."""
        op = value.owner
        if not isinstance(op, Op):
            return None
        before = self._buffers.before(value)
        if before is None and isinstance(op.kind, While):
            return op.operands[value.index]
        if before is None and isinstance(op.kind, If):
            entries = [self._buffers.entry(region, region.results[value.index]) for region in op.regions]
            return next((each for each in self._outside(op, entries) if each.type == value.type), None)
        return before

    def _loops(self, op: Op, stores: _Stores) -> None:
        """A loop for each arm that stores."""
        predicate = self.new(op.operands[0])
        storing = [
            any(region.results[i] is not array for i, array in stores.arrays.items()) for region in op.regions
        ]
        others = self._initial_values(op, predicate, stores.others, storing)
        carried = [*self.new_all(list(stores.arrays.values())), *others]
        for side, region in enumerate(op.regions):
            if storing[side]:
                flag = self.b.op(Not(), predicate) if side else predicate
                carried = self._loop(region, flag, carried, stores)
        for index, value in zip((*stores.arrays, *stores.others), carried, strict=True):
            self.values[op.results[index]] = value

    def _initial_values(
        self, op: Op, predicate: Value, others: Sequence[int], storing: Sequence[bool]
    ) -> list[Value]:
        """The initial values of the other results: those of the arm that stores nothing, if there is one."""
        if all(storing):
            return [self._nothing(op.results[i].type) for i in others]
        regions = []
        for stores, region in zip(storing, op.regions, strict=True):
            made = Region()
            with self.b.region(made):
                if not stores:
                    self.ops(region)
                made.results = tuple(
                    [
                        self._nothing(op.results[i].type) if stores else self.new(region.results[i])
                        for i in others
                    ]
                )
            regions.append(made)
        idle = regions[storing.index(False)]
        return list((self.b.apply(If(), (predicate,), regions) if idle.ops else idle).results)

    def _nothing(self, type: ArrayType) -> Value:
        """A value of the type that is never read."""
        return constant(self.b, np.zeros(type.shape, type.dtype))

    def _loop(self, arm: Region, flag: Value, carried: Sequence[Value], stores: _Stores) -> list[Value]:
        """`arm` applied to the carried values if `flag` is true, else those values."""
        types = (ArrayType(BOOL), *[v.type for v in carried])
        condition, body = Region(types), Region(types)
        condition.results = (condition.params[0],)
        outer = [self.values[array] for array in stores.arrays.values()]
        self.values.update(zip(stores.arrays.values(), body.params[1:]))
        with self.b.region(body):
            done = constant(self.b, False)
            self.ops(arm)
            kept = dict(zip(stores.arrays.items(), body.params[1:]))
            ends = [kept.get((i, arm.results[i])) or self.new(arm.results[i]) for i in stores.arrays]
            body.results = (done, *ends, *[self.new(arm.results[i]) for i in stores.others])
        self.values.update(zip(stores.arrays.values(), outer))
        return list(self.b.apply(While(), (flag, *carried), (condition, body)).results[1:])
