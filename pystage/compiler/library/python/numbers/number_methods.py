"""Attributes and methods of staged Python and NumPy scalars, beyond those of arrays.

In: the scalar and an attribute's name. Out: the attribute's value, or the method bound to the scalar.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from .... import ops
from ....analysis.ranges import EITHER
from ....hlo.ir import Value
from ....hlo.types import BOOL, COMPLEX128, FLOAT64, INT64, is_complex, is_floating, is_integer
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, Meaning, Method
from ...context import Context, Raw
from ...kernels.structures import lift
from ...rules.promote import python_type


def python_attribute(ctx: Context, value: Array, name: str) -> Abstract | None:
    """`value.name` of a staged Python number."""
    kind = python_type(value.dtype)
    if name.startswith("__") or not hasattr(kind, name):
        return None
    match name:
        case "real" | "numerator":
            return _real(ctx, value)
        case "imag" if value.dtype == COMPLEX128:
            return ctx.python(ctx.op(ops.Imag(), value.value))
        case "imag":
            return Const(0.0 if value.dtype == FLOAT64 else 0)
        case "denominator":
            return Const(1)
    call = _METHODS.get(name)
    return Method(Meaning(name, _by_value(name) if call is None else call), value)


def scalar_attribute(ctx: Context, value: Array, name: str) -> Abstract | None:
    """`value.name` of a staged NumPy scalar, where arrays have no such attribute."""
    if value.form is not Form.SCALAR or not hasattr(value.dtype.type, name):
        return None
    match name:
        case "numerator" if value.dtype.kind in "iu":
            return value
        case "denominator" if value.dtype.kind in "iu":
            return Const(1)
        case "is_integer" | "bit_count":
            return Method(Meaning(name, _METHODS[name]), value)
    return None


@functools.cache
def _by_value(name: str) -> Callable[..., Abstract]:
    """A method whose result no operation gives: the number must be known."""

    def call(ctx: Context, /, self: Raw, *args: Raw, **kwargs: Raw) -> Abstract:
        known = ctx.known(self, f"the number whose .{name} is called")
        given = [ctx.known(a, f"an argument of {name}") for a in args]
        named = {k: ctx.known(a, f"an argument of {name}") for k, a in kwargs.items()}
        try:
            return lift(ctx, getattr(known, name)(*given, **named))
        except (TypeError, ValueError, OverflowError) as error:
            ctx.raise_(error)

    return call


def _real(ctx: Context, value: Array) -> Abstract:
    """The real part of a Python number; of a bool, an int."""
    if value.dtype == BOOL:
        return ctx.python(ctx.convert(value.value, INT64), EITHER)
    return ctx.python(ctx.op(ops.Real(), value.value)) if value.dtype == COMPLEX128 else value


def _conjugate(ctx: Context, self: Raw) -> Abstract:
    """`complex.conjugate`."""
    assert isinstance(self, Array)
    if not is_complex(self.dtype):
        return _real(ctx, self)
    real, imag = ctx.op(ops.Real(), self.value), ctx.op(ops.Imag(), self.value)
    return ctx.python(ctx.op(ops.Complex(), real, ctx.op(ops.Negate(), imag)))


def _is_integer(ctx: Context, self: Raw) -> Abstract:
    """`float.is_integer`: finite and without a fraction."""
    assert isinstance(self, Array)
    if not is_floating(self.dtype):
        return Const(True)
    whole = ctx.op(ops.Compare("EQ"), ctx.op(ops.Floor(), self.value), self.value)
    return ctx.python(ctx.op(ops.And(), whole, ctx.op(ops.IsFinite(), self.value)))


def _magnitude(ctx: Context, value: Value) -> Value:
    """The absolute value of an integer, as 64 bits."""
    wide = ctx.convert(value, INT64) if value.type.dtype.kind != "u" else value
    return wide if not is_integer(wide.type.dtype) or wide.type.dtype.kind == "u" else ctx.op(ops.Abs(), wide)


def _bit_length(ctx: Context, self: Raw) -> Abstract:
    """`int.bit_length`."""
    assert isinstance(self, Array)
    zeros = ctx.op(ops.CountLeadingZeros(), _magnitude(ctx, self.value))
    return ctx.python(ctx.op(ops.Subtract(), ctx.constant(64, INT64), zeros), (0, 64))


def _bit_count(ctx: Context, self: Raw) -> Abstract:
    """`int.bit_count`: the ones of the magnitude."""
    assert isinstance(self, Array)
    ones = ctx.op(ops.PopulationCount(), _magnitude(ctx, self.value))
    return ctx.python(ctx.convert(ones, INT64), (0, 64))


_METHODS: dict[str, Callable[..., Abstract]] = {
    "conjugate": _conjugate,
    "is_integer": _is_integer,
    "bit_length": _bit_length,
    "bit_count": _bit_count,
}
