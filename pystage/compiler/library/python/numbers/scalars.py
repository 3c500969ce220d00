"""Conversions to scalars and element types: `int(x)`, `float(x)`, `np.float32(x)`, `round(x)`.

In: a number or an array of one element. Out: a Python scalar, a NumPy scalar or array, or a `jax.Array`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_types import NoSuchOperation
from ....hlo.ir import Value
from ....hlo.types import BOOL, COMPLEX128, FLOAT64, INT64, SHORT_NAMES, DType, is_complex, is_floating
from ....ops import Add, Complex, Convert, Divide, Imag, Multiply, Real, RoundNearestEven, Subtract
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.gated import Gated
from ....values.lattice import Abstract, Array, Caught, Const, Exc, Ref, is_number
from ...context import Context, Raw
from ...kernels import arithmetic as a
from ...kernels.exact_numbers import round_float, round_integer
from ...kernels.number_checks import check_integral
from ...kernels.structures import MISSING, abstract, call_now, is_sequence, known_object, type_name
from ...numpy.indexing.bounded_operands import only_element
from ...numpy.indexing.stores import cast, check_float
from ...operands.libraries import as_ndarray
from ...registry import meaning, takes_alternatives
from ...rules.bounds import check_fits
from ...rules.classes import c_name, class_name, scalar_class
from ...rules.jax import canonical
from ...rules.promote import Operand, kinds_of, value_of
from ...rules.split import needs_split

# ---------------------------------------------------------------- to Python scalars


def to_python(ctx: Context, x: Raw, kind: type) -> Abstract:
    """`kind(x)` for a number or an array of one element; `kind` is int, float or complex."""
    known = known_object(ctx, x)
    if known is not MISSING:
        return call_now(ctx, kind, known)
    if isinstance(x, Bounded):
        x = only_element(ctx, x, kind)
    operand = _single(ctx, x, kind.__name__)
    if any(is_complex(k.dtype) for k in kinds_of(operand)) and kind is not complex:
        name = "complex" if operand.form is Form.PYTHON else f"numpy.{operand.dtype}"
        if operand.form is Form.PYTHON:
            ctx.raise_(
                TypeError(f"{kind.__name__}() argument must be a string or a real number, not '{name}'")
            )
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"{kind.__name__}()", types=name))
    dtype = {int: INT64, float: FLOAT64, complex: COMPLEX128}[kind]
    if kind is int:
        check_integral(ctx, int, operand, operand.value, "int({})")
        return ctx.python(integral(ctx, operand.value), ctx.range_of(operand))
    return ctx.python(ctx.convert(operand.value, dtype))


def integral(ctx: Context, x: Value) -> Value:
    """A number that `check_integral` has accepted, as int64."""
    return ctx.op(Convert(INT64, by_xla=True), x) if is_floating(x.type.dtype) else ctx.convert(x, INT64)


def _single(ctx: Context, x: Raw, name: str) -> Array:
    """The one element of an array of rank 0, or a number."""
    if not is_number(abstract(x)) and not ctx.is_ndarray(x):
        if isinstance(x, Gated):
            raise needs_split(x)
        types = type_name(ctx, x)
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"{name}()", types=types))
    operand = ctx.read(x)
    assert isinstance(operand, Array)
    if operand.rank:
        ctx.raise_(TypeError("only 0-dimensional arrays can be converted to Python scalars"))
    return operand


@meaning(int)
def int_(ctx: Context, x: Raw = MISSING, /, base: Raw = None) -> Abstract:
    """`int(x)`: truncates; strings must be known."""
    if x is MISSING:
        if base is not None:
            ctx.raise_(TypeError("int() missing string argument"))
        return Const(0)
    if isinstance(base, Const) or base is not None:
        return call_now(ctx, int, ctx.known(x, "the string of int()"), ctx.known(base, "the base of int()"))
    method = special(ctx, x, "__int__") or special(ctx, x, "__index__")
    return ctx.call(method, []) if method is not None else to_python(ctx, x, int)


@meaning(float)
def float_(ctx: Context, x: Raw = 0.0, /) -> Abstract:
    """`float(x)`; strings must be known."""
    method = special(ctx, x, "__float__")
    return ctx.call(method, []) if method is not None else to_python(ctx, x, float)


@meaning(bool)
@takes_alternatives
def bool_(ctx: Context, x: Raw = False, /) -> Abstract:
    """`bool(x)`: Python's truth."""
    return ctx.truth(abstract(x))


