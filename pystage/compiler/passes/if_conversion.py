"""If-conversion: branches whose arms cost little become straight-line code and selects.

In: a function of HLO IR. Out: the same function, in which an `If` stays only where an arm does more than a few
operations on a few elements, or what must not be speculated (loops, calls, integer division). XLA fuses
nothing across a branch and, on CPUs, copies every array that a branch returns. An array that the arms store into
is therefore no result: the arms are merged in step, a store of one with a store of the other becomes one store at a
selected place, and a store of one arm alone stores the old element where the other arm runs. A store before the branch
that one arm alone takes is a store of this arm: after a conditional raise, one arm gives the list with a new element, and
the other one the list before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from ...records import dataclass
from .. import limits
from ..analysis.def_use import DefUse
from ..hlo.builder import Builder
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.op import HloOp
from ..hlo.rewrite import Rewriter
from ..hlo.types import is_complex, is_integer
from ..hlo.walk import is_pure
from ..ops import (
    Abs,
    Add,
    And,
    BitcastConvert,
    Broadcast,
    Ceil,
    Clamp,
    Compare,
    Complex,
    Concatenate,
    Constant,
    Convert,
    Cosine,
    CountLeadingZeros,
    Divide,
    DynamicSlice,
    DynamicUpdateSlice,
    Exponential,
    Floor,
    If,
    Imag,
    IsFinite,
    Log,
    Maximum,
    Minimum,
    Multiply,
    Negate,
    Not,
    Or,
    PopulationCount,
    Real,
    Reshape,
    Reverse,
    RoundNearestAfz,
    RoundNearestEven,
    Rsqrt,
    Select,
    ShiftLeft,
    ShiftRightArithmetic,
    ShiftRightLogical,
    Sign,
    Sine,
    Slice,
    Sqrt,
    Subtract,
    Tanh,
    Transpose,
    Xor,
)

_FREE = (Constant, Reshape)
_CHEAP = (
    *(Abs, Add, And, BitcastConvert, Broadcast, Ceil, Clamp, Compare, Complex, Concatenate, Convert),
    *(CountLeadingZeros, DynamicSlice, Floor, Imag, IsFinite, Maximum, Minimum, Multiply, Negate, Not, Or),
    *(PopulationCount, Real, Reverse, RoundNearestAfz, RoundNearestEven, Select, ShiftLeft),
    *(ShiftRightArithmetic, ShiftRightLogical, Sign, Slice, Subtract, Transpose, Xor),
)
_WEIGHTS: dict[type[HloOp], int] = {
    **dict.fromkeys(_FREE, 0),
    **dict.fromkeys(_CHEAP, 1),
    **dict.fromkeys((Divide, Sqrt, Rsqrt), 4),
    **dict.fromkeys((Cosine, Exponential, Log, Sine, Tanh), 12),
}
"""The cost of an element; an operation that is not here is never speculated."""


def if_convert(function: Function) -> Function:
    """Rewrites `function` and all that it calls; inner branches first."""
    return _Converting().function(_Sinking().function(function))


class _Sinking(Rewriter):
    """Moves stores that nothing but an arm uses into it."""

    def __init__(self) -> None:
        super().__init__()
        self._uses = DefUse()
        self._into: dict[Region, list[Op]] = {}
        """By arm, the operations that are moved to its begin."""

    def rewritten(self, old: Function) -> Function:
        outer, self._uses = self._uses, DefUse(old.body)
        made = super().rewritten(old)
        self._uses = outer
        return made

    def region(self, old: Region) -> Region:
        moved = self._into.get(old)
        if moved is None:
            return super().region(old)
        longer = Region()
        longer.params, longer.ops, longer.results = old.params, [*moved, *old.ops], old.results
        return super().region(longer)

    def ops(self, old: Region) -> None:
        places = {op: place for place, op in enumerate(old.ops)}
        moved: set[Op] = set()
        for op in reversed(old.ops):
            if isinstance(op.kind, If) and op not in moved:
                for arm in op.regions:
                    found = self._of_arm(arm, places)
                    if found:
                        self._into[arm] = sorted(found, key=places.__getitem__)
                        moved |= found
        for op in old.ops:
            if op not in moved:
                self.b.span = op.span
                self.op(op)

    def _of_arm(self, arm: Region, places: dict[Op, int]) -> set[Op]:
        """The stores, and the branches between their results, that nothing but an arm uses."""
        found: set[Op] = set()
        users: set[Op | Region] = {arm}
        pending = list(arm.results)
        for value in pending:
            op = value.owner
            if not isinstance(op, Op) or op not in places or not value.type.rank:
                continue
            if not isinstance(op.kind, DynamicUpdateSlice | If) or op in found or not is_pure(op):
                continue
            if all(user in users for result in op.results for user in self._uses.users(result)):
                found.add(op)
                users |= {op, *op.regions}
                pending += [*op.operands[:1], *[given for inner in op.regions for given in inner.results]]
        return found


class _Converting(Rewriter):
    def op(self, op: Op) -> None:
        if not isinstance(op.kind, If):
            self.copy(op)
            return
        predicate = self.new(op.operands[0])
        regions = tuple([self.region(r) for r in op.regions])
        arms = _plan(regions)
        if arms is None:
            self.define(op, self.append(op, op.kind, (predicate,), regions))
            return
        results = _InStep(self.b, predicate, arms).run(regions)
        self.values.update(zip(op.results, results, strict=True))


@dataclass(slots=True)
class _Arm:
    """What one arm stores into: which of its values is which array from outside, after how many stores."""

    of: dict[Value, tuple[Value, int]] = field(default_factory=dict)
    stores: dict[Value, int] = field(default_factory=dict)
    inside: set[Value] = field(default_factory=set)

    def root(self, value: Value) -> Value:
        """The array from outside the arm that `value` is; `value` itself if it is none."""
        return self.of[value][0] if value in self.of else value

    def is_newest(self, value: Value) -> bool:
        """False if the array that `value` is has been stored into since."""
        root, count = self.of.get(value, (value, 0))
        return count == self.stores.get(root, 0)

    def is_store(self, op: Op) -> bool:
        """True if `op` stores into an array from outside."""
        return isinstance(op.kind, DynamicUpdateSlice) and self.root(op.operands[0]) not in self.inside

    def note(self, op: Op) -> None:
        """Notes what the results of `op` are, whose operands are the newest versions of their arrays."""
        array = self.root(op.operands[0]) if op.operands else None
        if array is None or array in self.inside or not isinstance(op.kind, DynamicUpdateSlice | Reshape):
            self.inside.update(op.results)
            return
        if isinstance(op.kind, DynamicUpdateSlice):
            self.stores[array] = self.stores.get(array, 0) + 1
        self.of[op.results[0]] = array, self.stores.get(array, 0)


def _plan(regions: Sequence[Region]) -> list[_Arm] | None:
    """The arrays that the two arms store into, or None if the branch stays."""
    arms = []
    cost = 0
    for region in regions:
        arm = _Arm()
        arms.append(arm)
        for op in region.ops:
            cost += _cost(op, arm.is_store(op))
            if cost > limits.IF_CONVERSION_COST or not all(map(arm.is_newest, op.operands)):
                return None
            arm.note(op)
    stored = {*arms[0].stores, *arms[1].stores}
    for values in zip(*[region.results for region in regions], strict=True):
        if not all(arm.is_newest(value) for arm, value in zip(arms, values, strict=True)):
            return None
        first, second = [arm.root(value) for arm, value in zip(arms, values, strict=True)]
        if not (first is second and first in stored) and values[0].type.size > limits.IF_CONVERSION_ELEMENTS:
            return None
    return arms


def _cost(op: Op, store: bool) -> int:
    """The cost of speculating `op`; more than the limit if it must not be speculated."""
    kind = op.kind
    if isinstance(kind, Reshape):
        return 0
    weight = _WEIGHTS.get(
        type(kind),
        limits.IF_CONVERSION_STORE if isinstance(kind, DynamicUpdateSlice) else limits.IF_CONVERSION_COST + 1,
    )
    if weight > limits.IF_CONVERSION_COST:
        return weight
    written = op.operands[1].type if store else op.results[0].type
    if written.size > limits.IF_CONVERSION_ELEMENTS or (
        isinstance(kind, Divide) and is_integer(written.dtype)
    ):
        return limits.IF_CONVERSION_COST + 1
    return weight * written.size * (4 if is_complex(written.dtype) else 1)


class _InStep:
    """Emits two arms as straight-line code: each up to its next store, then the stores, and so on.

    What an arm that is not taken computes is never used, so it may see what the other one stored.
    """

    def __init__(self, b: Builder, predicate: Value, arms: Sequence[_Arm]) -> None:
        self._b = b
        self._predicate = predicate
        self._arms = arms
        self._arrays = {root: root for arm in arms for root in arm.stores}
        """The current values of the arrays that the arms store into."""
        self._values: dict[Value, Value] = {}

    def run(self, regions: Sequence[Region]) -> list[Value]:
        """Emits both arms; gives the results."""
        first, second = [iter(region.ops) for region in regions]
        a, b = self._to_store(0, first), self._to_store(1, second)
        while a is not None or b is not None:
            if a is not None and b is not None and self._alike(a, b):
                self._store_either(a, b)
                a, b = self._to_store(0, first), self._to_store(1, second)
            elif a is not None:
                self._store_if(a, 0)
                a = self._to_store(0, first)
            elif b is not None:
                self._store_if(b, 1)
                b = self._to_store(1, second)
        return [self._choose(x, y) for x, y in zip(*[r.results for r in regions], strict=True)]

    def _to_store(self, side: int, ops: Iterator[Op]) -> Op | None:
        """Emits the operations of one arm up to its next store, which it gives; None at the end."""
        arm = self._arms[side]
        for op in ops:
            if arm.is_store(op):
                return op
            if arm.root(op.results[0]) not in self._arrays:
                self._b.span = op.span
                made = self._b.apply(op.kind, [self._use(side, v) for v in op.operands])
                self._values.update(zip(op.results, made.results, strict=True))
        return None

    def _use(self, side: int, value: Value) -> Value:
        """The current value in the straight-line code of a value of one arm."""
        array = self._arrays.get(self._arms[side].root(value))
        if array is None:
            return self._values.get(value, value)
        return array if array.type == value.type else self._b.op(Reshape(value.type.shape), array)

    def _alike(self, a: Op, b: Op) -> bool:
        """True if two stores, one of each arm, store as much into the same array."""
        (array, update), (other, other_update) = a.operands[:2], b.operands[:2]
        same_array = self._arms[0].root(array) is self._arms[1].root(other)
        return same_array and array.type == other.type and update.type == other_update.type

    def _store_either(self, a: Op, b: Op) -> None:
        """One store for two: what the arm that is taken stores, where it stores it."""
        self._b.span = a.span
        parts = [self._choose(x, y) for x, y in zip(a.operands[1:], b.operands[1:], strict=True)]
        self._store(self._arms[0].root(a.operands[0]), self._use(0, a.operands[0]), parts)

    def _store_if(self, op: Op, side: int) -> None:
        """A store that one arm does; the other one stores the element that is there."""
        self._b.span = op.span
        array, update, *starts = [self._use(side, v) for v in op.operands]
        old = self._b.op(DynamicSlice(update.type.shape), array, *starts)
        choices = (old, update) if side else (update, old)
        update = self._b.op(Select(), self._predicate, *choices)
        self._store(self._arms[side].root(op.operands[0]), array, [update, *starts])

    def _store(self, root: Value, array: Value, parts: Sequence[Value]) -> None:
        self._arrays[root] = self._b.op(DynamicUpdateSlice(), array, *parts)

    def _choose(self, a: Value, b: Value) -> Value:
        """The value of the arm that is taken."""
        first, second = self._use(0, a), self._use(1, b)
        return first if first is second else self._b.op(Select(), self._predicate, first, second)
