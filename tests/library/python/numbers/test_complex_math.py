"""`cmath` and Python's complex arithmetic on a grid of special values: signs and NaN bit by bit, exceptions by text."""

import cmath
import itertools
import math

import pytest

import pystage

PARTS = [0.0, -0.0, 0.5, 1.0, -1.0, 800.0, -1e200, math.inf, -math.inf, math.nan]
NUMBERS = [complex(x, y) for x, y in itertools.product(PARTS, repeat=2)]
EXPONENTS = [
    0j,
    2 + 0j,
    3 + 0j,
    -1 + 0j,
    -3 + 0j,
    101 + 0j,
    0.5 + 0j,
    1j,
    -1 + 0.5j,
    complex(math.inf, 0),
    complex(0, math.inf),
]


def roots(z):
    return cmath.sqrt(z), cmath.phase(z), cmath.isinf(z), cmath.isnan(z), cmath.isfinite(z), z.conjugate(), -z


def arcs(z):
    return cmath.asin(z), cmath.acos(z), cmath.asinh(z), cmath.acosh(z)


def exponential(z):
    return cmath.exp(z)


def logarithm(z):
    return cmath.log(z)


def common_logarithm(z):
    return cmath.log10(z)


def sine(z):
    return cmath.sin(z)


def cosine(z):
    return cmath.cos(z)


def tangent(z):
    return cmath.tan(z)


def hyperbolic_sine(z):
    return cmath.sinh(z)


def hyperbolic_cosine(z):
    return cmath.cosh(z)


def hyperbolic_tangent(z):
    return cmath.tanh(z)


def arc_tangent(z):
    return cmath.atan(z)


def area_tangent(z):
    return cmath.atanh(z)


def polar(z):
    return cmath.polar(z)


def rectangular(z):
    return cmath.rect(z.real, z.imag)


def size(z):
    return abs(z)


def reciprocal(z):
    return 1 / z


def products(z):
    return z * 2.0, z * 1j, z / 2, z - 1, cmath.isclose(z, 1.0), cmath.isclose(z, 1 + 1j, abs_tol=2.0)


def cube(z):
    return z**3


def inverse_square(z):
    return z**-2


def root(z):
    return z**0.5


def power_of_two(z):
    return 2**z


def power_of_zero(z):
    return 0.0**z


UNARY = [
    *(roots, arcs, exponential, logarithm, common_logarithm, sine, cosine, tangent, hyperbolic_sine),
    *(hyperbolic_cosine, hyperbolic_tangent, arc_tangent, area_tangent, polar, rectangular, size),
    *(reciprocal, products, cube, inverse_square, root, power_of_two, power_of_zero),
]


def quotient(x, y):
    return x / y


def power(x, y):
    return x**y


def logarithm_to_base(x, y):
    return cmath.log(x, y)


def outcome(function, *args):
    """The result, or the exception's class and text."""
    try:
        return function(*args)
    except pystage.StagingError as error:
        return error.diagnostics[0].code
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


def numbers_of(result):
    """The real numbers in a result, in order."""
    if isinstance(result, tuple):
        return [x for part in result for x in numbers_of(part)]
    return [result.real, result.imag] if isinstance(result, complex) else [result]


def is_same(found, wanted):
    """Equal to rounding, with the signs of zeros, NaN and whatever is no number."""
    if type(found) is not type(wanted):
        return False
    for x, y in zip(numbers_of(found), numbers_of(wanted), strict=True):
        if not isinstance(y, float):
            same = x == y
        elif math.isnan(y):
            same = math.isnan(x)
        else:
            y = math.copysign(0.0, y) if abs(y) < 2.3e-308 else y  # subnormal numbers are zero
            same = math.isclose(x, y, rel_tol=1e-11) and math.copysign(1, x) == math.copysign(1, y)
        if not same:
            return False
    return True


def compare(function, arguments):
    staged = pystage.compile(function, fallback="error")
    for args in arguments:
        found, wanted = outcome(staged, *args), outcome(function, *args)
        assert is_same(found, wanted), (args, found, wanted)


@pytest.mark.parametrize("function", UNARY)
def test_special_values(function):
    compare(function, [(z,) for z in NUMBERS])


def test_powers():
    compare(power, itertools.product(NUMBERS[::3], EXPONENTS))


def test_quotients():
    compare(quotient, itertools.product(NUMBERS[::5], NUMBERS[::4]))


def test_logarithms_to_a_base():
    bases = [2.0, 10.0 + 0j, 1.0, 0j, math.inf + 0j]
    compare(logarithm_to_base, itertools.product(NUMBERS[::6], bases))


def real_argument(x):
    return cmath.sqrt(x), cmath.exp(x), cmath.log(x), cmath.isclose(x, x)


def test_real_arguments():
    compare(real_argument, [(-2.0,), (3,), (0.5,), (0,), (True,)])


def bad_tolerance(z):
    return cmath.isclose(z, z, rel_tol=-1.0)


def test_a_negative_tolerance():
    compare(bad_tolerance, [(1j,)])
