"""The operations of random expressions: how each is written, and what becomes of the bounds of its operands.

`apply` puts texts into a template and evaluates it on samples, so that NumPy itself says which form, dtype and
shape come out; an operation that it refuses is none.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

import jax.numpy as jnp
import numpy as np

from .kinds import Bound, Expression, Form, Number, kind_of, sample

Rule = Callable[..., Bound]
EXACT_LIMIT = 2.0**20
"""Numbers of more bits are taken for rounded: float32 has 24."""
LARGE = 1e4
"""Numbers with rounding of this size make a result that two ways of computing do not share."""


def add(*bounds: Bound) -> Bound:
    return Bound(sum(b.size for b in bounds), max(b.bits for b in bounds), all(b.exact for b in bounds))


def multiply(*bounds: Bound) -> Bound:
    size = math.prod(b.size for b in bounds)
    return Bound(size, sum(b.bits for b in bounds), all(b.exact for b in bounds))


def largest(*bounds: Bound) -> Bound:
    return Bound(max(b.size for b in bounds), max(b.bits for b in bounds), all(b.exact for b in bounds))


def square(bound: Bound) -> Bound:
    return multiply(bound, bound)


def divided(size: float, bits: int) -> Rule:
    """By a number that is a power of two."""
    return lambda bound: Bound(bound.size / size, bound.bits + bits, bound.exact)


def up_to(size: float, whole: bool = False) -> Rule:
    """Numbers of at most this size, as exact as the first operand."""
    return lambda *bounds: Bound(size, 0 if whole else bounds[0].bits, bounds[0].exact)


def times(factor: float) -> Rule:
    return lambda *bounds: multiply(bounds[0], Bound(factor))


def rough(size: float) -> Rule:
    return lambda *bounds: Bound(size, exact=False)


def rough_like(*bounds: Bound) -> Bound:
    return Bound(max(b.size for b in bounds), exact=False)


@dataclass(frozen=True)
class Operation:
    """`{0}` and `{1}` in the text are the operands.

    With `exact`, only exact operands will do, with `whole` only integers, with `small` none that is large, with
    `same` only operands of one type.
    """

    text: str
    rule: Rule
    exact: bool = False
    whole: bool = False
    small: bool = False
    same: bool = False

    @property
    def operands(self) -> int:
        return 1 + ("{1}" in self.text) + ("{2}" in self.text)


ARITHMETIC = (
    Operation("({0} + {1})", add),
    Operation("({0} - {1})", add),
    Operation("({0} * {1})", multiply),
    Operation("(-{0})", add),
    Operation("abs({0})", largest),
    Operation("({0} * 2)", times(2)),
    Operation("({0} + 1)", lambda a: add(a, Bound(1))),
    Operation("(3 - {0})", lambda a: add(a, Bound(3))),
    Operation("({0} * 0.5)", divided(2, 1)),
    Operation("({0} / 4)", divided(4, 2)),
    Operation("({0} + 0.25)", lambda a: add(a, Bound(1, 2))),
    Operation("({0} ** 2)", square),
    Operation("({0} % 5)", up_to(5), exact=True),
    Operation("({0} % -3)", up_to(3), exact=True),
    Operation("({0} // 2)", lambda a: Bound(a.size / 2 + 1), exact=True),
    Operation("({0} // 1.5)", lambda a: Bound(a.size), exact=True),
)
INTEGERS = (
    Operation("({0} // {1})", lambda a, b: a, whole=True),
    Operation("({0} % {1})", lambda a, b: b, whole=True),
    Operation("({0} & {1})", largest),
    Operation("({0} | {1})", add),
    Operation("({0} ^ {1})", add),
    Operation("(~{0})", lambda a: add(a, Bound(1))),
    Operation("({0} << 1)", times(2)),
    Operation("({0} >> 1)", largest),
    Operation("int({0})", largest, exact=True),
    Operation("bool({0})", up_to(1, whole=True), exact=True),
    Operation("round({0})", lambda a: Bound(a.size + 1), exact=True),
    Operation("divmod({0}, 3)[0]", lambda a: Bound(a.size), exact=True),
)
CONVERSIONS = (
    Operation("float({0})", largest),
    Operation("complex({0}, 2)", largest),
    Operation("({0}).real", largest),
    Operation("({0}).imag", largest),
    Operation("np.float32({0})", largest),
    Operation("np.asarray({0})", largest),
)
COMPARISONS = tuple(
    Operation(f"({{0}} {operator} {{1}})", up_to(1, whole=True), exact=True)
    for operator in ("<", ">=", "==", "!=")
)
ELEMENTWISE = (
    Operation("np.minimum({0}, {1})", largest),
    Operation("np.maximum({0}, {1})", largest),
    Operation("np.where({0} > 1, {1}, {0})", largest, exact=True),
    Operation("np.where({0} == {1}, {1}, {0} + 1)", lambda a, b: add(largest(a, b), Bound(1)), exact=True),
    Operation("np.floor({0})", lambda a: Bound(a.size + 1), exact=True),
    Operation("np.sign({0})", up_to(1, whole=True), exact=True),
    Operation("np.square({0})", square),
    Operation("np.logical_not({0})", up_to(1, whole=True), exact=True),
)
ROUNDED = (
    Operation("np.sin({0})", rough(1), small=True),
    Operation("np.tanh({0})", rough(1), small=True),
    Operation("np.exp(-abs({0}))", rough(1), small=True),
    Operation("np.sqrt(abs({0}) + 1)", rough_like, small=True),
    Operation("({0} / (abs({1}) + 1))", lambda a, b: Bound(a.size, exact=False), small=True),
    Operation("np.hypot({0}, {1})", lambda a, b: Bound(2 * max(a.size, b.size), exact=False), small=True),
    Operation("({0} * 0.3)", rough_like, small=True),
    Operation("({0} / {1})", rough(math.inf), exact=True, small=True),
    Operation("math.sqrt({0})", rough_like, exact=True, small=True),
    Operation("math.atan2({0}, 2)", rough(2), small=True),
)
SHAPES = (
    Operation("{0}[::-1]", largest),
    Operation("{0}[1:]", largest),
    Operation("{0}[:, 1]", largest),
    Operation("{0}[..., None]", largest),
    Operation("{0}.T", largest),
    Operation("{0}.reshape(-1)", largest),
    Operation("{0}.copy()", largest),
    Operation("{0}[[1, 0, 1]]", largest),
    Operation("{0}.astype(np.float32)", largest),
    Operation("{0}.astype(np.int64)", largest, exact=True),
    Operation("{0}.astype(np.int8)", largest, exact=True),
    Operation("{0}.astype(bool)", up_to(1, whole=True), exact=True),
    Operation("np.concatenate([{0}, {1}])", largest),
    Operation("np.stack([{0}, {1}])", largest),
    Operation("np.zeros_like({0})", up_to(0, whole=True)),
    Operation("np.sort({0})", largest),
    Operation("np.cumsum({0})", times(8)),
    Operation("np.array([{0}, {1}, 2])", lambda a, b: largest(a, b, Bound(2))),
)
REDUCTIONS = (
    Operation("{0}.sum()", times(8)),
    Operation("{0}.max()", largest),
    Operation("{0}.min()", largest),
    Operation("{0}.any()", up_to(1, whole=True), exact=True),
    Operation("{0}.all()", up_to(1, whole=True), exact=True),
    Operation("{0}.argmax()", up_to(8, whole=True), exact=True),
    Operation("{0}.mean()", rough_like),
    Operation("len({0})", up_to(8, whole=True)),
    Operation("{0}.size", up_to(8, whole=True)),
    Operation("{0}.sum(axis=0)", times(8)),
    Operation("({0} @ {1})", lambda a, b: multiply(a, b, Bound(8))),
    Operation("sum({0})", times(8)),
    Operation("max({0}, {1})", largest, exact=True, same=True),
    Operation("min({0}, {1})", largest, exact=True, same=True),
    Operation("({0} or {1})", largest, exact=True, same=True),
)


def apply(operation: Operation, *operands: Expression) -> Expression | None:
    """The expression; None where NumPy refuses the operands, or where they are not exact enough."""
    if not all(_allows(operation, operand) for operand in operands):
        return None
    if operation.same and not all(operand.kind.same_type(operands[0].kind) for operand in operands):
        return None
    value = _evaluated(operation.text, *[operand.kind for operand in operands])
    if value is None:
        return None
    rule = operation.rule
    bound = _bound_of(value, rule(*[operand.bound for operand in operands]), keeps=rule is largest)
    if bound is None:
        return None
    return Expression(operation.text.format(*[operand.text for operand in operands]), value, bound)


def _allows(operation: Operation, operand: Expression) -> bool:
    """Whether the operand is as exact, as whole and as small as the operation wants it."""
    bound = operand.bound
    if bound.size > LARGE and (operation.small or not (bound.exact or operation.rule is largest)):
        return False
    return (bound.exact or not operation.exact) and (operand.kind.letter in "biu" or not operation.whole)


def known(text: str, kind: Number, bound: Bound | None = None) -> Expression:
    """An expression of which everything is known."""
    return Expression(text, kind, bound if bound is not None else kind.bound)


@lru_cache(10000)
def _evaluated(text: str, *kinds: Number) -> Number | None:
    names = {f"a{i}": sample(kind) for i, kind in enumerate(kinds)}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return kind_of(eval(_code(text), {"np": np, "jnp": jnp, "math": math}, names))
    except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError):
        return None


@lru_cache(1000)
def _code(text: str) -> CodeType:
    return compile(text.format("a0", "a1", "a2"), "<operation>", "eval")


def _bound_of(kind: Number, bound: Bound, keeps: bool) -> Bound | None:
    """The bound of a result of this kind; None if an integer or a truth value would depend on rounding.

    `keeps`: the result has only numbers of the operands, so that an unsigned one cannot wrap around.
    """
    if kind.letter == "b":
        return Bound(1) if bound.exact else None
    if kind.is_integer:
        if not bound.exact:
            return None
        if kind.form is Form.PYTHON:
            return Bound(bound.size)
        info: Any = np.iinfo(kind.dtype)
        wraps = bound.size > info.max or (kind.letter == "u" and not keeps)
        largest_number = float(info.max) if wraps else bound.size
        return Bound(largest_number if largest_number < LARGE else math.inf)
    if bound.exact and bound.size * 2.0**bound.bits <= EXACT_LIMIT and kind.letter == "f":
        return bound
    if bound.size > LARGE and not bound.exact:
        return Bound(math.inf, exact=False)
    return Bound(bound.size, exact=False)
