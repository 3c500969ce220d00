"""Symbolic differences: how far apart two integers of the program are, whatever the integers are.

In: two integer scalars. Out: their difference as a polynomial of numbers of the program (`polynomial`), and as an
interval (`difference`): `(s + 1) * b - s * b` is `b`, and `min(i + k, n) - max(i - k, 0)` is at most `2 * k`.

Sums and products are expanded, and what stands on both sides cancels out. The operations of the program wrap around, so
that the expanded difference is the true one but for a multiple of 2**64. The interval holds all those that the ranges of
the two integers allow: mostly one; else the upper end is right where it is positive, as what has wrapped around is far
below. Minima, maxima and choices are looked through one after the other; two that clip at one end, together.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable

from .. import limits, ops
from ..hlo.ir import Op, Value
from ..hlo.types import INT64, DType, is_integer
from . import ranges as r
from .ranges import Interval, hull, maximum, meet, minimum, within

Polynomial = dict[tuple[Value, ...], int]
"""A sum of products of numbers of the program, each with a factor; the empty product is the constant."""

Ranges = Callable[[Value], Interval]
"""The range of a value of the program."""


def polynomial(a: Value, b: Value, ranges: Ranges) -> Polynomial:
    """`a - b`, without what cancels out; but for a multiple of 2 to the number of their bits."""
    return _expanded(_written(a, b), _wider(a, b), ranges)


def difference(a: Value | int, b: Value | int, ranges: Ranges) -> Interval:
    """The range of `a - b`, as an exact integer."""
    return _Differences(_wider(a, b), ranges).range_of(_written(a, b), limits.DIFFERENCE_CHOICES)


def _written(a: Value | int, b: Value | int) -> Polynomial:
    """`a - b` as it stands."""
    found: Polynomial = {}
    for number, sign in ((a, 1), (b, -1)):
        _add(found, {(number,): 1} if isinstance(number, Value) else {(): number}, sign)
    return found


def _wider(*numbers: Value | int) -> DType:
    types = [number.type.dtype for number in numbers if isinstance(number, Value)]
    return max(types, key=lambda dtype: int(dtype.itemsize), default=INT64)


# ---------------------------------------------------------------- polynomials


def _expanded(form: Polynomial, dtype: DType, ranges: Ranges) -> Polynomial:
    """A polynomial with its numbers expanded, which is the same but for what wraps around in `dtype`."""
    expansion = _Expansion(dtype, ranges)
    found: Polynomial = {}
    for term, factor in form.items():
        _add(
            found,
            functools.reduce(
                _product, [expansion.of(value, limits.DIFFERENCE_DEPTH) for value in term], {(): 1}
            ),
            factor,
        )
    return {term: factor for term, factor in found.items() if factor}


def _add(form: Polynomial, other: Polynomial, factor: int) -> None:
    for term, own in other.items():
        form[term] = form.get(term, 0) + factor * own


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for (a, m), (b, n) in itertools.product(left.items(), right.items()):
        term = tuple(sorted((*a, *b), key=id))
        found[term] = found.get(term, 0) + m * n
    return found


class _Expansion:
    """Expands numbers by the operations that made them: those of `dtype`, and of others those that do not wrap around."""

    def __init__(self, dtype: DType, ranges: Ranges) -> None:
        self._dtype = dtype
        self._ranges = ranges
        self._left = limits.DIFFERENCE_OPERATIONS

    def of(self, value: Value, depth: int) -> Polynomial:
        op = value.owner
        self._left -= 1
        if isinstance(op, Op) and depth and self._left > 0:
            match op.kind:
                case ops.Constant(data=data):
                    return {(): int(data)}
                case ops.Convert() if _keeps(op, self._ranges):
                    return self.of(op.operands[0], depth - 1)
                case ops.Negate() if self._expands(op, r.negate):
                    return {term: -factor for term, factor in self.of(op.operands[0], depth - 1).items()}
                case ops.Add() if self._expands(op, r.add):
                    return self._sum(op, depth, 1)
                case ops.Subtract() if self._expands(op, r.subtract):
                    return self._sum(op, depth, -1)
                case ops.Multiply() if self._expands(op, r.multiply):
                    left, right = [self.of(v, depth - 1) for v in op.operands]
                    if len(left) * len(right) <= limits.DIFFERENCE_TERMS:
                        return _product(left, right)
                case ops.If():
                    first, *others = [
                        self.of(region.results[value.index], depth - 1) for region in op.regions
                    ]
                    if all(other == first for other in others):
                        return first
        return {(value,): 1}

    def _sum(self, op: Op, depth: int, sign: int) -> Polynomial:
        left, right = [self.of(v, depth - 1) for v in op.operands]
        _add(left, right, sign)
        return left

    def _expands(self, op: Op, exact: Callable[..., Interval]) -> bool:
        dtype = op.results[0].type.dtype
        if dtype == self._dtype:
            return True
        found = exact(*map(self._ranges, op.operands))
        return is_integer(dtype) and within(found, dtype) == found


def _keeps(op: Op, ranges: Ranges) -> bool:
    """True if a conversion leaves an integer as it is."""
    source, target = op.operands[0].type.dtype, op.results[0].type.dtype
    if not is_integer(source) or not is_integer(target):
        return False
    found = ranges(op.operands[0])
    return within(found, target) == found


# ---------------------------------------------------------------- ranges


class _Differences:
    """Finds the ranges of polynomials of numbers of the program, as exact integers; numbers wrap around in `dtype`."""

    def __init__(self, dtype: DType, ranges: Ranges) -> None:
        self._dtype = dtype
        self._ranges = ranges

    def range_of(self, form: Polynomial, choices: int) -> Interval:
        """The range of a polynomial; so many choices are looked through."""
        expanded = _expanded(form, self._dtype, self._ranges)
        inside = self._of_terms(expanded)
        if choices:
            inside = self._of_clipped(expanded, inside, choices)
            inside = self._of_choice(expanded, inside, choices)
        return _modulo(self._of_terms(form), inside, 1 << 8 * int(self._dtype.itemsize))

    def _of_terms(self, form: Polynomial) -> Interval:
        """What follows from the ranges of the numbers alone."""
        found: Interval = (0, 0)
        for term, factor in form.items():
            size: Interval = (factor, factor)
            for value in term:
                size = r.multiply(size, self._ranges(value))
            found = r.add(found, size)
        return found

    def _of_clipped(self, form: Polynomial, known: Interval, choices: int) -> Interval:
        """Two numbers that are clipped at the same end are no further apart than before: `min(i + 4, n) - min(i, n)`."""
        single = {term[0]: factor for term, factor in form.items() if len(term) == 1}
        for a, b in itertools.combinations(single, 2):
            factor = single[a]
            pair = _clipped_alike(a, b) if single[b] == -factor else None
            if pair is not None:
                rest = {term: own for term, own in form.items() if term not in ((a,), (b,))}
                apart = hull((0, 0), self.range_of(_written(*pair), choices - 1))
                return meet(known, r.add(self._of_terms(rest), r.multiply((factor, factor), apart)))
        return known

    def _of_choice(self, form: Polynomial, known: Interval, choices: int) -> Interval:
        """Looks through the first number that is one of several: the least, the greatest, or as a condition says."""
        for term, factor in form.items():
            if len(term) != 1 or any(term[0] in other for other in form if other != term):
                continue
            rest = {other: own for other, own in form.items() if other != term}
            quotient = _quotient(term[0])
            if quotient is not None:
                inner = self.range_of({(quotient[0],): 1}, choices - 1)
                low, high = [_truncated(end, quotient[1]) for end in inner]
                return meet(known, r.add(self._of_terms(rest), r.multiply((factor, factor), (low, high))))
            options = _options(term[0])
            if options is None:
                continue
            join, values = options
            ranges: list[Interval] = []
            for value in values:
                chosen = dict(rest)
                _add(chosen, {(value,): 1}, factor)
                ranges.append(self.range_of(chosen, choices - 1))
            return meet(known, functools.reduce(join if factor > 0 else _MIRRORED[join], ranges))
        return known


_Join = Callable[[Interval, Interval], Interval]

_MIRRORED: dict[_Join, _Join] = {minimum: maximum, maximum: minimum, hull: hull}


def _options(value: Value) -> tuple[_Join, tuple[Value, ...]] | None:
    """What a number is one of, and how its range follows from theirs."""
    op = value.owner
    if not isinstance(op, Op):
        return None
    match op.kind:
        case ops.Minimum():
            return minimum, op.operands
        case ops.Maximum():
            return maximum, op.operands
        case ops.Select():
            return _selected(*op.operands)
        case ops.If():
            return _selected(op.operands[0], *[region.results[value.index] for region in op.regions])
    return None


def _clipped_alike(a: Value, b: Value) -> tuple[Value, Value] | None:
    """The numbers of which these are the minima, or the maxima, with one other number."""
    first, second = _options(a), _options(b)
    if first is None or second is None or first[0] is not second[0] or first[0] is hull:
        return None
    for i, j in itertools.product((0, 1), repeat=2):
        if first[1][i] is second[1][j]:
            return first[1][1 - i], second[1][1 - j]
    return None


def _quotient(value: Value) -> tuple[Value, int] | None:
    """The number of which `value` is a known, positive part, and the divisor."""
    op = value.owner
    if (
        not isinstance(op, Op)
        or not isinstance(op.kind, ops.Divide)
        or not is_integer(op.results[0].type.dtype)
    ):
        return None
    divisor = op.operands[1].owner
    if (
        not isinstance(divisor, Op)
        or not isinstance(divisor.kind, ops.Constant)
        or int(divisor.kind.data) < 1
    ):
        return None
    return op.operands[0], int(divisor.kind.data)


def _truncated(end: float, divisor: int) -> float:
    """An end of a range divided as the program divides integers."""
    return end if math.isinf(end) else end // divisor if end >= 0 else -(-end // divisor)


def _selected(condition: Value, *options: Value) -> tuple[_Join, tuple[Value, ...]]:
    """A choice, which is a minimum or a maximum where its condition compares what it selects."""
    test = condition.owner
    if isinstance(test, Op) and isinstance(test.kind, ops.Compare) and set(test.operands) == set(options):
        less = test.kind.direction in ("LT", "LE")
        if less or test.kind.direction in ("GT", "GE"):
            return (minimum if less == (options[0] is test.operands[0]) else maximum), options
    return hull, options


def _modulo(found: Interval, other: Interval, modulus: int) -> Interval:
    """What lies in `found` and differs from something in `other` by a multiple of the modulus."""
    first = -((other[1] - found[0]) // modulus)
    last = (found[1] - other[0]) // modulus
    if first > last:  # in code that never runs
        return found
    ends = [(other[0] + count * modulus, other[1] + count * modulus) for count in (first, last)]
    return meet(found, hull(*ends))
