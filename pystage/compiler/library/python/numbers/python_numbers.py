"""Arithmetic of Python's own numbers: bool, int, float and complex, staged.

In: operands that are all Python scalars. Out: Python scalars, of the type that CPython returns. Integers have 64 bits and
carry their ranges, which prove indices non-negative, select the cheaper division, and decide comparisons.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ....analysis import ranges
from ....analysis.ranges import ANY, Interval, open_ends
from ....hlo.ir import Value
from ....hlo.types import BOOL, COMPLEX128, FLOAT64, INT64, DType
from ....ops import Compare, Divide, Power, PythonPower, Remainder
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, NumberKind
from ...context import Context
from ...kernels import arithmetic as a
from ...kernels.exact_numbers import EXACT_INTEGERS, compare_integer, compare_known_integer
from ...kernels.number_checks import check_divisor, check_float_power, check_product, check_shift, check_sum
from ...numpy.ufuncs.elementwise import ElementwiseFunction, compute
from ...rules.promote import LoopTypes, Operand, python_type, value_of

PYTHON_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

IN_PLACE_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    symbol: getattr(operator, f"i{function.__name__.rstrip('_')}")
    for symbol, function in PYTHON_OPERATORS.items()
    if symbol[-1] not in "=<>" or symbol in ("<<", ">>")
}

UNARY_OPERATORS: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
}

_RANK = {BOOL: 0, INT64: 1, FLOAT64: 2, COMPLEX128: 3}
_DIRECTIONS = {"==": "EQ", "!=": "NE", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}
_SWAPPED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
_INTEGRAL = frozenset({"<<", ">>"})
_BITWISE = frozenset({"&", "|", "^"})


def common(kinds: Sequence[NumberKind]) -> DType:
    """The widest of Python's number types among the kinds."""
    return max([k.dtype for k in kinds], key=_RANK.__getitem__)


def python_loop(symbol: str, kinds: tuple[NumberKind, ...]) -> LoopTypes | None:
    """The types that CPython's operator computes with; None where it raises TypeError."""
    widest = common(kinds)
    if symbol in _DIRECTIONS:
        if widest == COMPLEX128 and symbol not in ("==", "!="):
            return None
        return _loop(widest, BOOL)
    if symbol in _BITWISE:
        return _loop(widest, widest) if widest in (BOOL, INT64) else None
    if symbol in _INTEGRAL:
        return _loop(INT64, INT64) if widest in (BOOL, INT64) else None
    if symbol in ("//", "%") and widest == COMPLEX128:
        return None
    least = FLOAT64 if symbol == "/" else INT64
    widest = max(widest, least, key=_RANK.__getitem__)
    return _loop(widest, widest)


def _loop(inputs: DType, output: DType) -> LoopTypes:
    return LoopTypes((inputs, inputs), (output,), Form.PYTHON)


def apply_python(
    ctx: Context, symbol: str, function: ElementwiseFunction, operands: Sequence[Operand], loop: LoopTypes
) -> Abstract:
    """The operator on two Python scalars, in the loop's types."""
    left, right = operands
    around = (ctx.range_of(left), ctx.range_of(right)) if _integers(operands) else (ANY, ANY)
    decided = _decided(symbol, *around)
    if decided is not None:
        return Const(decided)
    exact = _exact_comparison(ctx, symbol, operands, loop) if symbol in _DIRECTIONS else None
    if exact is not None:
        return exact
    if symbol in ("/", "//", "%", "<<", ">>") and isinstance(right, Const):
        _check_known(ctx, symbol, left, right)
    if symbol == "**":
        return _power(ctx, left, right, loop)
    if symbol in ("/", "//", "%"):
        check_divisor(ctx, PYTHON_OPERATORS[symbol], left, right, loop.outputs[0])
    if symbol in ("//", "%") and loop.outputs[0] == INT64 and _plain_division(*around):
        values = [value_of(ctx, o, INT64, Form.PYTHON) for o in operands]
        value = ctx.op(Divide() if symbol == "//" else Remainder(), *values)
    else:
        (value,) = compute(ctx, function, operands, loop)
    if loop.outputs[0] != INT64:
        return ctx.python(value)
    exact_range = _EXACT[symbol](ctx.range_of(left), ctx.range_of(right))
    _check_integers(ctx, symbol, (left, right), exact_range, value)
    return ctx.python(value, open_ends(exact_range, INT64))


def _check_integers(
    ctx: Context, symbol: str, operands: tuple[Operand, Operand], exact: Interval, value: Value
) -> None:
    """Checks for an integer that leaves 64 bits, and a negative shift count."""
    if symbol in ("+", "-"):
        check_sum(ctx, symbol, operands, exact, value)
    elif symbol == "*":
        check_product(ctx, symbol, operands, exact, value, None)
    elif symbol in ("<<", ">>"):
        check_shift(ctx, symbol, operands, exact, value)


