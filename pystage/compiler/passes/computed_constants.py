"""What XLA computes from constants while it compiles, as constants of the program.

In: a program. Out: the same program, in which sums, quotients and complex products have constants for operands that are
computed from nothing else. XLA simplifies those operations by constants that it sees (`x + 0.0` is `x` to it, which -0.0 is
not), and they are emitted so that it does not (`ops/elementwise/binary.py`): they must see what it sees. An array that is
computed to be `[-0.0, 1.0, …]` becomes a constant too, since XLA would take it for an iota.

One walk evaluates what constants decide, by the own reference of each operation (constant folding). What is all the same
is one element. More than `FOLDED_ELEMENTS` elements are not evaluated, but hidden from XLA where they are operands.

XLA inlines calls and loops of one trip, and takes out of loops what no trip changes. So loops are evaluated to a fixpoint,
and inlined are: calls to which such constants are given, calls of small functions, and loops of one trip.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import limits, ops
from ..hlo.interpret import run_op
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.types import is_integer
from ..hlo.walk import callees, functions, kinds, operation_count
from ..ops.elementwise.base import Elementwise
from ..ops.elementwise.binary import known_elements
from ..ops.operands import COMPLEXES, FLOATS
from ..ops.structure.shapes import is_signed_iota

_ROUNDED = FLOATS | COMPLEXES
_SIMPLIFIED = (ops.Add, ops.Subtract, ops.Multiply, ops.Divide, ops.Power, ops.Atan2)
"""What XLA simplifies by constants, of floats or complex numbers; `arctan2(0.0, 0.0)` is NaN to it while it compiles."""
_MOVING = (ops.Broadcast, ops.Reshape, ops.Transpose, ops.Reverse, ops.Slice, ops.DynamicSlice, ops.Gather)
"""What gives elements of its first operand."""
_JOINING = (ops.Concatenate, ops.Pad)
_BY_ELEMENT = (Elementwise, ops.Select, ops.Compare, ops.Convert, ops.Clamp)
_INTEGER = (ops.Multiply, ops.And, ops.Subtract, ops.Xor)
_APART = (ops.CustomCall, ops.OptimizationBarrier, ops.RngBitGenerator)
"""What XLA does not look into."""


def show_constants(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    if not kinds(function) & {*_SIMPLIFIED, ops.Constant}:
        return function
    folding, function = _folded(function)
    found = {op for each in functions(function) for op in each.body.walk() if folding.must_see(op)}
    return _ShowConstants(folding, found).function(function) if found else function


def _folded(function: Function) -> tuple[_ConstantFolding, Function]:
    """What constants decide in a function, in which what XLA inlines is inlined where that matters."""
    while True:
        folding = _ConstantFolding()
        for each in functions(function):
            folding.region(each.body)
        inlined = [op for each in functions(function) for op in each.body.walk() if folding.is_inlined(op)]
        if not inlined:
            return folding, function
        function = _Inlining(frozenset(inlined)).function(function)


class _ConstantFolding:
    """The values that constants decide, and the operations that are to see it.

    `elements`: those of such a value, one where they are all the same; None where they are not evaluated.
    """

    def __init__(self) -> None:
        self.elements: dict[Value, np.ndarray | None] = {}
        self._of_one_trip: set[Op] = set()
        self._varying: set[Value] = set()
        """Carried values that some trip changes: those of an inner loop are not tried again in the next round of an outer
        one, which knows less. So the rounds of nested loops add up, and do not multiply."""

    def region(self, region: Region) -> None:
        """Evaluates the operations of a region, inner ones first."""
        for op in region.ops:
            if isinstance(op.kind, ops.While):
                self._loop(op)
                continue
            for inner in op.regions:
                self.region(inner)
            for result in op.results:
                self.elements.pop(result, None)
            self.elements.update(zip(op.results, self._results(op), strict=False))

    def is_inlined(self, op: Op) -> bool:
        """True for calls of small functions, for those to which constants are given, and for loops of one trip."""
        kind = op.kind
        if op in self._of_one_trip:
            return True
        if not isinstance(kind, ops.Call) or kind.rule is not None or kind.recompute:
            return False
        if kind.function.fence or kind.function.kernel:
            return False
        is_small = operation_count(kind.function.body.ops) <= limits.INLINED_OPERATIONS
        return is_small or any(v in self.elements for v in op.operands)

    def _loop(self, op: Op) -> None:
        """Evaluates a loop, of which what no trip changes is what was given."""
        condition, body = op.regions
        is_entered = self._is_entered(condition, op.operands)
        self._give(body.params, op.operands)
        self.region(body)
        if is_entered and self._is_entered(condition, body.results) is False:
            self._of_one_trip.add(op)
            self._give(op.results, body.results)
            return
        self._of_one_trip.discard(op)
        while changed := [p for p, r in zip(body.params, body.results, strict=True) if self._differ(p, r)]:
            self._varying.update(changed)
            for param in changed:
                del self.elements[param]
            self.region(body)
        self._is_entered(condition, body.params)
        self._give(op.results, op.operands if is_entered is False else body.params)

    def _is_entered(self, condition: Region, carried: Sequence[Value]) -> bool | None:
        """What the condition of a loop gives for these values; None where more than constants decides it."""
        self._give(condition.params, carried)
        varying = (
            self._varying.copy()
        )  # the loops of a condition may know more the next time that it is asked
        self.region(condition)
        self._varying = varying
        elements = self.elements.get(condition.results[0])
        return None if elements is None else bool(elements)

    def _give(self, values: Sequence[Value], sources: Sequence[Value]) -> None:
        """Makes known of each value what is known of its source."""
        for value, source in zip(values, sources, strict=True):
            self.elements.pop(value, None)
            if source in self.elements and value not in self._varying:
                self.elements[value] = self.elements[source]

    def _differ(self, param: Value, result: Value) -> bool:
        """True for a carried constant that a trip may change."""
        if param not in self.elements:
            return False
        before, after = self.elements[param], self.elements.get(result)
        if before is None or after is None:
            return result not in self.elements
        return before.shape != after.shape or before.tobytes() != after.tobytes()

    def is_computed(self, value: Value) -> bool:
        """True for what constants decide, where that is not plain to see."""
        return value in self.elements and known_elements(value) is None

    def must_see(self, op: Op) -> bool:
        """True for an operation whose operands or results are to be seen as constants."""
        known = self.known(op.results)
        if isinstance(op.kind, _SIMPLIFIED) and op.results[0].type.dtype in _ROUNDED:
            return bool(known) or any(map(self.is_computed, op.operands))
        return any(map(is_signed_iota, known)) and not isinstance(op.kind, ops.Constant)

    def known(self, values: Sequence[Value]) -> list[np.ndarray]:
        """The elements of those values of which they are known."""
        return [e for v in values if (e := self.elements.get(v)) is not None]

    def _results(self, op: Op) -> Sequence[np.ndarray | None]:
        """The elements of the results; nothing where more than constants decides them."""
        kind, operands = op.kind, op.operands
        if isinstance(kind, ops.Constant):
            return [_compressed(kind.data)]
        if isinstance(kind, ops.Iota):  # of a large one XLA computes nothing
            return (
                [_compressed(kind.reference())] if op.results[0].type.size <= limits.FOLDED_ELEMENTS else []
            )
        if not all(v in self.elements or _is_empty(v) for v in operands):
            return self._in_any_case(op)
        if isinstance(kind, _APART) or op.regions or not kind.pure or kind.lowered_by_jax or callees(op):
            return []
        given = [e for v in operands if (e := self._of(v)) is not None]
        if len(given) < len(operands):
            return [None] * len(op.results)
        if all(map(_is_one, given)) and isinstance(kind, _BY_ELEMENT):
            return [np.asarray(r) for r in run_op(op, given)]
        if (isinstance(kind, _JOINING) and _are_one(given)) or (
            isinstance(kind, _MOVING) and _is_one(given[0])
        ):
            return given[:1]
        if any(v.type.size > limits.FOLDED_ELEMENTS for v in (*operands, *op.results)):
            return [None] * len(op.results)
        arrays = [np.broadcast_to(e, v.type.shape) for e, v in zip(given, operands, strict=True)]
        return [_compressed(np.asarray(r)) for r in run_op(op, arrays)]

    def _of(self, value: Value) -> np.ndarray | None:
        return np.empty(value.type.shape, value.type.dtype) if _is_empty(value) else self.elements.get(value)

    def _in_any_case(self, op: Op) -> Sequence[np.ndarray | None]:
        """What an operation gives whatever its unknown operands are; nothing where they decide it."""
        kind, operands = op.kind, op.operands
        if isinstance(kind, _INTEGER) and is_integer(op.results[0].type.dtype):
            return self._of_integers(op)
        if isinstance(kind, ops.Select):
            chosen = [self.elements.get(v) for v in operands[1:]]
            return chosen[:1] if _are_one(chosen) else []
        if isinstance(kind, _MOVING):
            piece = _piece(op) if isinstance(kind, ops.Slice) else operands[0]
            elements = None if piece is None else self.elements.get(piece)
            return [elements] if _is_one(elements) and not _is_empty(op.results[0]) else []
        return []

    def _of_integers(self, op: Op) -> Sequence[np.ndarray]:
        """Zero, of a product with it or a difference of what is the same."""
        dtype = op.results[0].type.dtype
        if isinstance(op.kind, ops.Subtract | ops.Xor):
            return [np.zeros((), dtype)] if op.operands[0] is op.operands[1] else []
        return [e for e in self.known(op.operands) if _is_one(e) and not e][:1]


def _piece(part: Op) -> Value | None:
    """Which of those that are joined a slice lies in, or what they are padded with."""
    whole, kind = part.operands[0].owner, part.kind
    if not isinstance(whole, Op) or not isinstance(kind, ops.Slice) or _is_empty(part.results[0]):
        return None
    shape, joining = part.operands[0].type.shape, whole.kind
    places = [
        range(start, start + (n - 1) * stride + 1)
        for start, stride, n in zip(kind.starts, kind.strides, part.results[0].type.shape, strict=True)
    ]
    if isinstance(joining, ops.Pad):
        ends = zip(places, shape, joining.low, joining.high, strict=True)
        outside = any(place[-1] < low or place[0] >= n - high for place, n, low, high in ends)
        return whole.operands[1] if outside else None
    if isinstance(joining, ops.Concatenate):
        place, end = places[joining.axis], 0
        for operand in whole.operands:
            begin, end = end, end + operand.type.shape[joining.axis]
            if place[0] < end:
                return operand if begin <= place[0] and place[-1] < end else None
    return None


def _is_empty(value: Value) -> bool:
    return 0 in value.type.shape


def _is_one(elements: np.ndarray | None) -> bool:
    """True for elements that are all the same."""
    return elements is not None and not elements.shape


def _are_one(given: Sequence[np.ndarray | None]) -> bool:
    """True for arrays all of whose elements are the same, bit by bit."""
    return all(map(_is_one, given)) and len({e.tobytes() for e in given if e is not None}) == 1


def _compressed(data: np.ndarray) -> np.ndarray:
    """One element, if all are the same."""
    flat = data.reshape(-1)
    begins_so = flat[:2].tobytes() == flat[:1].tobytes() * len(flat[:2])
    is_one = flat.size and begins_so and flat.tobytes() == flat[:1].tobytes() * flat.size
    return flat[:1].reshape(()) if is_one else data


class _Inlining(Rewriter):
    """Puts the bodies of functions in the place of calls, and those of loops in the place of loops of one trip."""

    def __init__(self, inlined: frozenset[Op]) -> None:
        super().__init__()
        self._inlined = inlined

    def op(self, op: Op) -> None:
        if op not in self._inlined:
            self.copy(op)
            return
        body = op.kind.function.body if isinstance(op.kind, ops.Call) else op.regions[1]
        self.values.update(zip(body.params, self.new_all(op.operands), strict=True))
        self.ops(body)
        self.values.update(zip(op.results, self.new_all(body.results), strict=True))


class _ShowConstants(Rewriter):
    def __init__(self, folding: _ConstantFolding, found: set[Op]) -> None:
        super().__init__()
        self._folding = folding
        self._found = found

    def op(self, op: Op) -> None:
        if op not in self._found:
            self.copy(op)
            return
        known = self._folding.known(op.results)
        if known:
            self.values.update(zip(op.results, map(self._constant, known, op.results), strict=True))
            return
        new = self.new_all(op.operands)
        shown = [self._shown(v, x, new[1 - i]) for i, (v, x) in enumerate(zip(op.operands, new))]
        self.define(op, self.append(op, op.kind, tuple(shown)))

    def _shown(self, old: Value, new: Value, other: Value) -> Value:
        """An operand as a constant; hidden where its elements are not known: the other one chooses it by being a number."""
        if not self._folding.is_computed(old):
            return new
        elements = self._folding.elements[old]
        if elements is not None:
            return self._constant(elements, old)
        return self.b.op(ops.Select(), self.b.op(ops.Compare("EQ"), other, other), new, other)

    def _constant(self, elements: np.ndarray, like: Value) -> Value:
        made = self.b.op(ops.Constant(elements))
        return (
            made if elements.shape == like.type.shape else self.b.op(ops.Broadcast(like.type.shape, ()), made)
        )
