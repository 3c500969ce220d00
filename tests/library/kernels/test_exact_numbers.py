"""What Python's numbers give bit for bit: quotients by constants, comparisons of ints with floats, `round`.

Compiled and interpreted, against CPython, without any tolerance.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from checking import Cases, check

import pystage

cases = Cases()
HALVES = [2.675, 0.5, 1.5, -0.5, 1.005, 92.56765, -617865.8169952189, 49.5e9, -3.4959127450521983]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**53 + 2, 2.0**52 + 0.5, 5e21, 1.5e22, 1e-30]


@cases.each((49.0,), (9309.0,), (float(np.float32(0.1)),))
def quotients_by_constants(x: Any) -> Any:
    return x / 49.0, int(x / 49.0), x / 1000.0, x / 4.0, (x * 3.0) / 0.1


@cases.each((np.arange(1.0, 200.0),), (np.arange(1.0, 200.0, dtype=np.float32),), (np.float16(49.0),))
def quotients_of_arrays(x: Any) -> Any:
    return x / 49, (x / 49).astype(np.int64), x / np.array(3.0, np.float32), np.floor(x / 7.0), np.mean(x / 5)


def per_seven(x: Any, by: Any) -> Any:
    return x / by


@cases(49.0)
def quotients_in_callees(x: Any) -> Any:
    return per_seven(x, 49.0), per_seven(x, 7.0), per_seven(x + 1.0, 49.0)


@cases.each(
    (2**53 + 1, 2.0**53),
    (-(2**53) - 1, -(2.0**53)),
    (2**63 - 1, 2.0**63),
    (2**63 - 1024, 2.0**63 - 1024),
    (-(2**63), -(2.0**63)),
    (2**62 + 1, math.nan),
    (2**62 + 1, math.inf),
    (3, -0.0),
)
def integer_against_float(n: Any, x: Any) -> Any:
    return [
        [n == x, n != x, n < x, n <= x, n > x, n >= x, x == n, x != n, x < n, x <= n, x > n, x >= n],
        [n == 2.0**53, n < 2.0**63, n >= 0.5, n > math.inf, n != math.nan, n >= 2.0**53 + 2],
        n in (1.5, x),
    ]


@cases.each((2.0**53,), (1e30,), (math.nextafter(1e30, math.inf),), (-math.inf,), (math.nan,), (2.0**64,))
def float_against_known_integers(x: Any) -> Any:
    found = []
    for n in (2**53 + 1, -(2**53) - 1, 10**30, 10**400, -(10**400), 2**64 + 1, 2**64, -(10**30)):
        found += [n == x, n != x, n < x, n <= x, n > x, n >= x, x < n, x >= n]
    return found


@cases.each(*[(x,) for x in HALVES + SPECIAL])
def rounded(x: Any) -> Any:
    near = [round(x, 0), round(x, 1), round(x, 2), round(x, 4), round(x, 5), round(x, 13), round(x, 22)]
    far = [
        round(x, -1),
        round(x, -3),
        round(x, -9),
        round(x, -22),
        round(x, 400),
        round(x, -400),
        round(x, 323),
    ]
    return near, far


@cases.each((2**62 + 12345,), (-(2**62) - 25,), (25,), (-35,), (15_000_000,))
def rounded_integers(n: Any) -> Any:
    return [round(n, 2), round(n, -1), round(n, -2), round(n, -7), round(n, -18), round(n, -25)]


@cases.each((np.float64(1.5),), (np.array([1.5, 2.25, -0.0]),), (np.float32(2.25),))
def rounded_as_numpy_does(x: Any) -> Any:
    return np.round(x, 1), np.round(x, 400), np.round(x, -400), np.sign(x), np.sign(-x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_exact(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, tolerance=0.0, **options)


@pytest.mark.parametrize("x", (-0.0, -0.4, -1e-30))
def test_signs_of_zero(x: float) -> None:
    def signed(x: Any) -> Any:
        return round(x, 0), round(x, -2), round(x, -400), np.sign(x), np.sign(np.array([x, 0.0]) * 0.0)

    assert repr(pystage.compile(signed, fallback="error")(x)) == repr(signed(x))


def test_many_numbers_round_as_in_cpython() -> None:
    draw = random.Random(0)
    staged = pystage.compile(rounded, fallback="error")
    for _ in range(300):
        x = (draw.randint(-(10**7), 10**7) + 0.5) * 10.0 ** draw.randint(-9, 22)
        assert repr(staged(x)) == repr(rounded(x))
