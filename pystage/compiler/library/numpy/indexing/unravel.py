"""`np.unravel_index`: flat indices as one index per axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....hlo.ir import Value
from ....hlo.types import INT64, is_integer
from ....ops import Divide, Remainder
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, Tuple
from ...context import Context, Raw
from ...kernels.arithmetic import like
from ...kernels.nesting import elements, nested
from ...kernels.structures import lift
from ...registry import meaning
from ...rules.jax import ints
from ...rules.libraries import NUMPY
from .bounds_checks import check_inside

_OUTSIDE = ValueError("index is out of bounds for array")


@meaning(np.unravel_index)
def unravel_index(ctx: Context, indices: Raw, shape: Raw, order: Raw = "C") -> Abstract:
    """The index along each axis of elements counted in C order or, with "F", in Fortran order."""
    extents = ints(ctx, shape, "the shape of unravel_index")
    how = ctx.known(order, "the order of unravel_index")
    given = indices if elements(ctx, indices) is not None else ctx.read(indices)
    if isinstance(given, Const) or (isinstance(given, Array) and not is_integer(given.dtype)):
        known = ctx.known(indices, "the indices of unravel_index")
        try:
            return lift(ctx, np.unravel_index(known, extents, how))
        except (TypeError, ValueError) as error:
            ctx.raise_(error)
    argument = nested(ctx, NUMPY, indices, "unravel_index")
    flat = ctx.convert(argument.value, INT64)
    size = math.prod(extents)

    def outside(at: Any) -> None:
        np.unravel_index(at, extents, how)

    read = given if isinstance(given, Array) else Array(argument.value, Form.NDARRAY)
    check_inside(ctx, read, flat, size, outside, fallback=_OUTSIDE)
    return Tuple(tuple([ctx.new(place) for place in _indices(ctx, flat, extents, how == "F")]))


def _indices(ctx: Context, flat: Value, extents: tuple[int, ...], fortran: bool) -> list[Value]:
    """The indices along the axes, of which the last moves fastest, or in Fortran order the first."""
    found: list[Value] = []
    for extent in extents if fortran else reversed(extents):
        found.append(ctx.op(Remainder(), flat, like(ctx, flat, max(extent, 1))))
        flat = ctx.op(Divide(), flat, like(ctx, flat, max(extent, 1)))
    return found if fortran else found[::-1]
