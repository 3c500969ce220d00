"""Quotients, signs and powers of complex numbers by their real and imaginary parts, as NumPy and CPython have them.

In: the parts of the operands. Out: those of the result, infinities, NaN and signs of zeros included.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from .complex_functions import exponential, logarithm
from .parts import Pair, Part, Truth, constant, repeated, where

SQUARINGS = 7
"""So many squarings reach every whole exponent below 128."""

# ---------------------------------------------------------------- quotients


def quotient(a: Part, b: Part, c: Part, d: Part) -> Pair:
    """`(a + ib) / (c + id)` by Smith's algorithm (Algorithm 116, 1962); by 0 each part is divided by 0.

    NumPy multiplies by the reciprocal of the divisor, CPython divides: they differ in rounding.
    """
    real_is_larger = abs(c) >= abs(d)
    long, short = where(real_is_larger, c, d), where(real_is_larger, d, c)
    ratio = short / long
    divisor = long + short * ratio
    # Of a sum with a part that XLA knows to be 0 it would lose the sign: the parts are hidden from it.
    number = divisor.equals(divisor)
    x, y = (where(number, part, divisor) for part in (a, b))
    real = where(real_is_larger, x + y * ratio, x * ratio + y)
    imaginary = where(real_is_larger, y - x * ratio, y * ratio - x)
    divisor = where(number, divisor, (long - long) + (short - short))  # of zeros 0, else NaN
    return where(number, real, a) / divisor, where(number, imaginary, b) / divisor


def reciprocal(x: Part, y: Part) -> Pair:
    """`1 / (x + iy)` as `np.reciprocal` has it, which differs from the quotient in signs of zeros, and at 0."""
    real_is_larger = abs(y) <= abs(x)
    long, short = where(real_is_larger, x, y), where(real_is_larger, y, x)
    ratio = short / long
    divisor = long + short * ratio
    return where(real_is_larger, 1.0, ratio) / divisor, -where(real_is_larger, ratio, 1.0) / divisor


def sign(x: Part, y: Part) -> Pair:
    """`z / |z|` as `np.sign` has it: of one infinite part 1 or -1, of two NaN; 0 of every zero."""
    size = _length(x, y)
    endless = x.is_infinite() | y.is_infinite()
    both = x.is_infinite() & y.is_infinite()
    made = []
    for part in (x, y):
        end = where(
            both, constant(part, math.nan), where(part.is_infinite(), constant(part, 1.0).signed(part), 0.0)
        )
        made.append(where(endless, end, where(size.equals(0.0), 0.0, part / size)))
    return made[0], made[1]


def _length(x: Part, y: Part) -> Part:
    """The absolute value, NaN of what is no number."""
    e = x.e
    type = x.type.with_dtype(np.dtype(f"c{2 * x.type.dtype.itemsize}"))
    whole = e.create("complex", [type], [x.value, y.value]).results[0]
    return Part(e, x.type, e.create("abs", [x.type], [whole]).results[0])


# ---------------------------------------------------------------- powers


def _product(x: Pair, y: Pair) -> Pair:
    """The product; where a partial product is infinite, as that of rounded ones: processors compute `x * y + z` at once."""
    a, b, c, d = x[0] * y[0], x[1] * y[1], x[0] * y[1], x[1] * y[0]
    ends = [_end(p) for p in (a, b, c, d)]
    real = where(a.is_infinite() | b.is_infinite(), (ends[0] - ends[1]) * math.inf, a - b)
    return real, where(c.is_infinite() | d.is_infinite(), (ends[2] + ends[3]) * math.inf, c + d)


def _end(x: Part) -> Part:
    """1 with its sign of an infinite number, 0 of a finite one, else NaN."""
    return where(x.is_infinite(), constant(x, 1.0).signed(x), x * 0.0)


def _c_product(x: Pair, y: Pair) -> Pair:
    """The product of C: infinite where a factor is, or a partial product, though both parts come out NaN (Annex G.5.1)."""
    real, imaginary = _product(x, y)
    lost = real.is_nan() & imaginary.is_nan()
    ends = [p[0].is_infinite() | p[1].is_infinite() for p in (x, y)]
    products = [x[0] * y[0], x[1] * y[1], x[0] * y[1], x[1] * y[0]]
    partial = functools.reduce(Truth.__or__, [p.is_infinite() for p in products])
    (a, b), (c, d) = _directions(x, ends[0], ends[1] | partial), _directions(y, ends[1], ends[0] | partial)
    recovered = lost & (ends[0] | ends[1] | partial)
    endless = [math.inf * part for part in _product((a, b), (c, d))]
    return where(recovered, endless[0], real), where(recovered, endless[1], imaginary)


def _directions(x: Pair, is_infinite: Truth, other_is: Truth) -> Pair:
    """Infinite numbers as 1, 0 and their signs, NaN beside infinite factors as zeros with a sign."""
    made = []
    for part in x:
        unit = where(part.is_infinite(), constant(part, 1.0), 0.0).signed(part)
        zero = where(part.is_nan() & other_is, constant(part, 0.0).signed(part), part)
        made.append(where(is_infinite, unit, zero))
    return made[0], made[1]


def _choice(flag: Truth, on_true: Pair, on_false: Pair) -> Pair:
    return where(flag, on_true[0], on_false[0]), where(flag, on_true[1], on_false[1])


def _whole_power(x: Pair, size: Part) -> Pair:
    """`1 * x^size` of whole numbers below 128 by repeated squaring, as NumPy and CPython multiply."""

    def step(real: Part, imaginary: Part, a: Part, b: Part, rest: Part) -> tuple[Part, ...]:
        half = (rest * 0.5).apply("floor")
        odd = (rest - 2.0 * half).equals(1.0)
        made = _choice(odd, _product((real, imaginary), (a, b)), (real, imaginary))
        return (*made, *_product((a, b), (a, b)), half)

    one = constant(size, 1.0), constant(size, 0.0)
    real, imaginary, *_ = repeated(SQUARINGS, step, [*one, *x, size])
    return real, imaginary


def _known_power(x: Pair, size: int) -> Pair:
    """`_whole_power` of a known exponent."""
    made = constant(x[0], 1.0), constant(x[0], 0.0)
    square = x
    while size:
        if size & 1:
            made = _product(made, square)
        size >>= 1
        if size:
            square = _product(square, square)
    return made


def _inverted(x: Pair) -> Pair:
    return quotient(constant(x[0], 1.0), constant(x[0], 0.0), *x)


def numpy_power(exponent: complex | None) -> Callable[..., Pair]:
    """`np.power` of complex numbers: whole exponents between -100 and 100 multiply, others are `exp(y log x)`.

    `exponent`: what all exponents are known to be, if they are.
    """
    if exponent is None:
        return _numpy_power
    if exponent.imag == 0 and abs(exponent.real) < 100 and float(exponent.real).is_integer():
        return functools.partial(_small_numpy_power, int(exponent.real))
    return _numpy_general_power


def _small_numpy_power(n: int, a: Part, b: Part, c: Part, d: Part) -> Pair:
    x = a, b
    match n:
        case 0:
            return constant(a, 1.0), constant(a, 0.0)
        case 1:
            made = x
        case 2:
            made = _product(x, x)
        case 3:
            made = _product(x, _product(x, x))
        case _:
            made = _known_power(x, abs(n))
    return _with_zero_base(made if n > 0 else _inverted(made), a, b, c)


def _with_zero_base(made: Pair, a: Part, b: Part, c: Part) -> Pair:
    """Powers of 0: 0 for exponents with a positive real part, else NaN."""
    none = where(c > 0.0, constant(c, 0.0), math.nan)
    return _choice(a.equals(0.0) & b.equals(0.0), (none, none), made)


def _numpy_general_power(a: Part, b: Part, c: Part, d: Part) -> Pair:
    return _with_zero_base(exponential(*_c_product((c, d), logarithm(a, b))), a, b, c)


def _numpy_power(a: Part, b: Part, c: Part, d: Part) -> Pair:
    x = a, b
    size = abs(c)
    small = d.equals(0.0) & (size < 100.0) & c.apply("floor").equals(c)
    power = _whole_power(x, where(small, size, 1.0))
    power = _choice(c < 0.0, _inverted(power), power)
    power = _choice(c.equals(1.0), x, power)
    square = _product(x, x)
    power = _choice(c.equals(2.0), square, power)
    power = _choice(c.equals(3.0), _product(x, square), power)
    made = _choice(small, power, _numpy_general_power(a, b, c, d))
    made = _with_zero_base(made, a, b, c)
    return _choice(c.equals(0.0) & d.equals(0.0), (constant(a, 1.0), constant(a, 0.0)), made)


def python_power(exponent: complex | None) -> Callable[..., Pair]:
    """`x ** y` of CPython's complex numbers: whole exponents to 100 multiply, others are a size and an angle."""
    if exponent is None:
        return _python_power
    if exponent.imag == 0 and abs(exponent.real) <= 100 and float(exponent.real).is_integer():
        return functools.partial(_small_python_power, int(exponent.real))
    return _polar_power


