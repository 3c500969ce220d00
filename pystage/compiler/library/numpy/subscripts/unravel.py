"""`np.unravel_index`: flat indices as one index per axis; and `np.ravel_multi_index`, which goes the other way."""

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
from ...kernels.python_implementations import composed
from ...kernels.structures import lift
from ...operands.libraries import NUMPY
from ...operands.nested_sequences import elements, nested
from ...registry import meaning
from ...rules.jax import ints
from ..indexing.bounds_checks import check_inside

_LARGEST = np.iinfo(np.intp).max
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
    if size > _LARGEST:
        too_large = "arrays and shapes with a total size greater than 'intp' are not supported"
        ctx.raise_(ValueError(f"dimensions are too large; {too_large}."))

    def outside(at: Any) -> None:
        np.unravel_index(at, extents, how)

    read = given if isinstance(given, Array) else Array(argument.value, Form.NDARRAY)
    check_inside(ctx, read, flat, size, outside, fallback=_OUTSIDE)
    if not extents and argument.rank:
        ctx.raise_(ValueError("multiple indices are not supported for 0d arrays"))
    return Tuple(tuple([ctx.new(place) for place in _indices(ctx, flat, extents, how == "F")]))


def _indices(ctx: Context, flat: Value, extents: tuple[int, ...], fortran: bool) -> list[Value]:
    """The indices along the axes, of which the last moves fastest, or in Fortran order the first."""
    found: list[Value] = []
    for extent in extents if fortran else reversed(extents):
        found.append(ctx.op(Remainder(), flat, like(ctx, flat, max(extent, 1))))
        flat = ctx.op(Divide(), flat, like(ctx, flat, max(extent, 1)))
    return found if fortran else found[::-1]


@composed(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """The places of elements counted in C order or, with "F", in Fortran order, of one index for each axis."""
    extents = (dims,) if np.ndim(dims) == 0 else tuple(dims)
    count = len(extents)
    given = [np.asarray(each) for each in multi_index]
    if len(given) != count:
        raise ValueError(f"parameter multi_index must be a sequence of length {count}")
    for each in given:
        if each.dtype.kind not in "biu":
            raise TypeError("only int indices permitted")
    if math.prod(extents) > _LARGEST:
        raise ValueError("invalid dims: array size defined by dims is larger than the maximum possible size.")
    indices = [each.astype(np.intp) for each in given]
    zero = 0 * indices[0]
    for each in indices[1:]:
        zero = zero + 0 * each
    modes = (mode,) * count if isinstance(mode, str) else mode
    found, factor = zero, 1
    for axis in range(count) if order == "F" else range(count - 1, -1, -1):
        index, extent = indices[axis] + zero, extents[axis]
        if extent == 0 and index.size > 0:
            raise ValueError("cannot unravel if shape has zero entries (is empty).")
        if modes[axis] == "wrap":
            index = index % max(extent, 1)
        elif modes[axis] == "clip":
            index = np.minimum(np.maximum(index, 0), extent - 1)
        elif np.any((index < 0) | (index >= extent)):
            raise ValueError("invalid entry in coordinates array")
        found = found + index * factor
        factor = factor * extent
    return found
