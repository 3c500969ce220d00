"""Values that are certainly equal: by the operations that compute them, and what loops carry by induction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pystage.compiler.analysis.congruence import Congruence
from pystage.compiler.hlo.ir import Value
from pystage.compiler.hlo.types import INT64, ArrayType
from tests.passes.programs import Code, Operand, Values

NUMBER = ArrayType(INT64)


def carried(
    c: Code, first: Operand, second: Operand, step: Callable[[Value, Value, Value], list[Operand]]
) -> Values:
    """A loop over three numbers that carries two more."""
    _, a, b = c.while_(
        [0, first, second],
        lambda i, a, b: c.compare("LT", i, 3),
        lambda i, a, b: [c.add(i, 1), *step(i, a, b)],
    )
    return a, b


def chosen(c: Code, i: Value, a: Operand, b: Operand) -> list[Operand]:
    """New numbers under a condition, else these."""
    return list(c.if_(c.compare("GT", i, 1), lambda: [7, 7], lambda: [a, b]))


def nested(c: Code, a: Value, b: Value) -> list[Operand]:
    return list(carried(c, a, b, lambda k, x, y: chosen(c, k, x, y)))


@pytest.mark.parametrize(
    ("start", "step", "equal"),
    [
        ((5, 5), lambda c, i, a, b: [c.add(a, i), c.add(b, i)], True),
        ((5, 5), lambda c, i, a, b: [c.add(a, i), c.add(b, 1)], False),
        ((5, 6), lambda c, i, a, b: [c.add(a, i), c.add(b, i)], False),
        ((5, 5), lambda c, i, a, b: [c.add(a, i), c.sub(b, i)], False),
        ((5, 5), lambda c, i, a, b: chosen(c, i, a, b), True),
        ((5, 5), lambda c, i, a, b: chosen(c, i, b, a), True),
        ((5, 5), lambda c, i, a, b: chosen(c, i, a, c.add(b, 1)), False),
        ((5, 5), lambda c, i, a, b: nested(c, a, b), True),
        ((5, 5), lambda c, i, a, b: nested(c, a, i), False),
        ((5, 6), lambda c, i, a, b: nested(c, a, b), False),
    ],
)
def test_what_a_loop_carries(start, step, equal) -> None:
    c = Code(NUMBER)
    first, second = carried(c, *start, lambda i, a, b: step(c, i, a, b))
    assert Congruence().are_equal(first, second) is equal
    assert Congruence().are_equal(first, first)


def test_what_depends_on_another_pair_that_parts() -> None:
    c = Code(NUMBER)
    *_, a, b = c.while_(
        [0, 1, 1, 2, 2],
        lambda i, *_: c.compare("LT", i, 3),
        lambda i, p, q, a, b: [c.add(i, 1), c.add(p, 1), c.add(q, 2), c.mul(a, p), c.mul(b, q)],
    )
    loop = a.owner
    places = [(1, 2), (3, 4)]
    assert Congruence().alike_in_loop(loop.operands, loop.regions[1], places) == [False, False]
    assert not Congruence().are_equal(a, b)


def test_values_without_a_common_computation() -> None:
    c = Code(NUMBER, NUMBER)
    x, y = c.params
    assert not Congruence().are_equal(x, y) and not Congruence().are_equal(x, c.add(x, 0))
    assert Congruence().are_equal(c.add(x, y), c.add(x, y)) and not Congruence().are_equal(
        c.add(x, y), c.add(y, x)
    )
