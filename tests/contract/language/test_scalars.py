"""Python scalars and `math`: exact kinds of results, signs of `//` and `%`, powers, shifts, rounding."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

INTS = ((7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (-6, 3), (0, 5))
FLOATS = ((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0), (6.0, 3.0), (0.0, 4.0), (5.0, math.inf))


@cases.each(*INTS)
def integer_arithmetic(a, b):
    return a + b, a - b, a * b, a / b, -a, +a, abs(a)


@cases.each(*INTS)
def integer_division(a, b):
    return a // b, a % b, divmod(a, b)


@cases.each(*FLOATS)
def float_arithmetic(a, b):
    return a + b, a - b, a * b, a / b, -a, abs(a), a**2, a**3


@cases.each(*FLOATS)
def float_division(a, b):
    return a // b, a % b, divmod(a, b)


@cases.each((7, 2.5), (-7, 2.5), (7.5, 2), (-7.5, 2))
def mixed_arithmetic(a, b):
    return a + b, a - b, a * b, a / b, a // b, a % b


@cases.each((3, 5), (5, 3), (4, 4), (2.5, 2), (2, 2.0))
def comparisons(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b


@cases.each((12, 10), (-12, 10), (5, 0))
def bits(a, b):
    return a & b, a | b, a ^ b, ~a


@cases.each((5, 2), (-5, 2), (1, 40))
def shifts(a, n):
    return a << n, a >> n


@cases.each((3,), (-3,), (0,))
def integer_powers(a):
    return a**0, a**1, a**2, a**5


@cases.each((2.0, 3.0), (2.0, -1.5), (0.25, 0.5), (4.0, 0.0))
def float_powers(a, b):
    return a**b, pow(a, b), math.pow(a, b), a**0.5, 2.0**b


@cases.each((2.0, 3), (-2.0, 3), (2.0, -2), (-1.5, 0))
def float_to_integer_powers(a, n):
    return a**n


@cases.each((2.5,), (3.5,), (-2.5,), (-0.4,), (7.0,), (1e9 + 0.5,))
def roundings(x):
    return round(x), int(x), math.floor(x), math.ceil(x), math.trunc(x)


@cases.each((2.567,), (-0.125,), (123.4,))
def round_to_digits(x):
    return round(x, 1), round(x, 2), round(x, 0)


@cases.each((3,), (-4,))
def conversions_of_integers(n):
    return int(n), float(n), bool(n), complex(n), round(n), n.real, n.imag


@cases.each((3.7,), (-3.7,), (0.0,))
def conversions_of_floats(x):
    return int(x), float(x), bool(x), complex(x)


@cases.each((True, False), (True, True))
def booleans_are_integers(a, b):
    return a + b, a * 3, -a, a < b, int(a), float(a), a + 0.5, a & b, a | b, a ^ b


@cases.each((3, 5), (5.5, 2.5), (-1, -1))
def minimum_and_maximum(a, b):
    return min(a, b), max(a, b), min(a, b, a + b), max((a, b)), sum((a, b)), sum([a, b], 10)


@cases.each((3.0, 4.0), (-1.0, 2.5))
def complex_arithmetic(a, b):
    z = complex(a, b)
    w = 1 - 2j
    return z + w, z * w, z - 1, z / w, -z, abs(z), z.real, z.imag, z.conjugate(), z == w


@cases.each((0.5,), (-0.25,), (0.0,))
def math_functions(x):
    return (
        (math.sin(x), math.cos(x), math.tan(x), math.asin(x), math.acos(x), math.atan(x)),
        (math.sinh(x), math.cosh(x), math.tanh(x), math.exp(x), math.expm1(x), math.log1p(x)),
        (math.fabs(x), math.degrees(x), math.radians(x), math.copysign(2.0, x), math.erf(x)),
    )


@cases.each((2.0, 3.0), (0.5, -4.0))
def more_math_functions(x, y):
    return (
        (math.sqrt(x), math.log(x), math.log2(x), math.log10(x), math.log(x, 3.0)),
        (math.hypot(x, y), math.atan2(y, x), math.fmod(y, x), math.pi * x, math.e + y, math.tau),
        (math.isnan(x), math.isinf(y), math.isfinite(x), math.prod([x, y]), math.inf > x),
    )


@cases.each((3, 4), (10, 5))
def math_on_integers(a, b):
    return math.sqrt(a), math.sin(a), math.floor(a), math.hypot(a, b), math.exp(-b)


@cases(1.0 + 2.0j)
def complex_functions(z):
    return cmath.exp(z), cmath.sqrt(z), abs(cmath.log(z)), z**2


@cases.each((math.inf, 1.0), (math.nan, 1.0), (-math.inf, 2.0))
def special_values(x, y):
    return x + y, x * y, x > y, x == x, x != x, -x, math.isnan(x), math.isinf(x)


@cases.each((2**40,), (-(2**53),), (2**62,))
def wide_integers(n):
    return n // 3, n % 1000, n >> 7, n - 1, n < 2**50


@cases.each((0.1, 0.2), (1e16, 1.0), (1e-300, 1e-10))
def floats_are_double(a, b):
    return a + b, a * b, (a + b) - a


@cases(np.float32(2.5), np.int8(3))
def python_conversions_of_numpy_scalars(x, n):
    return float(x), int(x), bool(x), int(n), float(n), abs(n), round(x), x.item(), n.item()


@cases(np.array(2.5), np.array([7]))
def python_conversions_of_arrays(x, n):
    return float(x), int(x), bool(x), n.item(), x.item()


@cases(3, 2.5)
def types_are_seen(n, x):
    return (
        isinstance(n, int),
        isinstance(x, float),
        type(n) is int,
        isinstance(x, int | float),
        isinstance(n, bool),
    )


@cases(np.float64(1.5), np.float32(1.5), np.int64(2))
def types_of_numpy_scalars(a, b, c):
    return (
        (isinstance(a, float), isinstance(b, float), isinstance(c, int)),
        (isinstance(a, np.floating), isinstance(c, np.integer), isinstance(b, np.generic)),
    )


@cases(1.0, 2.0)
@cases(-1.0, 2.0)
@cases(1.0, 0.0, raises=ZeroDivisionError)
@cases(-1.0, 0.0, raises=ZeroDivisionError)
def division_by_what_is_int_or_float(c, d):
    y = 1 if c > 0 else 1.5
    z = 2 if d > 0 else 0.0 * d if c > 0 else 0
    return (y // z) * 1.0


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_hash():
    def of_known_numbers(x):
        return hash(3) + x, hash((1, 2.5, True)), {hash(np.float64(2.5)): x}

    check(of_known_numbers, 1.5)
    for function in (lambda x: hash(x), lambda x: hash("a") + x, lambda x: hash(float("nan")) + x):
        check(function, 1.5, refused="PS604")
