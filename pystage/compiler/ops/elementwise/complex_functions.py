"""Functions of complex numbers by their real and imaginary parts, with the special values of C99's Annex G.

In: the parts of the operand. Out: those of the result, as C libraries have them, and so NumPy and CPython: the signs of
zeros, the sides of branch cuts, infinities and NaN (ISO/IEC 9899:2011, G.6), and no overflow on the way to what is no
overflow. XLA's own functions of complex numbers lose some of each. Where Annex G leaves the sign of a zero open, it is
glibc's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .parts import Pair, Part, by_xla, constant, where

# ---------------------------------------------------------------- exponentials


def _limits(x: Part) -> tuple[float, float]:
    """The least normal and the largest number."""
    info: np.finfo[Any] = np.finfo(x.type.dtype)
    return float(info.tiny), float(info.max)


def _largest_exponent(x: Part) -> float:
    """The greatest whole number whose exponential is no overflow."""
    return math.floor(math.log(_limits(x)[1]))


def exponential(x: Part, y: Part) -> Pair:
    """`e^x (cos y + i sin y)`; where `e^x` is an overflow that the angle takes back, in two factors."""
    limit = _largest_exponent(x)
    beyond = x > limit
    size = where(beyond, x - limit, x).apply("exponential")
    factor = where(beyond, constant(x, math.exp(limit)), 1.0)
    no_angle = x.is_infinite() & ~y.is_finite()
    cosine = where(no_angle, 1.0, y.apply("cosine"))
    sine = where(no_angle & (x < 0.0), constant(y, 1.0).signed(y), y.apply("sine"))
    return size * cosine * factor, where(y.equals(0.0), y, size * sine * factor)


def exponential_minus_one(x: Part, y: Part) -> Pair:
    """`e^z - 1` as NumPy has it: `expm1(x) cos y - 2 sin(y/2)^2` and `e^x sin y`, infinities and all."""
    half = (y * 0.5).apply("sine")
    real = x.apply("exponential_minus_one") * y.apply("cosine") - 2.0 * half * half
    return real, x.apply("exponential") * y.apply("sine")


def _hyperbolic(x: Part) -> tuple[Part, Part, Part]:
    """`sinh |x|` and `cosh |x|` by one exponential, and a factor that both lack where they would be an overflow."""
    limit = _largest_exponent(x)
    size = abs(x)
    beyond = size > limit
    rest = where(beyond, size - limit, size).apply("minimum", limit)
    minus_one = rest.apply("exponential_minus_one")
    power = minus_one + 1.0
    half = 0.5 * power
    sine = where(beyond, half, 0.5 * (minus_one + minus_one / power))
    cosine = where(beyond, half, half + 0.5 / power)
    return sine, cosine, where(beyond, constant(x, math.exp(limit)), 1.0)


def sinh(x: Part, y: Part) -> Pair:
    """`sinh x cos y + i cosh x sin y`."""
    sine, cosine, factor = _hyperbolic(x)
    no_angle = x.is_infinite() & ~y.is_finite()
    real = sine.signed(x) * y.apply("cosine") * factor
    real = where(no_angle, math.inf, where(x.equals(0.0) & ~y.is_finite(), x, real))
    return real, where(y.equals(0.0), y, cosine * y.apply("sine") * factor)


def cosh(x: Part, y: Part) -> Pair:
    """`cosh x cos y + i sinh x sin y`."""
    sine, cosine, factor = _hyperbolic(x)
    no_angle = x.is_infinite() & ~y.is_finite()
    real = cosine * where(no_angle, 1.0, y.apply("cosine")) * factor
    imaginary = sine.signed(x) * y.apply("sine") * factor
    imaginary = where(x.equals(0.0) & ~y.is_finite(), 0.0, imaginary)
    return real, where(y.equals(0.0), y.turned((x < 0.0) | (1.0 / x < 0.0)), imaginary)


def tanh(x: Part, y: Part) -> Pair:
    """By `q = e^(-2|x|)`, which is no overflow: `((1 - q^2) + 4 i q sin y cos y) / ((1 - q)^2 + 4 q cos^2 y)`.

    It is Kahan's formula (Branch cuts for complex elementary functions, 1987) with numerator and denominator times 4q.
    """
    twice = -2.0 * abs(x)
    power, rest = twice.apply("exponential"), -twice.apply("exponential_minus_one")
    no_angle = x.is_infinite() & ~y.is_finite()
    sine, cosine = y.apply("sine"), y.apply("cosine")
    product = where(no_angle, constant(y, 1.0).signed(y), sine * cosine)
    square = where(no_angle, 1.0, cosine * cosine)
    divisor = rest * rest + 4.0 * power * square
    real = where(x.equals(0.0), x, (rest * (power + 1.0) / divisor).signed(x))
    return real, where(y.equals(0.0), y, 4.0 * power * product / divisor)


def cosine(x: Part, y: Part) -> Pair:
    """`cos z = cosh iz`."""
    return cosh(-y, x)


def sine(x: Part, y: Part) -> Pair:
    """`sin z = -i sinh iz`."""
    return _swapped(sinh(y, x))


def tangent(x: Part, y: Part) -> Pair:
    """`tan z = -i tanh iz`."""
    return _swapped(tanh(y, x))


def _swapped(pair: Pair) -> Pair:
    return pair[1], pair[0]


# ---------------------------------------------------------------- roots and logarithms


def square_root(x: Part, y: Part) -> Pair:
    """XLA's above the real axis, turned from there."""
    real, imaginary = by_xla("sqrt", x, abs(y))
    endless = y.is_infinite()
    real = where(endless | x.equals(math.inf), math.inf, real)
    imaginary = where(endless | (x.equals(-math.inf) & y.is_nan()), math.inf, imaginary)
    return real, imaginary.signed(y)


