"""Queries about types and constants, which the real NumPy function answers at compile time.

In: dtypes, scalar types, constants. Out: the result of the real function. A computed argument contributes its element
type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const
from ..context import Context, Raw
from ..kernels.structures import MISSING, call_now, known_object
from ..registry import meaning

_BY_TYPE: tuple[Any, ...] = (np.issubdtype, np.promote_types, np.isdtype, np.can_cast, np.mintypecode)
_BY_NUMBER: tuple[Any, ...] = (np.base_repr, np.binary_repr, np.typename, np.min_scalar_type)


def _now(function: Any) -> Callable[..., Abstract]:
    name = f"np.{function.__name__}"

    def call(ctx: Context, *args: Raw, **kwargs: Raw) -> Abstract:
        known = [known_object(ctx, a) for a in args]
        known = [ctx.known(a, f"an argument of {name}") if k is MISSING else k for a, k in zip(args, known)]
        named = {key: ctx.known(value, f"{key} of {name}") for key, value in kwargs.items()}
        return call_now(ctx, lambda: function(*known, **named))

    call.__name__, call.__doc__ = function.__name__, f"`{name}`, computed now."
    return call


for _function in (*_BY_TYPE, *_BY_NUMBER):
    meaning(_function)(_now(_function))


@meaning(np.isscalar)
def isscalar(ctx: Context, element: Raw) -> Abstract:
    """True for numbers of Python and NumPy, and for strings."""
    if isinstance(element, Array):
        return Const(element.form in (Form.PYTHON, Form.SCALAR))
    known = known_object(ctx, element)
    return Const(known is not MISSING and bool(np.isscalar(known)))


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
