"""Elementwise functions. Binary ones take a Python scalar in place of one operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions
from ..array import LazyTensor
from .data_types import (
    ANY,
    BOOLEAN,
    COMPLEX,
    FLOATING,
    INTEGER,
    INTEGER_OR_BOOLEAN,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    Category,
)
from .operands import apply, array, operands


def _unary(name: str, category: Category, function: Callable[..., Any]) -> Callable[[LazyTensor], LazyTensor]:
    def elementwise(x: LazyTensor, /) -> LazyTensor:
        return apply(function, array(name, x, category))

    elementwise.__name__ = elementwise.__qualname__ = name
    elementwise.__doc__ = f"As `numpy.{name}`, of {category.name} arrays."
    return elementwise


def _binary(name: str, category: Category, function: Callable[..., Any]) -> Callable[[Any, Any], LazyTensor]:
    def elementwise(x1: Any, x2: Any, /) -> LazyTensor:
        return apply(function, *operands(name, category, x1, x2))

    elementwise.__name__ = elementwise.__qualname__ = name
    elementwise.__doc__ = f"As `numpy.{name}`, of {category.name} arrays or one and a Python scalar."
    return elementwise


abs = _unary("abs", NUMERIC, np.abs)
acos = _unary("acos", FLOATING, np.acos)
acosh = _unary("acosh", FLOATING, np.acosh)
add = _binary("add", NUMERIC, np.add)
asin = _unary("asin", FLOATING, np.asin)
asinh = _unary("asinh", FLOATING, np.asinh)
atan = _unary("atan", FLOATING, np.atan)
atan2 = _binary("atan2", REAL_FLOATING, np.atan2)
atanh = _unary("atanh", FLOATING, np.atanh)
bitwise_and = _binary("bitwise_and", INTEGER_OR_BOOLEAN, np.bitwise_and)
bitwise_invert = _unary("bitwise_invert", INTEGER_OR_BOOLEAN, np.bitwise_invert)
bitwise_left_shift = _binary("bitwise_left_shift", INTEGER, np.bitwise_left_shift)
bitwise_or = _binary("bitwise_or", INTEGER_OR_BOOLEAN, np.bitwise_or)
bitwise_right_shift = _binary("bitwise_right_shift", INTEGER, np.bitwise_right_shift)
bitwise_xor = _binary("bitwise_xor", INTEGER_OR_BOOLEAN, np.bitwise_xor)
ceil = _unary("ceil", REAL, np.ceil)
conj = _unary("conj", NUMERIC, np.conj)
copysign = _binary("copysign", REAL_FLOATING, np.copysign)
cos = _unary("cos", FLOATING, np.cos)
cosh = _unary("cosh", FLOATING, np.cosh)
divide = _binary("divide", NUMERIC, np.divide)
equal = _binary("equal", ANY, np.equal)
exp = _unary("exp", FLOATING, np.exp)
floor = _unary("floor", REAL, np.floor)
greater = _binary("greater", REAL, np.greater)
greater_equal = _binary("greater_equal", REAL, np.greater_equal)
hypot = _binary("hypot", REAL_FLOATING, np.hypot)
imag = _unary("imag", COMPLEX, np.imag)
isfinite = _unary("isfinite", NUMERIC, np.isfinite)
isinf = _unary("isinf", NUMERIC, np.isinf)
isnan = _unary("isnan", NUMERIC, np.isnan)
less = _binary("less", REAL, np.less)
less_equal = _binary("less_equal", REAL, np.less_equal)
log = _unary("log", FLOATING, np.log)
log10 = _unary("log10", FLOATING, np.log10)
log1p = _unary("log1p", FLOATING, np.log1p)
log2 = _unary("log2", FLOATING, np.log2)
logaddexp = _binary("logaddexp", REAL_FLOATING, np.logaddexp)
logical_and = _binary("logical_and", BOOLEAN, np.logical_and)
logical_not = _unary("logical_not", BOOLEAN, np.logical_not)
logical_or = _binary("logical_or", BOOLEAN, np.logical_or)
logical_xor = _binary("logical_xor", BOOLEAN, np.logical_xor)
maximum = _binary("maximum", REAL, np.maximum)
minimum = _binary("minimum", REAL, np.minimum)
multiply = _binary("multiply", NUMERIC, np.multiply)
negative = _unary("negative", NUMERIC, np.negative)
nextafter = _binary("nextafter", REAL_FLOATING, np.nextafter)
not_equal = _binary("not_equal", ANY, np.not_equal)
positive = _unary("positive", NUMERIC, np.positive)
pow = _binary("pow", NUMERIC, np.pow)
real = _unary("real", NUMERIC, np.real)
reciprocal = _unary("reciprocal", FLOATING, np.reciprocal)
remainder = _binary("remainder", REAL, np.remainder)
round = _unary("round", NUMERIC, np.round)
sign = _unary("sign", NUMERIC, np.sign)
signbit = _unary("signbit", REAL_FLOATING, np.signbit)
sin = _unary("sin", FLOATING, np.sin)
sinh = _unary("sinh", FLOATING, np.sinh)
sqrt = _unary("sqrt", FLOATING, np.sqrt)
square = _unary("square", NUMERIC, np.square)
subtract = _binary("subtract", NUMERIC, np.subtract)
tan = _unary("tan", FLOATING, np.tan)
trunc = _unary("trunc", REAL, np.trunc)


def floor_divide(x1: Any, x2: Any, /) -> LazyTensor:
    """As `numpy.floor_divide`, of real-valued arrays or one and a Python scalar; `floor(x1 / x2)` where one is infinite."""
    x1, x2 = operands("floor_divide", REAL, x1, x2)
    is_integer = all(x.dtype.kind in "iu" for x in (x1, x2) if isinstance(x, LazyTensor))
    return apply(np.floor_divide if is_integer else functions.floor_divide, x1, x2)


def clip(x: LazyTensor, /, min: Any = None, max: Any = None) -> LazyTensor:
    """The elements of `x`, those below `min` or above `max` replaced by these bounds; of the type of `x`."""
    bounds = [bound for bound in (min, max) if bound is not None]
    array("clip", x, REAL)
    x, *bounds = operands("clip", REAL, x, *bounds)
    if any(isinstance(bound, LazyTensor) and bound.dtype != x.dtype for bound in bounds):
        raise TypeError(f"`clip` takes bounds of the element type of its array, {x.dtype}")
    left = iter(bounds)
    low, high = [bound if bound is None else next(left) for bound in (min, max)]
    if low is None and high is None:
        return apply(np.positive, x)
    return apply(np.clip, x, low, high)


def expm1(x: LazyTensor, /) -> LazyTensor:
    """As `numpy.expm1`, of floating-point arrays; of complex zeros and infinities as the standard, not NumPy, has it."""
    given = array("expm1", x, FLOATING)
    made = apply(np.expm1, given)
    if not np.issubdtype(given.dtype, np.complexfloating):
        return made
    re, im = apply(np.real, given), apply(np.imag, given)
    open_angle = equal(im, 0.0) | logical_not(isfinite(im))
    by_exponential = (isinf(re) & open_angle) | ((isnan(re) | equal(re, 0.0)) & equal(im, 0.0))
    return apply(np.where, by_exponential, exp(given) - 1.0, made)


def tanh(x: LazyTensor, /) -> LazyTensor:
    """As `numpy.tanh`, of floating-point arrays; of infinite complex numbers as the standard, not NumPy, has it."""
    given = array("tanh", x, FLOATING)
    return apply(functions.tanh if np.issubdtype(given.dtype, np.complexfloating) else np.tanh, given)
