"""What Python's own numbers raise: division, powers, shifts, conversions, `math`; integers beyond 64 bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checking import Cases, check

import pystage

cases = Cases()

BIG = 2**63 - 1
ZERO = {"raises": ZeroDivisionError}
DOMAIN = {"raises": ValueError}
RANGE = {"raises": OverflowError}


# ---------------------------------------------------------------- division


def divide(a, b):
    return a / b


def floor_divide(a, b):
    return a // b


def remainder(a, b):
    return a % b


def both(a, b):
    return divmod(a, b)


for _function in (divide, floor_divide, remainder, both):
    cases.each((7, 2), (-7, 2), (7.5, -2), (True, 2), (0, -3))(_function)
    cases.each((7, 0), (7.0, 0.0), (0.0, -0.0), (7, 0.0), (True, 0), (math.inf, 0), **ZERO)(_function)
cases(1 + 2j, 0j, **ZERO)(divide)
cases(1 + 2j, 1j)(divide)
cases(np.float64(1.0), 2.0)(divide)


@cases(3.0, 2)
@cases(3.0, 0, **ZERO)
def with_a_known_one(x, n):
    return 1 / n + x // 2.0 + x % 4


@cases(np.array([1.0, 2.0]), 2.0)
def numpys_own_do_not_raise(x, y):
    with np.errstate(all="ignore"):
        return x / (y - 2.0), x[0] / (x[1] - y), x[1] % (x[1] - y)


@cases([1, 2, 3], 2)
@cases([1, 0, 3], 2, **ZERO)
def in_a_sum(xs, k):
    return sum(k / x for x in xs)


@cases(np.array([4.0, 2.0]), 3.0)
def divisors_that_are_not_zero(x, y):
    total = 0.0
    for i in range(len(x)):
        total += 1.0 / (1.0 + y * y) + float(x[i]) / (i + 1) + y / len(x)
    return total


def test_divisors_that_are_not_zero_cost_nothing():
    program = pystage.compile(divisors_that_are_not_zero).lower(np.ones(3), 2.0).staged.program
    assert program.failure is None


# ---------------------------------------------------------------- powers


def power(a, b):
    return a**b


cases.each((2.0, 3.0), (2.0, -1.5), (-2.0, 3.0), (-2.0, -3.0), (0.0, 2.0), (0.0, 0.0), (math.inf, 0.5))(power)
cases.each((-2.0, math.inf), (math.nan, 0.5), (-2.0, math.nan), (2.0, -2000.0))(power)
cases.each((0.0, -1.0), (-0.0, -0.5), **ZERO)(power)
cases.each((1e200, 2.0), (2.0, 5000.0), (-1e200, 3.0), (1e-200, -2.0), **RANGE)(power)
cases(2 + 1j, 2.5)(power)
cases(0j, -1.0, **ZERO)(power)


@cases(3.0)
@cases(-3.0)
@cases(1e200, **RANGE)
def squared(x):
    return x**2 + (-x) ** 3


@cases(4.0)
@cases(0.0, **ZERO)
def inverse(x):
    return x**-2


@cases(2, 3)
@cases(-3, 3)
@cases(0, 5)
def known_integer_powers(n, k):
    return n**2, n**5, 2**k, (-2) ** k, n**0


@pytest.mark.parametrize("base, exponent", [(-8.0, 0.5), (-8.0, 1 / 3), (-1e-300, 0.1)])
def test_what_would_be_complex_is_refused_at_run_time(base, exponent):
    with pytest.raises(pystage.StagingError, match="PS811"):
        pystage.compile(power)(base, exponent)
    with pytest.raises(pystage.StagingError, match=r"PS811.*: `\(-8.0\) \*\* 0.5` is a complex number"):
        pystage.compile(lambda x: x**0.5)(-8.0)


# ---------------------------------------------------------------- integers beyond 64 bits


def test_integers_beyond_64_bits_are_refused_at_run_time():
    programs = [
        (lambda a, b: a + b, (BIG, 1), "9223372036854775807 + 1"),
        (lambda a, b: a + b, (-BIG, -2), "-9223372036854775807 + -2"),
        (lambda a, b: a + 1 + b, (BIG, 0), "9223372036854775807 + 1"),
        (lambda a, b: a - b, (-BIG, 2), "-9223372036854775807 - 2"),
        (lambda a, b: a - b, (0, -BIG - 1), "0 - -9223372036854775808"),
        (lambda a, b: 1 - a - b, (-BIG, 0), "1 - -9223372036854775807"),
        (lambda a, b: a * b, (2**32, 2**31), "4294967296 * 2147483648"),
        (lambda a, b: a * b, (3037000500, 3037000500), "3037000500 * 3037000500"),
        (lambda a, b: a * b, (-BIG - 1, -1), "-9223372036854775808 * -1"),
        (lambda a, b: a * 3 + b, (BIG // 3 + 1, 0), "3074457345618258603 * 3"),
        (lambda a, b: a * -7 + b, (-(BIG // 7) - 1, 0), "* -7"),
        (lambda a, b: a**3 + b, (2097152, 0), r"2097152 ** 3"),
        (lambda a, b: 3 ** (b & 63) + a, (0, 40), "3 ** 40"),
        (lambda a, b: a << b, (1, 63), "1 << 63"),
        (lambda a, b: a << b, (-3, 62), "-3 << 62"),
        (lambda a, b: a << b, (1, 400), "1 << 400"),
        (lambda a, b: -a + b, (-BIG - 1, 0), "-(-9223372036854775808)"),
        (lambda a, b: abs(a) + b, (-BIG - 1, 0), "abs(-9223372036854775808)"),
        (lambda a, b: a // b, (-BIG - 1, -1), "-9223372036854775808 // -1"),
        (lambda a, b: sum([a, b, a]), (BIG // 2, 2), " + "),
        (lambda a, b: math.factorial(a) + b, (21, 0), "math.factorial(21)"),
        (lambda a, b: math.lcm(a, b), (BIG, BIG - 1), " * "),
        (lambda a, b: int(a * 1e300), (1, 0), "int(1e+300)"),
        (lambda a, b: round(a * 1e30), (1, 0), "round(1e+30)"),
        (lambda a, b: math.floor(a * 1e30), (-1, 0), "math.floor(-1e+30)"),
    ]
    for function, args, operation in programs:
        with pytest.raises(pystage.StagingError) as caught:
            pystage.compile(function)(*args)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "PS810" and operation in diagnostic.headline, (
            operation,
            diagnostic.headline,
        )
        assert diagnostic.span.file == __file__


@cases(BIG - 1, 1)
@cases(-BIG, -1)
def sums_that_just_fit(a, b):
    return a + b


@cases(-1, -BIG - 1)
@cases(BIG, 0)
@cases(-BIG, 1)
def differences_that_just_fit(a, b):
    return a - b


@cases.each((3037000499, 3037000499), (2**31, -(2**32)), (BIG, -1), (BIG // 3, 3), (1, -BIG - 1), (0, -BIG))
def products_that_just_fit(a, b):
    return a * b


@cases.each((1, 62), (-1, 63), (0, 500), (2**40, 22), (-(2**40), 23))
def shifts_that_just_fit(a, b):
    return a << b


@cases(BIG // 3, 20)
@cases(-(BIG // 3), 39)
def other_results_that_just_fit(a, n):
    return a * 3, 3 ** (n & 63), BIG // 7 * 7, math.factorial(n % 21)


@cases(7, 2)
@cases(7, -1, **DOMAIN)
def shifted(a, n):
    return a >> n, a << n


@cases(10)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


# ---------------------------------------------------------------- conversions


@cases.each((2.7,), (-2.7,), (1e15,), (-(2.0**63),), (True,), (np.float32(3.5),))
@cases.each((math.nan,), (np.float64(math.nan),), **DOMAIN)
@cases.each((math.inf,), (-math.inf,), (np.float32(math.inf),), **RANGE)
def to_int(x):
    return int(x), math.floor(x), math.ceil(x), round(x)


@cases(np.zeros(2, np.uint8), 255)
@cases(np.zeros(2, np.uint8), 256, **RANGE)
@cases(np.zeros(2, np.uint8), -1, **RANGE)
@cases(np.zeros(2, np.int16), -32769, **RANGE)
@cases(np.zeros(2, np.uint64), -1, **RANGE)
@cases(np.zeros(2, np.float32), 2**62)
def stored(x, n):
    x[0] = 1
    x[1] = n
    return x


@cases(np.zeros(2, np.int64), 3.7)
@cases(np.zeros(2, np.int64), math.nan, **DOMAIN)
@cases(np.zeros(2, np.int64), -math.inf, **RANGE)
@cases(np.zeros(2, np.int64), 1e30, **RANGE)
@cases(np.zeros(2, np.uint8), 255.9)
@cases(np.zeros(2, np.uint8), -0.5)
@cases(np.zeros(2, np.uint8), 256.0, **RANGE)
@cases(np.zeros(2, np.uint8), -1.0, **RANGE)
@cases(np.zeros(2, np.int64), np.float64(math.nan), **DOMAIN)
def floats_stored(x, v):
    x[0] = v
    return x


@cases(np.array([1, 2], np.uint8), 200)
@cases(np.array([1, 2], np.uint8), 300, **RANGE)
def with_an_array(x, n):
    return x + n


@cases(np.array([1, 2], np.uint8), 300)
@cases(np.array([1, 2], np.uint8), 2)
def compared(x, n):
    return x < n, x == n


@cases(200)
@cases(300, **RANGE)
def constructed(n):
    return np.uint8(n)


@cases(np.array([2, 3]), np.array([1, 2]))
@cases(np.array([2, 3]), np.array([1, -2]), **DOMAIN)
@cases(np.array([2, 3]), -1, **DOMAIN)
@cases(np.int64(2), np.int64(-1), **DOMAIN)
@cases(np.array([2.0]), -1)
def numpy_powers(x, k):
    return x**k


# ---------------------------------------------------------------- math


def _of_math(function):
    def call(x):
        return getattr(math, function)(x)

    call.__name__ = function
    return call


GOOD = {
    "sqrt": (0.0, 2.0, math.inf, math.nan, -0.0),
    "exp": (0.0, 709.0, -1000.0, math.inf, -math.inf, math.nan),
    "expm1": (1.0,),
    "log": (1e-300, 2.0, math.inf, math.nan),
    "log2": (8.0,),
    "log10": (100.0,),
    "log1p": (0.0, -0.5),
    "sin": (1.0, math.nan),
    "cos": (1.0,),
    "tan": (1.0,),
    "asin": (1.0, -1.0, math.nan),
    "acos": (0.5,),
    "atan": (math.inf,),
    "sinh": (3.0, -math.inf),
    "cosh": (3.0,),
    "tanh": (math.inf,),
    "acosh": (1.0, 3.0),
    "atanh": (0.5,),
    "gamma": (5.0, 0.5, -0.5),
    "lgamma": (5.0, math.inf, -math.inf),
    "isqrt": (17, 0),
    "factorial": (20, 0),
    "erf": (math.inf,),
    "degrees": (2.0,),
}
BAD = {
    "sqrt": ((-1.0, ValueError), (-math.inf, ValueError), (-5e-300, ValueError)),
    "exp": ((1000.0, OverflowError),),
    "expm1": ((1000.0, OverflowError),),
    "log": ((0.0, ValueError), (-1.0, ValueError), (-math.inf, ValueError)),
    "log2": ((0.0, ValueError),),
    "log10": ((-2.0, ValueError),),
    "log1p": ((-1.0, ValueError),),
    "sin": ((math.inf, ValueError),),
    "cos": ((-math.inf, ValueError),),
    "tan": ((math.inf, ValueError),),
    "asin": ((1.5, ValueError),),
    "acos": ((-1.5, ValueError),),
    "sinh": ((-1000.0, OverflowError),),
    "cosh": ((1000.0, OverflowError),),
    "acosh": ((0.5, ValueError),),
    "atanh": ((1.0, ValueError),),
    "gamma": ((0.0, ValueError), (-3.0, ValueError), (200.0, OverflowError), (-math.inf, ValueError)),
    "lgamma": ((0.0, ValueError), (-3.0, ValueError)),
    "isqrt": ((-1, ValueError),),
    "factorial": ((-1, ValueError),),
}
for _name, _values in GOOD.items():
    cases.each(*[(v,) for v in _values])(_of_math(_name))
for _name, _pairs in BAD.items():
    for _value, _error in _pairs:
        cases(_value, raises=_error)(_of_math(_name))


@cases(8.0, 2.0)
@cases(8.0, 1.0, **ZERO)
@cases(8.0, 0.0, **DOMAIN)
@cases(-8.0, 2.0, **DOMAIN)
def logarithm(x, base):
    return math.log(x, base)


@cases(2.0, 3.0)
@cases(0.0, -1.0, **DOMAIN)
@cases(-1.0, 0.5, **DOMAIN)
@cases(1e200, 2.0, **RANGE)
def power_of_math(x, y):
    return math.pow(x, y)


@cases(7.5, 2.0)
@cases(7.5, 0.0, **DOMAIN)
@cases(math.inf, 2.0, **DOMAIN)
def remainders_of_math(x, y):
    return math.fmod(x, y), math.remainder(x, y)


@cases(1.5, 3)
@cases(1.5, 5000, **RANGE)
def scaled(x, n):
    return math.ldexp(x, n)


@cases(np.array([1.0, 4.0]), 3.0)
@cases(np.array([1.0, -4.0]), 3.0, **DOMAIN)
def in_a_loop(x, y):
    for i in range(len(x)):
        x[i] = math.sqrt(x[i]) + math.sqrt(y * y + 1.0)
    return x


def test_roots_of_what_is_not_negative_cost_nothing():
    def length(x, y):
        return math.sqrt(x * x + y * y), math.sqrt(abs(x)), math.exp(-1.0), math.log(1.0 + x * x)

    program = pystage.compile(length).lower(1.0, 2.0).staged.program
    assert program.failure is None


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