@meaning(complex)
def complex_(ctx: Context, real: Raw = 0, imag: Raw = None) -> Abstract:
    """`complex(real, imag)`."""
    if imag is None or (isinstance(imag, Const) and imag.value is None):
        method = special(ctx, real, "__complex__")
        return ctx.call(method, []) if method is not None else to_python(ctx, real, complex)
    known = [known_object(ctx, v) for v in (real, imag)]
    if MISSING not in known:
        return call_now(ctx, complex, *known)
    first, second = [_operand(ctx, v) for v in (real, imag)]
    x, y = [value_of(ctx, v, COMPLEX128, Form.PYTHON) for v in (first, second)]
    made = [ctx.op(Real(), x), ctx.op(Real(), y)]
    if is_complex(kinds_of(first)[0].dtype):
        made[1] = ctx.op(Add(), made[1], ctx.op(Imag(), x))
    if is_complex(kinds_of(second)[0].dtype):
        made[0] = ctx.op(Subtract(), made[0], ctx.op(Imag(), y))
    return ctx.python(ctx.op(Complex(), *made))


def _operand(ctx: Context, x: Raw) -> Operand:
    return abstract(x) if isinstance(x, Const) else _single(ctx, x, "complex")  # type: ignore[return-value]


def special(ctx: Context, x: Raw, name: str) -> Abstract | None:
    """A special method that a user class defines for `x`, bound; None for other objects."""
    if isinstance(x, Exc | Caught):
        classes = x.classes if isinstance(x, Caught) else {x.cls}
        return ctx.getattr(x, name) if any(hasattr(each, name) for each in classes) else None
    cls = getattr(ctx.state.get(x.cell), "cls", None) if isinstance(x, Ref) else None
    if cls is None or not hasattr(cls, name) or getattr(cls, name) is getattr(object, name, None):
        return None
    return ctx.getattr(abstract(x), name)


# ---------------------------------------------------------------- to element types


def _constructor(dtype: DType) -> Callable[..., Abstract]:
    """`np.float32(x)`: a scalar of a scalar, an array of an array."""

    def make(ctx: Context, x: Raw = 0, /) -> Abstract:
        known = known_object(ctx, x)
        if known is not MISSING:
            return call_now(ctx, dtype.type, known)
        if isinstance(x, Abstract) and is_sequence(ctx, x):
            return ctx.call(Const(np.array), [x, Const(dtype)])
        operand = ctx.read(x)
        if isinstance(operand, Array) and operand.dtype == dtype and operand.rank:
            return abstract(as_ndarray(ctx, x))
        python = isinstance(operand, Array) and operand.form is Form.PYTHON
        if python and is_complex(kinds_of(operand)[0].dtype) and not is_complex(dtype) and dtype != BOOL:
            ctx.raise_(TypeError("float() argument must be a string or a real number, not 'complex'"))
        return ctx.new(converted(ctx, operand, dtype))

    make.__name__ = dtype.name
    make.__doc__ = f"`np.{dtype.name}`."
    return make


def _jax_constructor(dtype: DType) -> Callable[..., Abstract]:
    """`jnp.float32(x)`: a strongly typed `jax.Array`."""

    def make(ctx: Context, x: Raw, /) -> Abstract:
        target = canonical(dtype, ctx.x64)
        return ctx.jax(cast(ctx, value_of_any(ctx, x), target, jax=True))

    make.__name__ = dtype.name
    make.__doc__ = f"`jnp.{dtype.name}`."
    return make


def value_of_any(ctx: Context, x: Raw) -> Value:
    """A number or an array in its own type."""
    operand = ctx.read(x)
    return operand.value if isinstance(operand, Array) else value_of(ctx, operand, kinds_of(operand)[0].dtype)


