"""Arithmetic of Python's own numbers: bool, int, float and complex, staged.

In: operands that are all Python scalars. Out: Python scalars, of the type that CPython returns. Integers have 64 bits and
carry their ranges, which prove indices non-negative, select the cheaper division, and decide comparisons.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ...analysis.transfer import EITHER, TRUE, between, decide, ends, negative, product, total
from ...hlo.ir import Value
from ...hlo.types import BOOL, COMPLEX128, FLOAT64, INT64, DType
from ...ops import Compare, Divide, Power, Remainder
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const, NumberKind
from ..context import Context
from ..kernels import arithmetic as a
from ..kernels.exact import EXACT_INTEGERS, compare_integer, compare_known_integer
from ..numpy.elementwise import ElementwiseFunction, compute
from ..rules.bounds import UNBOUNDED, Bounds, bounds, bounds_of
from ..rules.promote import LoopTypes, Operand, if_fits, python_type, value_of
from .number_checks import check_divisor, check_float_power, check_product, check_shift, check_sum

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
    around = (bounds(ctx, left), bounds(ctx, right)) if _integers(operands) else (UNBOUNDED, UNBOUNDED)
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
    result = _result_bounds(symbol, bounds(ctx, left), bounds(ctx, right))
    _check_integers(ctx, symbol, (left, right), result, value)
    return ctx.python(value, *map(if_fits, result))


def _check_integers(
    ctx: Context, symbol: str, operands: tuple[Operand, Operand], exact: Bounds, value: Value
) -> None:
    """An integer that leaves 64 bits, or a negative count of bits."""
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
    low, high = bounds_of(x)
    return low is None or high is None or max(-low, high) > EXACT_INTEGERS


def _is_float(x: Operand) -> bool:
    return isinstance(x.value, float) if isinstance(x, Const) else x.dtype == FLOAT64


def _check_known(ctx: Context, symbol: str, left: Operand, right: Const) -> None:
    """Raises CPython's exception for this right operand whatever the left one is (division by zero)."""
    sample = python_type(left.dtype)(1) if isinstance(left, Array) else left.value
    try:
        PYTHON_OPERATORS[symbol](sample, right.value if symbol not in ("<<", ">>") else min(right.value, 0))
    except (ZeroDivisionError, ValueError) as error:
        ctx.raise_(error)


def _plain_division(left: Bounds, right: Bounds) -> bool:
    """True if truncated division is floor division: nothing is negative, and the divisor is not 0."""
    low, divisor = left[0], right[0]
    return low is not None and low >= 0 and divisor is not None and divisor > 0


def _power(ctx: Context, left: Operand, right: Operand, loop: LoopTypes) -> Abstract:
    """`left ** right`. A negative integral exponent gives a float, so its sign must be known."""
    if loop.outputs[0] == INT64:
        low = bounds(ctx, right)[0]
        if low is None or (low < 0 and not isinstance(right, Const)):
            right = Const(ctx.known(right, "the exponent of an integer power"))
            low = int(right.value)
        if low < 0:
            loop = _loop(FLOAT64, FLOAT64)
    dtype = loop.outputs[0]
    x, y = [value_of(ctx, o, dtype, Form.PYTHON) for o in (left, right)]
    value = a.power(ctx, Form.PYTHON, x, y)
    if dtype != INT64:
        check_float_power(ctx, left, right, x, y, value)
        return ctx.python(value)
    exact = _result_bounds("**", bounds(ctx, left), bounds(ctx, right))
    if not (isinstance(right, Const) and right.value in (0, 1)):
        floats = [ctx.convert(v, FLOAT64) for v in (x, y)]
        check_product(ctx, "**", (left, right), exact, value, ctx.op(Power(), *floats))
    return ctx.python(value, *map(if_fits, exact))


# ---------------------------------------------------------------- bounds


def _result_bounds(symbol: str, x: Bounds, y: Bounds) -> Bounds:
    """Bounds of an operator's exact result; None where they are not cheap to know."""
    low: int | None = None
    high: int | None = None
    if _is_empty(x) or _is_empty(y):  # on a path that is never taken
        return None, None
    match symbol:
        case "+":
            low, high = ends(total(between(*x), between(*y)))
        case "-":
            low, high = ends(total(between(*x), negative(between(*y))))
        case "*":
            low, high = ends(product(between(*x), between(*y)))
        case "//" if y[0] is not None and y[0] > 0:
            low, high = _quotient(x, y)
        case "%" if y[0] is not None and y[0] > 0:
            low, high = _rest(x, y)
        case "**" if x[0] is not None and x[0] >= 0:
            low, high = 0, _power_bound(x[1], y[1])
        case "<<" if x[0] is not None and y[0] is not None and x[0] >= 0 and y[0] >= 0:
            low, high = 0, _shifted(x[1], y[1])
        case ">>" if x[0] is not None and x[0] >= 0:
            low, high = 0, x[1]
        case "&" if x[0] is not None and y[0] is not None and x[0] >= 0 and y[0] >= 0:
            low = 0
            high = min([b for b in (x[1], y[1]) if b is not None], default=None)
        case "|" | "^" if x[0] is not None and y[0] is not None and x[0] >= 0 and y[0] >= 0:
            low = 0
    return low, high


def _is_empty(bounds: Bounds) -> bool:
    return bounds[0] is not None and bounds[1] is not None and bounds[0] > bounds[1]


def _power_bound(base: int | None, exponent: int | None) -> int | None:
    if base is None or exponent is None or exponent * max(base, 2).bit_length() > 512:
        return None
    most: int = max(base**exponent, 1)
    return most


def _shifted(x: int | None, count: int | None) -> int | None:
    return None if x is None or count is None or count > 512 else x << count


def _quotient(x: Bounds, y: Bounds) -> Bounds:
    """`x // y` for positive `y`: monotonous in `x`, and towards zero in `y`."""
    low = (
        None if x[0] is None else (x[0] // y[0] if x[0] < 0 and y[0] else 0 if y[1] is None else x[0] // y[1])
    )
    high = None if x[1] is None or not y[0] else (x[1] // y[0] if x[1] >= 0 else -1)
    return low, high


def _rest(x: Bounds, y: Bounds) -> Bounds:
    high = None if y[1] is None else y[1] - 1
    if x[0] is not None and x[0] >= 0 and x[1] is not None:
        high = x[1] if high is None else min(high, x[1])
    return 0, high


def _decided(symbol: str, x: Bounds, y: Bounds) -> bool | None:
    """A comparison that the bounds decide."""
    direction = _DIRECTIONS.get(symbol)
    found = EITHER if direction is None else decide(direction, between(*x), between(*y))
    return None if found == EITHER else found == TRUE