def _integers(operands: Sequence[Operand]) -> bool:
    return all(type(o.value) is int if isinstance(o, Const) else o.dtype == INT64 for o in operands)


def _exact_comparison(
    ctx: Context, symbol: str, operands: Sequence[Operand], loop: LoopTypes
) -> Abstract | None:
    """The comparison of an integer that float64 may not hold with a float; None for all others."""
    direction = _DIRECTIONS[symbol]
    left, right = operands
    sides = ((left, right, direction), (right, left, _SWAPPED[direction]))
    for integer, number, towards in sides:
        if loop.inputs[0] != FLOAT64 or not _wide_integer(integer) or not _is_float(number):
            continue
        if isinstance(number, Const) and not EXACT_INTEGERS <= abs(number.value) <= 2.0**63:
            return None  # rounding keeps the order
        x = value_of(ctx, number, FLOAT64, Form.PYTHON)
        if isinstance(integer, Array):
            return ctx.python(compare_integer(ctx, towards, integer.value, x))
        says = compare_known_integer(towards, integer.value)
        if isinstance(says, bool):
            return Const(says)
        return ctx.python(ctx.op(Compare(says[0]), ctx.constant(says[1], FLOAT64), x))
    return None


def _wide_integer(x: Operand) -> bool:
    """True for one certain integer that may be beyond what float64 holds exactly."""
    if isinstance(x, Const):
        return type(x.value) is int and abs(x.value) > EXACT_INTEGERS
    if x.dtype != INT64:
        return False
    low, high = x.range
    return max(-low, high) > EXACT_INTEGERS


def _is_float(x: Operand) -> bool:
    return isinstance(x.value, float) if isinstance(x, Const) else x.dtype == FLOAT64


def _check_known(ctx: Context, symbol: str, left: Operand, right: Const) -> None:
    """Raises CPython's exception for this right operand whatever the left one is (division by zero)."""
    sample = python_type(left.dtype)(1) if isinstance(left, Array) else left.value
    try:
        PYTHON_OPERATORS[symbol](sample, right.value if symbol not in ("<<", ">>") else min(right.value, 0))
    except (ZeroDivisionError, ValueError) as error:
        ctx.raise_(error)


def _plain_division(left: Interval, right: Interval) -> bool:
    """True if truncated division is floor division: nothing is negative, and the divisor is not 0."""
    return left[0] >= 0 and right[0] > 0


def _power(ctx: Context, left: Operand, right: Operand, loop: LoopTypes) -> Abstract:
    """`left ** right`. A negative integral exponent gives a float, so its sign must be known."""
    if loop.outputs[0] == INT64:
        if ctx.range_of(right)[0] < 0 and not isinstance(right, Const):
            right = Const(ctx.known(right, "the exponent of an integer power"))
        if ctx.range_of(right)[0] < 0:
            loop = _loop(FLOAT64, FLOAT64)
    dtype = loop.outputs[0]
    x, y = [value_of(ctx, o, dtype, Form.PYTHON) for o in (left, right)]
    value = ctx.op(PythonPower(), x, y) if dtype == COMPLEX128 else a.power(ctx, Form.PYTHON, x, y)
    if dtype != INT64:
        check_float_power(ctx, left, right, x, y, value)
        return ctx.python(value)
    exact = ranges.power(ctx.range_of(left), ctx.range_of(right))
    if not (isinstance(right, Const) and right.value in (0, 1)):
        floats = [ctx.convert(v, FLOAT64) for v in (x, y)]
        check_product(ctx, "**", (left, right), exact, value, ctx.op(Power(), *floats))
    return ctx.python(value, open_ends(exact, INT64))


# ---------------------------------------------------------------- ranges


_EXACT: dict[str, Callable[[Interval, Interval], Interval]] = {
    "+": ranges.add,
    "-": ranges.subtract,
    "*": ranges.multiply,
    "//": ranges.floor_divide,
    "%": ranges.remainder,
    "**": ranges.power,
    "<<": ranges.shift_left,
    ">>": ranges.shift_right,
    "&": ranges.bit_and,
    "|": ranges.bit_or,
    "^": ranges.bit_xor,
}
"""The range of an operator's exact result."""


def _decided(symbol: str, x: Interval, y: Interval) -> bool | None:
    """A comparison that the ranges decide."""
    if symbol not in _DIRECTIONS:
        return None
    low, high = ranges.decide(_DIRECTIONS[symbol], x, y)
    return bool(low) if low == high else None
