"""Operators by the rules of the standard, where a program asks for them: `set_operators`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .. import array
from ..array import LazyTensor
from . import elementwise, linear_algebra

_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.add: elementwise.add,
    operator.sub: elementwise.subtract,
    operator.mul: elementwise.multiply,
    operator.truediv: elementwise.divide,
    operator.floordiv: elementwise.floor_divide,
    operator.mod: elementwise.remainder,
    operator.pow: elementwise.pow,
    operator.matmul: linear_algebra.matmul,
    operator.lshift: elementwise.bitwise_left_shift,
    operator.rshift: elementwise.bitwise_right_shift,
    operator.and_: elementwise.bitwise_and,
    operator.or_: elementwise.bitwise_or,
    operator.xor: elementwise.bitwise_xor,
    operator.eq: elementwise.equal,
    operator.ne: elementwise.not_equal,
    operator.lt: elementwise.less,
    operator.le: elementwise.less_equal,
    operator.gt: elementwise.greater,
    operator.ge: elementwise.greater_equal,
    operator.neg: elementwise.negative,
    operator.pos: elementwise.positive,
    operator.abs: elementwise.abs,
    operator.invert: elementwise.bitwise_invert,
}


def _in_place(function: Callable[..., Any]) -> Callable[[LazyTensor, Any], LazyTensor]:
    """The in-place operator of a function: its result goes into the left operand, whose type and shape it has."""

    def assign(x: LazyTensor, y: Any) -> LazyTensor:
        result = function(x, y)
        if result.dtype != x.dtype:
            raise TypeError(f"the result is of type {result.dtype}, and cannot go into an array of {x.dtype}")
        if result.shape != x.shape:
            raise ValueError(
                f"the result has shape {result.shape}, and cannot go into an array of shape {x.shape}"
            )
        x[...] = result
        return x

    return assign


_IN_PLACE: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.ipow: operator.pow,
    operator.imatmul: operator.matmul,
    operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
    operator.iand: operator.and_,
    operator.ior: operator.or_,
    operator.ixor: operator.xor,
}
_RULES: dict[str, dict[Callable[..., Any], Callable[..., Any]]] = {
    "numpy": {},
    "standard": _FUNCTIONS | {i: _in_place(_FUNCTIONS[function]) for i, function in _IN_PLACE.items()},
}


def set_operators(rules: str) -> None:
    """Sets the rules of operators between lazy tensors, from now on and in all threads.

    By `"numpy"`, which they follow unless it was set, `x + y` is what it is between ndarrays. By `"standard"` it is
    `lazy.add(x, y)`: with the checks, the promotion and the special cases of the Array API standard 2024.12
    (`lazy.asarray(inf) // 2.0` is inf there, and NaN in NumPy). Tensors that stand for ndarrays, in a function that runs
    with lazy tensors, follow NumPy always. ValueError for other rules.
    """
    if rules not in _RULES:
        raise ValueError(f"rules must be one of {', '.join(map(repr, _RULES))}, not {rules!r}")
    array.set_rules(_RULES[rules])
