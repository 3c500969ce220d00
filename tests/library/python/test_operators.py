"""Operators on every pair of kinds of number, against the plain operator."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from library.harness import Known, PlainContext, check, refused
from pystage.compiler.analysis.ranges import Interval
from pystage.compiler.library.kernels.structures import abstract
from pystage.compiler.library.python.numbers.python_numbers import PYTHON_OPERATORS
from pystage.compiler.library.python.operators import binary, compare, contains, inplace, is_, unary
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.lattice import Array, Const

ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**"]
BITS = ["&", "|", "^", "<<", ">>"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
DTYPES = ["bool", "int8", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64"]


def door(op: str) -> Any:
    """The door for an operator as a function of the context and the operands."""
    function = compare if op in COMPARISONS else binary
    return lambda ctx, x, y: function(ctx, op, x, y)


def number(dtype: str, value: float) -> np.generic:
    return np.dtype(dtype).type(value)


def array(dtype: str, second: bool) -> np.ndarray:
    """Small numbers; of the second operand none is 0, negative, or great."""
    if second:
        return np.array([1, 2, 3, 1], dtype)
    return np.array([0, 1, 7, 100], dtype) if dtype[0] in "bu" else np.array([-3, 0, 7, 100], dtype)


PYTHON = [True, 7, 2.5, 1.5 + 2j]


@pytest.mark.parametrize("op", ARITHMETIC + BITS + COMPARISONS)
def test_python_scalars(op: str) -> None:
    """Staged with staged, staged with known, known with staged; in every pair of types."""
    for x, y in itertools.product(PYTHON, [True, 3, 1.5, 0.5 - 1j]):
        if op == "**" and type(x) in (bool, int) and type(y) in (bool, int):
            check(door(op), PYTHON_OPERATORS[op], x, Known(y))
            continue
        for wrap in (lambda v: (v[0], v[1]), lambda v: (Known(v[0]), v[1]), lambda v: (v[0], Known(v[1]))):
            check(door(op), PYTHON_OPERATORS[op], *wrap((x, y)))


@pytest.mark.parametrize("op", ["//", "%", "/", "+", "-", "*"])
def test_python_signs(op: str) -> None:
    for x, y in itertools.product([-7, -6, 0, 6, 7], [-3, -2, 2, 3]):
        check(door(op), PYTHON_OPERATORS[op], x, y)
        check(door(op), PYTHON_OPERATORS[op], float(x), float(y))
        check(door(op), PYTHON_OPERATORS[op], x, Known(y))


@pytest.mark.parametrize("op", ["/", "//", "%"])
def test_python_division_by_known_zero(op: str) -> None:
    for x, y in itertools.product([1, 1.5, True], [0, 0.0, False]):
        check(door(op), PYTHON_OPERATORS[op], x, Known(y))


def test_python_powers() -> None:
    for y in (-2, -1, 0, 1, 2, 5):
        check(door("**"), operator.pow, 3, Known(y))
        check(door("**"), operator.pow, 1.5, Known(y))
        check(door("**"), operator.pow, 1.5, y)
    check(door("**"), operator.pow, Known(2), 5.0)


@pytest.mark.parametrize("op", [*ARITHMETIC, "==", "<"])
@pytest.mark.parametrize("left", DTYPES)
def test_numpy_arrays(op: str, left: str) -> None:
    for right in DTYPES:
        check(door(op), PYTHON_OPERATORS[op], array(left, False), array(right, True))


@pytest.mark.parametrize("op", BITS)
def test_numpy_bits(op: str) -> None:
    for left, right in itertools.product(DTYPES, DTYPES):
        check(door(op), PYTHON_OPERATORS[op], array(left, False), array(right, True))


@pytest.mark.parametrize("op", [*ARITHMETIC, "==", "<", "&", "<<"])
def test_numpy_with_python_scalars(op: str) -> None:
    for dtype, value in itertools.product(DTYPES, [True, 3, 1.5, 1j]):
        for x in (array(dtype, True), number(dtype, 3)):
            check(door(op), PYTHON_OPERATORS[op], x, value)
            check(door(op), PYTHON_OPERATORS[op], x, Known(value))
            check(door(op), PYTHON_OPERATORS[op], value, x)
            check(door(op), PYTHON_OPERATORS[op], Known(value), x)


@pytest.mark.parametrize("op", ["+", "/", "//", "**", "<"])
def test_numpy_scalars(op: str) -> None:
    for left, right in itertools.product(DTYPES, DTYPES):
        check(door(op), PYTHON_OPERATORS[op], number(left, 5), number(right, 2))
        check(door(op), PYTHON_OPERATORS[op], number(left, 5), array(right, True))


@pytest.mark.parametrize("op", ["//", "%", "/"])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "float64"])
def test_numpy_division_by_zero_and_signs(op: str, dtype: str) -> None:
    values = [0, 1, 5, 7] if dtype[0] == "u" else [-7, -1, 0, 1, 7]
    pairs = np.array(list(itertools.product(values, values)), dtype)
    check(door(op), PYTHON_OPERATORS[op], pairs[:, 0].copy(), pairs[:, 1].copy())


@pytest.mark.parametrize("op", ["//", "%"])
def test_float_division_special_values(op: str) -> None:
    values = [-np.inf, -2.5, -0.0, 0.0, 2.5, np.inf, np.nan]
    pairs = np.array(list(itertools.product(values, values)))
    check(door(op), PYTHON_OPERATORS[op], pairs[:, 0].copy(), pairs[:, 1].copy())


@pytest.mark.parametrize("op", COMPARISONS)
def test_integers_out_of_range_are_compared_exactly(op: str) -> None:
    for dtype, value in itertools.product(["uint8", "int8", "uint64", "int32"], [-1, 300, 2**63, 2**40, 0]):
        x = np.array([0, 5, 100], dtype)
        check(door(op), PYTHON_OPERATORS[op], x, Known(value))
        check(door(op), PYTHON_OPERATORS[op], Known(value), x)
        if value < 2**63:
            check(door(op), PYTHON_OPERATORS[op], x, value)
    check(door(op), PYTHON_OPERATORS[op], np.array([-1, 5]), np.array([2**64 - 1, 5], np.uint64))


@pytest.mark.parametrize("value", [300, -1])
def test_integers_out_of_range_raise(value: int) -> None:
    check(door("+"), operator.add, np.array([1], np.uint8), Known(value))
    check(door("+"), operator.add, np.uint8(1), Known(value))


def test_bfloat16() -> None:
    x = np.array([1, 2, 3], ml_dtypes.bfloat16)
    for op, y in itertools.product("+*/", [2.0, np.float32(2), np.array([1, 2, 3], np.float16), 3]):
        check(door(op), PYTHON_OPERATORS[op], x, y)


@pytest.mark.parametrize("exponent", [-1, 0, 0.5, 1, 2, 2.0, 3, -2, True])
def test_numpy_powers_of_known_exponents(exponent: float) -> None:
    for dtype in DTYPES:
        check(door("**"), operator.pow, array(dtype, True), Known(exponent))
        check(door("**"), operator.pow, number(dtype, 3), Known(exponent))


# ---------------------------------------------------------------- JAX

JAX_DTYPES = ["bool", "uint8", "int32", "float32", "complex64"]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("op", [*ARITHMETIC, "==", "<", "&", ">>"])
def test_jax(op: str, x64: bool) -> None:
    """Arrays with arrays, weak ones, Python and NumPy scalars, and ndarrays."""
    with jax.enable_x64(x64):
        for left in JAX_DTYPES:
            x = jnp.asarray(array(left, True))
            others = [jnp.asarray(array(d, True)) for d in ("int32", "float32", "uint8", "bool")]
            others += [
                np.float64(2),
                np.int64(2),
                np.array([1.0, 2.0, 3.0, 4.0]),
                jnp.asarray(2),
                jnp.asarray(2.0),
            ]
            for y in others:
                check(door(op), PYTHON_OPERATORS[op], x, y)
                check(door(op), PYTHON_OPERATORS[op], y, x)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("op", ["+", "/", "//", "==", "<"])
def test_jax_with_python_scalars(op: str, x64: bool) -> None:
    with jax.enable_x64(x64):
        for left, y in itertools.product(JAX_DTYPES, [True, 3, 1.5, 2j]):
            x = jnp.asarray(array(left, True))
            check(door(op), PYTHON_OPERATORS[op], x, Known(y))
            check(door(op), PYTHON_OPERATORS[op], Known(y), x)
            check(door(op), PYTHON_OPERATORS[op], x, y)


@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2, 3, 5, 0.5, 2.0])
def test_jax_powers(exponent: float) -> None:
    for dtype in JAX_DTYPES:
        check(door("**"), operator.pow, jnp.asarray(array(dtype, True)), Known(exponent))
    check(door("**"), operator.pow, jnp.asarray(3.0), Known(exponent))


# ---------------------------------------------------------------- unary, kinds, bounds


@pytest.mark.parametrize("op", ["-", "+", "~"])
def test_unary(op: str) -> None:
    plain = {"-": operator.neg, "+": operator.pos, "~": operator.invert}[op]

    def staged(ctx: PlainContext, x: Any) -> Any:
        return unary(ctx, op, x)

    for value in [7, -7, 2.5, 1 + 2j]:
        check(staged, plain, value)
        check(staged, plain, Known(value))
    for dtype in DTYPES:
        check(staged, plain, array(dtype, False))
        check(staged, plain, number(dtype, 1))
    for dtype in JAX_DTYPES:
        check(staged, plain, jnp.asarray(array(dtype, False)))


def test_negation_of_a_staged_boolean_is_an_integer() -> None:
    check(lambda ctx, x: unary(ctx, "-", x), operator.neg, True)


def range_of(op: str, x: tuple[int, int], y: tuple[int, int] | int) -> Interval:
    ctx = PlainContext()
    operands = []
    for side in (x, y):
        if isinstance(side, int):
            operands.append(Const(side))
            continue
        made = ctx.lift(0)
        assert isinstance(made, Array)
        operands.append(Array(made.value, Form.PYTHON, False, side))
    result = binary(ctx, op, *operands)
    assert isinstance(result, Array)
    return result.range


@pytest.mark.parametrize("op", ["+", "-", "*", "//", "%"])
def test_ranges_hold_and_are_tight_at_the_ends(op: str) -> None:
    ranges = [(-5, -1), (-3, 4), (0, 6), (2, 9)]
    divisors = [(1, 1), (1, 4), (3, 5)]
    for x, y in itertools.product(ranges, divisors if op in "//%" else ranges):
        low, high = range_of(op, x, y)
        results = [PYTHON_OPERATORS[op](i, j) for i in range(x[0], x[1] + 1) for j in range(y[0], y[1] + 1)]
        assert low <= min(results), (op, x, y, low)
        assert high >= max(results), (op, x, y, high)
        if op in "+-*":
            assert (low, high) == (min(results), max(results))


def test_ranges_prove_an_index_non_negative() -> None:
    assert range_of("//", (0, 9), 2) == (0, 4)
    assert range_of("%", (0, 9), 4) == (0, 3)
    assert range_of("-", (1, 9), 1) == (0, 8)


def test_ranges_decide_comparisons() -> None:
    ctx = PlainContext()
    made = ctx.lift(0)
    assert isinstance(made, Array)
    i = Array(made.value, Form.PYTHON, False, (0, 9))
    for op, y, expected in (
        (">=", 0, True),
        ("<", 0, False),
        ("<", 10, True),
        ("==", 11, False),
        ("!=", -1, True),
    ):
        result = compare(ctx, op, i, Const(y))
        assert isinstance(result, Const)
        assert result.value is expected
    assert isinstance(compare(ctx, "<", i, Const(9)), Array)


# ---------------------------------------------------------------- in place


@pytest.mark.parametrize("op", ARITHMETIC + BITS)
def test_inplace_on_arrays(op: str) -> None:
    """Stored into the same memory, or refused where NumPy does not cast."""
    plain = getattr(operator, {"+": "iadd", "-": "isub", "*": "imul", "/": "itruediv", "//": "ifloordiv",
                               "%": "imod", "**": "ipow", "&": "iand", "|": "ior", "^": "ixor",
                               "<<": "ilshift", ">>": "irshift"}[op])  # fmt: skip

    def staged(ctx: PlainContext, x: Any, y: Any) -> Any:
        result = inplace(ctx, op, x, y)
        assert result is x
        return result

    for left, right in itertools.product(DTYPES, DTYPES):
        check(staged, plain, array(left, True), array(right, True))
        check(staged, plain, array(left, True), number(right, 2))
    for dtype, value in itertools.product(DTYPES, [2, 1.5, 1j]):
        check(staged, plain, array(dtype, True), value)


def test_inplace_with_a_jax_array_rebinds() -> None:
    def staged(ctx: PlainContext, x: Any, y: Any) -> Any:
        return inplace(ctx, "+", x, y)

    check(staged, operator.iadd, np.ones(3, np.float32), jnp.ones(3, np.float32))
    check(staged, operator.iadd, 2.0, np.ones(3))
    check(staged, operator.iadd, [1, 2.5], (3,))
    check(staged, operator.iadd, (1, 2.5), (3,))
    check(staged, operator.iadd, np.ones((3, 2)), np.ones(2))
    check(staged, operator.iadd, np.ones(2), np.ones((3, 2)))


# ---------------------------------------------------------------- structure


@pytest.mark.parametrize(
    ("op", "x", "y"),
    [
        ("+", (1, 2.5), (3,)),
        ("+", [1, 2.5], [np.ones(2)]),
        ("*", [1, 2.5], Known(3)),
        ("*", Known(2), (1, 2.5)),
        ("*", [1.5], Known(np.int64(2))),
        ("+", "a", "b"),
        ("%", "%d-%s", Known((1, "x"))),
        ("*", "ab", Known(2)),
        ("|", {1, 2}, {3}),
        ("-", {1, 2}, {2}),
        ("|", {"a": 1.5}, {"b": 2, "a": 3}),
        ("+", [1, 2], np.array([1.5, 2])),
        ("+", np.array([1.5, 2]), (1, 2)),
        ("+", (1, 2), [3]),
        ("+", [1], 2),
        ("+", np.ones(2), "a"),
        ("-", {"a": 1}, 3),
        ("+", None, 2.5),
    ],
)
def test_structure(op: str, x: Any, y: Any) -> None:
    check(door(op), PYTHON_OPERATORS[op], x, y)


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((1, 2.5), (1, 2.5)),
        ((1, 2.5), (1, 3.5)),
        ((1, 2), (1, 2, 3)),
        ([1, 2], [1, 1]),
        ((), (1,)),
        (("a", 1), ("b", 0)),
        ({1, 2}, {1, 2, 3}),
        ("a", "b"),
    ],
)
def test_structure_comparison(op: str, x: Any, y: Any) -> None:
    check(door(op), PYTHON_OPERATORS[op], x, y)


@pytest.mark.parametrize("op", ["==", "!="])
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((1, 2), [1, 2]),
        ({"a": 1.5}, {"a": 1.5}),
        ({"a": 1.5}, {"b": 1.5}),
        ({"a": 1.5}, {"a": 2.5}),
        (1.5, "a"),
        (1.5, None),
        (None, [1]),
        (np.ones(3), None),
        (np.float32(2), None),
        ("a", np.ones(2)),
        (np.ones(2), (1, 2)),
    ],
)
def test_equality_of_what_differs_in_type(op: str, x: Any, y: Any) -> None:
    check(door(op), PYTHON_OPERATORS[op], x, y)


@pytest.mark.parametrize(
    ("item", "container"),
    [
        (2, (1, 2)),
        (3, [1, 2]),
        (1.0, (1, 2)),
        (Known("a"), {"a": 1.5}),
        (Known("b"), {"a": 1.5}),
        (Known(2), {1, 2}),
        ("b", "abc"),
        (Known(3), range(5)),
        (Known(1), (Known(1), 2.5)),
        (2, ()),
    ],
)
def test_contains(item: Any, container: Any) -> None:
    plain = (
        tuple(v.value if isinstance(v, Known) else v for v in container)
        if isinstance(container, tuple)
        else None
    )
    check(
        lambda ctx, i, c: contains(ctx, i, c),
        lambda i, c: i in (c if plain is None else plain),
        item,
        container,
    )


def test_identity() -> None:
    ctx = PlainContext()
    first, second = ctx.lift([1]), ctx.lift([1])
    value = ctx.lift(2.5)
    for x, y, expected in (
        (first, first, True),
        (first, second, False),
        (first, None, False),
        (value, None, False),
        (value, value, True),
        (None, None, True),
        (Const(float), float, True),
    ):
        result = is_(ctx, abstract(x), abstract(y))
        assert isinstance(result, Const)
        assert result.value is expected
    refused("PS210", lambda c, x, y: is_(c, x, y), 2.5, 3.5)


def test_shapes_that_do_not_broadcast() -> None:
    refused("PS201", door("+"), np.ones(2), np.ones(3))
    check(door("*"), operator.mul, np.ones((2, 1)), np.ones((1, 3)))
    check(door("*"), operator.mul, np.ones((0, 1)), np.ones((1, 3)))