def logarithm(x: Part, y: Part) -> Pair:
    """XLA's; of an infinite number it is infinite, also where the other part is NaN."""
    real, imaginary = by_xla("log", x, y)
    return where(x.is_infinite() | y.is_infinite(), math.inf, real), imaginary


def logarithm_plus_one(x: Part, y: Part) -> Pair:
    """`log(1 + z)` as NumPy has it: of the rounded sum, so that digits of small numbers are lost."""
    sum = x + 1.0
    e = x.e
    type = x.type.with_dtype(np.dtype(f"c{2 * x.type.dtype.itemsize}"))
    whole = e.create("complex", [type], [sum.value, y.value]).results[0]
    size = Part(e, x.type, e.create("abs", [x.type], [whole]).results[0])
    size = where(x.is_infinite() | y.is_infinite(), math.inf, size)
    return size.apply("log"), y.apply("atan2", sum)


# ---------------------------------------------------------------- inverse functions


def _in_first_quadrant(formula: str, x: Part, y: Part) -> Pair:
    return by_xla(formula, abs(x), abs(y))


def arc_sine(x: Part, y: Part) -> Pair:
    """XLA's in the first quadrant (Hull, Fairgrieve and Tang, 1997), turned from there."""
    real, imaginary = _in_first_quadrant("chlo.asin", x, y)
    real = where(x.equals(0.0), 0.0, real)
    imaginary = where(y.is_nan() & x.is_finite(), math.nan, imaginary)
    return real.signed(x), imaginary.signed(y)


def arc_cosine(x: Part, y: Part) -> Pair:
    """XLA's above the real axis; conjugates are kept."""
    real, imaginary = by_xla("chlo.acos", x, abs(y))
    real = where(x.equals(0.0) & y.is_nan(), math.pi / 2, real)
    size = where(y.is_nan() & x.is_finite(), math.nan, abs(imaginary))
    return real, -size.signed(y)


def arc_sinh(x: Part, y: Part) -> Pair:
    """`asinh z = -i asin iz`."""
    return _swapped(arc_sine(y, x))


def arc_cosh(x: Part, y: Part) -> Pair:
    """`acosh z = i acos z` above the real axis, `-i acos z` below it."""
    real, imaginary = arc_cosine(x, y)
    return abs(imaginary), real.signed(y)


def arc_tanh(x: Part, y: Part) -> Pair:
    """`log1p(4x / ((1-x)^2 + y^2)) / 4` and half the angle of `1 - x^2 - y^2 + 2iy`, in the first quadrant.

    Kahan's formula (Branch cuts for complex elementary functions, 1987). Far away the first is `x / (x^2 + y^2)`; beside 1,
    where the square of `y` underflows, it is `log(2 / y) / 2`.
    """
    size, height = abs(x), abs(y)
    tiny, largest = _limits(x)
    far = (size > math.sqrt(largest) / 4) | (height > math.sqrt(largest) / 4)
    near = size.equals(1.0) & (height < 2 * math.sqrt(tiny))
    rest = 1.0 - size
    quotient = 4.0 * size / (rest * rest + height * height)
    quotient = where(far, 4.0 * _real_reciprocal(size, height), where(near, 2.0 / height - 1.0, quotient))
    real = quotient.apply("log_plus_one") * where(near, constant(x, 0.5), 0.25)
    real = where(x.is_infinite() | y.is_infinite() | x.equals(0.0), 0.0, real)
    angle = 0.5 * (2.0 * height).apply("atan2", rest * (1.0 + size) - height * height)
    angle = where(far & (y.is_infinite() | x.equals(x) & y.equals(y)), math.pi / 2, angle)
    return real.signed(x), angle.signed(y)


def _real_reciprocal(x: Part, y: Part) -> Part:
    """`x / (x^2 + y^2)` of positive numbers, without squares."""
    long, short = x.apply("maximum", y), x.apply("minimum", y)
    ratio = short / long
    return where(x >= y, 1.0, ratio) / (long + short * ratio)


def arc_tangent(x: Part, y: Part) -> Pair:
    """`atan z = -i atanh iz`."""
    return _swapped(arc_tanh(y, x))