def _small_python_power(n: int, a: Part, b: Part, c: Part, d: Part) -> Pair:
    made = _known_power((a, b), abs(n))
    return made if n > 0 else _inverted(made)


def _polar_power(a: Part, b: Part, c: Part, d: Part) -> Pair:
    """`|x|^y` and the angle: `x^(c + id) = |x|^c e^(-d arg x)` at the angle `c arg x + d log |x|`; of zero 0."""
    length = where(a.is_infinite() | b.is_infinite(), math.inf, _length(a, b))
    angle = b.apply("atan2", a)
    size, phase = length.apply("power", c), angle * c
    size = where(d.equals(0.0), size, size / (angle * d).apply("exponential"))
    phase = where(d.equals(0.0), phase, phase + d * length.apply("log"))
    zero = a.equals(0.0) & b.equals(0.0)
    made = size * phase.apply("cosine"), size * phase.apply("sine")
    return _choice(zero, (constant(a, 0.0), constant(a, 0.0)), made)


def _python_power(a: Part, b: Part, c: Part, d: Part) -> Pair:
    size = abs(c)
    small = d.equals(0.0) & (size <= 100.0) & c.apply("floor").equals(c)
    power = _whole_power((a, b), where(small, size, 1.0))
    power = _choice(c > 0.0, power, _inverted(power))
    return _choice(small, power, _polar_power(a, b, c, d))