def converted(ctx: Context, operand: Operand, dtype: DType) -> Value:
    """`astype`: a known Python integer must fit, everything else is cast."""
    if isinstance(operand, Const):
        return value_of(ctx, operand, dtype)
    check_fits(ctx, operand, dtype)
    if operand.form is Form.PYTHON:
        check_float(ctx, operand, dtype)
    return cast(ctx, operand.value, dtype)


for _dtype in SHORT_NAMES:
    if _dtype.type.__module__ == "numpy":
        meaning(_dtype.type)(_constructor(_dtype))
    _twin: Any = getattr(jnp, "bool_" if _dtype == BOOL else _dtype.name)
    meaning(_twin)(_jax_constructor(_dtype))


# ---------------------------------------------------------------- rounding


@meaning(round)
def round_(ctx: Context, number: Raw, ndigits: Raw = None) -> Abstract:
    """`round(number, ndigits)`: halves to even. Without digits an int of Python and NumPy scalars."""
    method = special(ctx, number, "__round__")
    if method is not None:
        return ctx.call(method, [abstract(ndigits)] if ndigits is not None else [])
    known, digits = known_object(ctx, number), ctx.known(ndigits, "the digits of round()")
    if known is not MISSING:
        return call_now(ctx, round, known, *([] if digits is None else [digits]))
    if is_sequence(ctx, number):
        ctx.raise_(TypeError(f"type {class_name(ctx, number)} doesn't define __round__ method"))
    operand = ctx.read(number)
    assert isinstance(operand, Array)
    if operand.form is Form.NDARRAY or is_complex(operand.dtype):
        name = c_name(scalar_class(operand.dtype, operand.form))
        ctx.raise_(TypeError(f"type {name} doesn't define __round__ method"))
    if operand.form is Form.JAX:
        return _jax_round(ctx, operand, digits)
    if operand.dtype == BOOL:
        if operand.form is Form.SCALAR:
            ctx.raise_(TypeError("type numpy.bool doesn't define __round__ method"))
        operand = Array(ctx.convert(operand.value, INT64), operand.form)
    if digits is not None and operand.form is Form.PYTHON:
        exactly = round_integer if operand.dtype == INT64 else round_float
        return ctx.python(exactly(ctx, operand.value, digits))
    rounded = round_value(ctx, operand.value, digits or 0)
    if digits is not None:
        return Array(rounded, operand.form)
    check_integral(ctx, round, operand, rounded, "round({})")
    return ctx.python(integral(ctx, rounded), ctx.range_of(operand))


def _jax_round(ctx: Context, operand: Array, digits: int | None) -> Abstract:
    if digits is not None:
        return ctx.jax(round_value(ctx, operand.value, digits), operand.weak)
    integer = canonical(INT64, ctx.x64)
    return ctx.jax(ctx.convert(round_value(ctx, operand.value, 0), integer))


def round_value(ctx: Context, x: Value, digits: int, into: DType | None = None) -> Value:
    """`x` rounded to decimal digits, by scaling; integers only to negative digits. Scaled floats are rounded and scaled back
    `into` another floating dtype, as in the memory of an `out` (`PyArray_Round`)."""
    dtype = x.type.dtype
    if not is_floating(dtype):
        if digits >= 0:
            return x
        rounded = _scaled_round(ctx, ctx.convert(x, FLOAT64), digits, FLOAT64)
        if dtype.itemsize < 8:  # what the type does not hold wraps around
            rounded = ctx.convert(rounded, INT64)
        return ctx.convert(rounded, dtype)
    return ctx.op(RoundNearestEven(), x) if digits == 0 else _scaled_round(ctx, x, digits, into or dtype)


def _scaled_round(ctx: Context, x: Value, digits: int, into: DType) -> Value:
    with np.errstate(over="ignore"):
        by = np.float64(10.0) ** abs(digits)
    first, second = (Multiply(), Divide()) if digits > 0 else (Divide(), Multiply())
    scaled = ctx.op(RoundNearestEven(), ctx.convert(ctx.op(first, x, a.like(ctx, x, by)), into))
    return ctx.op(second, scaled, a.like(ctx, scaled, by))
