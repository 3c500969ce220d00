"""Queries about types and constants, which the real NumPy function answers while compiling.

In: dtypes, scalar types, constants. Out: the result of the real function. A computed argument contributes its element
type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged, NotNumeric
from ...hlo.types import DType
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, Const, NumberKind
from ..context import Context, Raw
from ..kernels.structures import MISSING, call_now, is_sequence, known_object
from ..registry import meaning
from ..rules.classes import class_of
from ..rules.jax import canonical
from ..rules.promote import jax_common, kinds_of, numpy_common
from .indexing.stores import dtype_of

_BY_TYPE: tuple[Any, ...] = (np.issubdtype, np.promote_types, np.isdtype, np.mintypecode)
_BY_NUMBER: tuple[Any, ...] = (np.base_repr, np.binary_repr, np.typename, np.min_scalar_type)


def _now(function: Any) -> Callable[..., Abstract]:
    name = f"np.{function.__name__}"

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        known = [known_object(ctx, a) for a in args]
        known = [ctx.known(a, f"an argument of {name}") if k is MISSING else k for a, k in zip(args, known)]
        named = {key: ctx.known(value, f"{key} of {name}") for key, value in kwargs.items()}
        return call_now(ctx, lambda: function(*known, **named))

    call.__name__, call.__doc__ = function.__name__, f"`{name}`, computed now."
    return call


for _function in (*_BY_TYPE, *_BY_NUMBER):
    meaning(_function)(_now(_function))


_can_cast = _now(np.can_cast)


@meaning(np.can_cast)
def can_cast(ctx: Context, from_: Raw, to: Raw, casting: Raw = "safe") -> Abstract:
    """Whether a type, or that of an array, may be cast: known."""
    source = Const(dtype_of(ctx, from_)) if ctx.is_ndarray(from_) else from_
    return _can_cast(ctx, source, to, casting)


@meaning(np.isscalar)
def isscalar(ctx: Context, element: Raw) -> Abstract:
    """True for numbers of Python and NumPy, and for strings."""
    if isinstance(element, Array):
        return Const(element.form in (Form.PYTHON, Form.SCALAR))
    known = known_object(ctx, element)
    return Const(known is not MISSING and bool(np.isscalar(known)))


@meaning(np.iterable)
def iterable(ctx: Context, y: Raw) -> Abstract:
    """True for what can be iterated over: an array has an axis, other classes `__iter__`."""
    if isinstance(y, Const):
        return call_now(ctx, np.iterable, y.value)
    if isinstance(y, Array) or ctx.is_ndarray(y):
        read = ctx.read(y)
        return Const(isinstance(read, Array) and read.rank > 0)
    return Const(all(issubclass(c, Iterable) for c in class_of(ctx, y)))


@meaning(np.common_type)
def common_type(ctx: Context, *arrays: Raw) -> Abstract:
    """The floating-point type that all the arrays fit into."""
    samples = []
    for each in arrays:
        read = ctx.read(each)
        if not isinstance(read, Array):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.common_type", argument="argument"))
        samples.append(np.empty(0, read.dtype))
    return call_now(ctx, np.common_type, *samples)


@meaning(np.result_type)
def np_result_type(ctx: Context, *arrays_and_dtypes: Raw) -> Abstract:
    """`np.result_type(…)`: known."""
    if any(_is_no_type(ctx, x) for x in arrays_and_dtypes):
        return _refused_type(ctx, np.result_type, arrays_and_dtypes)
    kinds = [_kind(ctx, x) for x in arrays_and_dtypes]
    return Const(numpy_common(tuple(kinds)))


@meaning(jnp.result_type)
def jnp_result_type(ctx: Context, *args: Raw) -> Abstract:
    """`jnp.result_type(…)`: known."""
    if any(_is_no_type(ctx, x) for x in args):
        return _refused_type(ctx, jnp.result_type, args)
    return Const(canonical(jax_common(ctx, tuple([_kind(ctx, x) for x in args]))[0], ctx.x64))


def _kind(ctx: Context, x: Raw) -> NumberKind:
    if isinstance(x, Bounded):
        return NumberKind(x.type.dtype, x.form, x.weak)
    if isinstance(x, Const) and not isinstance(x.value, bool | int | float | complex | np.generic):
        dtype: DType = np.dtype(x.value)
        return NumberKind(dtype, Form.NDARRAY)
    return kinds_of(ctx.read(x))[0]


def _is_no_type(ctx: Context, x: Raw) -> bool:
    """True for a value that neither has an element type nor names one: a sequence, a function."""
    if not isinstance(x, Const):
        return is_sequence(ctx, x)
    if isinstance(x.value, bool | int | float | complex | np.generic):
        return False
    try:
        np.dtype(x.value)
    except (TypeError, ValueError):
        return True
    return False


def _refused_type(ctx: Context, function: Callable[..., Any], args: Sequence[Raw]) -> Abstract:
    """The exception of the function itself for arguments without an element type."""
    known = [known_object(ctx, x) for x in args]
    if any(x is MISSING for x in known):
        ctx.fail(NotNumeric(span=ctx.span, what=f"`{function.__name__}`", kind="a sequence"))
    return call_now(ctx, function, *known)


def _about_type(function: Callable[[Any], Any]) -> Callable[..., Abstract]:
    """A query about an element type, which other arguments do not have."""

    def about(ctx: Context, x: Raw) -> Abstract:
        if isinstance(x, Const) and not isinstance(x.value, bool | int | float | complex | np.generic):
            return call_now(ctx, function, x.value)
        return Const(bool(function(np.empty(0, _kind(ctx, x).dtype))))

    return about


for _function in {np.iscomplexobj, np.isrealobj, jnp.iscomplexobj, jnp.isrealobj}:
    meaning(_function)(_about_type(_function))
