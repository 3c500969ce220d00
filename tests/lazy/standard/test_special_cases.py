"""The special cases that the standard's text lists for elementwise functions of real numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from pystage import lazy

inf, nan, pi = math.inf, math.nan, math.pi
NEGATIVE, POSITIVE = (-inf, -2.5, -1.0), (1.0, 2.5, inf)
FINITE = (-2.5, -1.0, -0.0, 0.0, 1.0, 2.5)
ALL = (*NEGATIVE, -0.0, 0.0, *POSITIVE, nan)
NUMBERS = ALL[:-1]

UNARY: dict[str, list[tuple[float, Any]]] = {
    "abs": [(nan, nan), (-0.0, 0.0), (-inf, inf)],
    "acos": [(nan, nan), (1.5, nan), (-1.5, nan), (1.0, 0.0)],
    "acosh": [(nan, nan), (0.5, nan), (1.0, 0.0), (inf, inf)],
    "asin": [(nan, nan), (1.5, nan), (-1.5, nan), (0.0, 0.0), (-0.0, -0.0)],
    "asinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "atan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, pi / 2), (-inf, -pi / 2)],
    "atanh": [(nan, nan), (-1.5, nan), (1.5, nan), (-1.0, -inf), (1.0, inf), (0.0, 0.0), (-0.0, -0.0)],
    "ceil": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (-0.5, -0.0)],
    "cos": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, nan), (-inf, nan)],
    "cosh": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, inf)],
    "exp": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0)],
    "expm1": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1.0)],
    "floor": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan)],
    "isfinite": [(inf, False), (-inf, False), (nan, False), (-0.0, True), (2.5, True)],
    "isinf": [(inf, True), (-inf, True), (nan, False), (2.5, False)],
    "isnan": [(nan, True), (inf, False), (2.5, False)],
    "log": [(nan, nan), (-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf)],
    "log10": [(nan, nan), (-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf)],
    "log1p": [(nan, nan), (-1.5, nan), (-1.0, -inf), (-0.0, -0.0), (0.0, 0.0), (inf, inf)],
    "log2": [(nan, nan), (-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf)],
    "negative": [(0.0, -0.0), (-0.0, 0.0), (inf, -inf), (nan, nan)],
    "reciprocal": [(inf, 0.0), (-inf, -0.0), (0.0, inf), (-0.0, -inf), (nan, nan)],
    "round": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (0.5, 0.0), (2.5, 2.0)],
    "sign": [(-2.5, -1.0), (-0.0, 0), (0.0, 0), (2.5, 1.0), (nan, nan), (-inf, -1.0)],
    "signbit": [(0.0, False), (-0.0, True), (inf, False), (-inf, True), (2.5, False), (-2.5, True)],
    "sin": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "sinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "sqrt": [(nan, nan), (-1.0, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf)],
    "square": [(-0.0, 0.0), (-inf, inf), (nan, nan)],
    "tan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "tanh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0)],
    "trunc": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (-0.5, -0.0)],
}
"""Each case: an operand and the result. The sign of an integer 0 does not matter."""


def cases(firsts: Any, seconds: Any, result: Any) -> list[tuple[float, float, Any]]:
    """One case for each pair: a result, or what `result` gives for the pair."""
    pairs = itertools.product(firsts, seconds)
    return [(x, y, result(x, y) if callable(result) else result) for x, y in pairs]


def turned(found: list[tuple[float, float, Any]]) -> list[tuple[float, float, Any]]:
    """The cases and those with the operands exchanged."""
    return [*found, *[(y, x, r) for x, y, r in found]]


NANS = turned(cases(ALL, (nan,), nan))
BINARY: dict[str, list[tuple[float, float, Any]]] = {
    "add": [
        *NANS,
        *turned([(inf, -inf, nan), (-0.0, 0.0, 0.0)]),
        *[(inf, inf, inf), (-inf, -inf, -inf), (-0.0, -0.0, -0.0), (0.0, 0.0, 0.0), (2.5, -2.5, 0.0)],
        *turned(cases((inf, -inf), FINITE, lambda x, y: x)),
    ],
    "atan2": [
        *NANS,
        *cases(POSITIVE[:2], (0.0, -0.0), pi / 2),
        *cases(NEGATIVE[1:], (0.0, -0.0), -pi / 2),
        *cases((0.0, -0.0), POSITIVE, lambda x, y: x),
        *cases((0.0, -0.0), (0.0,), lambda x, y: x),
        *cases((0.0, -0.0), (*NEGATIVE, -0.0), lambda x, y: math.copysign(pi, x)),
        *cases((1.0, 2.5), (inf,), 0.0),
        *cases((-1.0, -2.5), (inf,), -0.0),
        *cases((1.0, -2.5), (-inf,), lambda x, y: math.copysign(pi, x)),
        *cases((inf, -inf), FINITE, lambda x, y: math.copysign(pi / 2, x)),
        *[(inf, inf, pi / 4), (inf, -inf, 3 * pi / 4), (-inf, inf, -pi / 4), (-inf, -inf, -3 * pi / 4)],
    ],
    "copysign": cases(ALL[:-1], NUMBERS, lambda x, y: math.copysign(x, y)),
    "divide": [
        *NANS,
        *cases((inf, -inf), (inf, -inf), nan),
        *cases((0.0, -0.0), (0.0, -0.0), nan),
        *cases((0.0, -0.0), (-2.5, 2.5), lambda x, y: math.copysign(0.0, math.copysign(1, x) * y)),
        *cases((-2.5, 2.5), (0.0, -0.0), lambda x, y: math.copysign(inf, x * math.copysign(1, y))),
        *cases((inf, -inf), (-2.5, 2.5), lambda x, y: math.copysign(inf, x * y)),
        *cases((-2.5, 2.5), (inf, -inf), lambda x, y: math.copysign(0.0, x * y)),
    ],
    "floor_divide": [
        *NANS,
        *cases((inf, -inf), (inf, -inf), nan),
        *cases((0.0, -0.0), (0.0, -0.0), nan),
        *cases((0.0, -0.0), (-2.5, 2.5), lambda x, y: math.copysign(0.0, math.copysign(1, x) * y)),
        *cases((-2.5, 2.5), (0.0, -0.0), lambda x, y: math.copysign(inf, x * math.copysign(1, y))),
        *cases((inf, -inf), (-2.5, 2.5), lambda x, y: x * y),
        *[(2.5, inf, 0.0), (2.5, -inf, -0.0), (-2.5, inf, -0.0), (-2.5, -inf, 0.0)],
        *cases((inf, -inf), (0.0, -0.0), lambda x, y: math.copysign(x, x * math.copysign(1, y))),
    ],
    "hypot": [
        *turned(cases((inf, -inf), ALL, inf)),
        *turned(cases((0.0, -0.0), FINITE, lambda x, y: abs(y))),
        *turned(cases(FINITE, (nan,), nan)),
    ],
    "logaddexp": [*NANS, *turned(cases(NUMBERS, (inf,), inf))],
    "maximum": NANS,
    "minimum": NANS,
    "multiply": [
        *NANS,
        *turned(cases((inf, -inf), (0.0, -0.0), nan)),
        *turned(cases((inf, -inf), (-inf, -2.5, 2.5, inf), lambda x, y: math.copysign(inf, x * y))),
        *cases(
            FINITE, (0.0, -0.0), lambda x, y: math.copysign(0.0, math.copysign(1, x) * math.copysign(1, y))
        ),
    ],
    "nextafter": [*NANS, (0.0, -0.0, -0.0), (-0.0, 0.0, 0.0), (2.5, 2.5, 2.5), (inf, inf, inf)],
    "pow": [
        *cases([x for x in ALL if x != 1.0], (nan,), nan),
        *cases(ALL, (0.0, -0.0), 1.0),
        *cases((1.0,), ALL, 1.0),
        *cases((nan,), (-inf, -2.5, 2.5, inf), nan),
        *cases((2.5, -2.5, inf, -inf), (inf,), inf),
        *cases((2.5, -2.5, inf, -inf), (-inf,), 0.0),
        *cases((1.0, -1.0), (inf, -inf), 1.0),
        *cases((0.5, -0.5, 0.0), (inf,), 0.0),
        *cases((0.5, -0.5), (-inf,), inf),
        *cases((inf,), (2.5, 3.0), inf),
        *cases((inf,), (-2.5, -3.0), 0.0),
        *[(-inf, 3.0, -inf), (-inf, 2.5, inf), (-inf, -3.0, -0.0), (-inf, -2.5, 0.0)],
        *[(0.0, 2.5, 0.0), (0.0, -2.5, inf), (-0.0, 3.0, -0.0), (-0.0, 2.5, 0.0)],
        *[(-0.0, -3.0, -inf), (-0.0, -2.5, inf), (-2.5, 2.5, nan), (-1.0, 0.5, nan)],
    ],
    "remainder": [
        *NANS,
        *cases((inf, -inf), (inf, -inf), nan),
        *cases((0.0, -0.0), (0.0, -0.0), nan),
        *cases((0.0, -0.0), (2.5,), 0.0),
        *cases((0.0, -0.0), (-2.5,), -0.0),
        *cases((-2.5, 2.5), (0.0, -0.0), nan),
        *cases((inf, -inf), (-2.5, 2.5), nan),
        *[(2.5, inf, 2.5), (2.5, -inf, -inf), (-2.5, inf, inf), (-2.5, -inf, -2.5)],
    ],
    "subtract": [*NANS, (inf, inf, nan), (-0.0, 0.0, -0.0), (2.5, 2.5, 0.0), (0.0, -0.0, 0.0)],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_cases(dtype: str) -> None:
    results = []
    for name, table in (*UNARY.items(), *BINARY.items()):
        *columns, expected = zip(*table, strict=True)
        operands = [lazy.asarray(column, dtype=dtype) for column in columns]
        results.append((name, table, getattr(lazy, name)(*operands), expected))
    lazy.sync()
    for name, table, result, expected in results:
        for case, found, wanted in zip(table, np.asarray(result), expected, strict=True):
            assert found.dtype == (bool if isinstance(wanted, bool) else dtype), (name, case)
            assert is_same(found, wanted), (name, case, found)


def is_same(found: Any, wanted: Any) -> bool:
    """Equal up to rounding, with the same sign of a zero that is a float."""
    if isinstance(wanted, float) and wanted == 0:
        return bool(found == 0 and np.signbit(found) == np.signbit(wanted))
    return bool(np.isclose(found, wanted, rtol=1e-6, atol=0, equal_nan=True))


def test_complex_numbers_with_infinite_or_nan_parts() -> None:
    """`abs` is infinite with an infinite part, whatever the other one is; so are `isinf` and `isnan` by parts."""
    x = lazy.asarray([complex(inf, nan), complex(nan, -inf), complex(nan, 1.0), complex(3.0, 4.0)])
    assert np.array_equal(np.asarray(lazy.abs(x)), [inf, inf, nan, 5.0], equal_nan=True)
    assert lazy.isinf(x).tolist() == [True, True, False, False]
    assert lazy.isnan(x).tolist() == [True, True, True, False]
    assert lazy.isfinite(x).tolist() == [False, False, False, True]


COMPLEX_EXPM1 = [
    *((complex(x, zero), complex(0.0, zero)) for x in (0.0, -0.0) for zero in (0.0, -0.0)),
    *((complex(inf, zero), complex(inf, zero)) for zero in (0.0, -0.0)),
    *((complex(nan, zero), complex(nan, zero)) for zero in (0.0, -0.0)),
    *((complex(-inf, y), complex(-1.0, 0.0)) for y in (1.0, inf, nan)),
    *((complex(inf, y), complex(inf, nan)) for y in (inf, nan)),
    *((complex(x, y), complex(nan, nan)) for x, y in ((1.0, inf), (1.0, nan), (nan, 1.0), (nan, nan))),
    (complex(inf, 2.0), complex(-inf, inf)),
]
COMPLEX_TANH = [
    *((complex(0.0, y), complex(0.0, nan)) for y in (inf, nan)),
    *((complex(1.0, y), complex(nan, nan)) for y in (inf, nan)),
    *((complex(inf, y), complex(1.0, 0.0)) for y in (1.0, 2.0, 1e300, inf, nan)),
    *((complex(-inf, y), complex(-1.0, math.copysign(0.0, y))) for y in (2.0, -2.0)),
    (complex(nan, 0.0), complex(nan, 0.0)),
    (complex(nan, 1.0), complex(nan, nan)),
]


@pytest.mark.parametrize("name, listed", [("expm1", COMPLEX_EXPM1), ("tanh", COMPLEX_TANH)])
def test_complex_special_cases(name: str, listed: list[tuple[complex, complex]]) -> None:
    operands, results = zip(*listed, strict=True)
    found = np.asarray(getattr(lazy, name)(lazy.asarray(operands)))
    for made, wanted in zip(found, results, strict=True):
        assert is_same(made.real, wanted.real) and is_same(made.imag, wanted.imag), (name, made, wanted)
