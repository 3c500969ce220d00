"""`np.unravel_index`: flat indices as one index per axis; and `np.ravel_multi_index`, which goes the other way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....hlo.ir import Value
from ....hlo.types import INT64, is_integer
from ....ops import Divide, Maximum, Multiply, Remainder
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array, Const, Tuple
from ...context import Context, Raw
from ...kernels.arithmetic import like
from ...kernels.python_implementations import composed
from ...kernels.structures import abstract, lift, sequence_items
from ...operands.bounded_arguments import placed_argument, value_of_size
from ...operands.known_calls import is_computed
from ...operands.libraries import NUMPY
from ...operands.nested_sequences import elements
from ...registry import meaning
from ...rules.jax import ints
from ..indexing.bounded import where_of
from ..indexing.bounded_operands import result_with
from ..indexing.bounds_checks import check_inside

_LARGEST = np.iinfo(np.intp).max
_OUTSIDE = ValueError("index is out of bounds for array")


@meaning(np.unravel_index)
def unravel_index(ctx: Context, indices: Raw, shape: Raw, order: Raw = "C") -> Abstract:
    """The index along each axis of elements counted in C order or, with "F", in Fortran order."""
    extents = _extents(ctx, shape)
    known = [n for n in extents if isinstance(n, int)]
    how = ctx.known(order, "the order of unravel_index")
    is_array = isinstance(indices, Bounded) or elements(ctx, indices) is not None
    given = indices if is_array else ctx.read(indices)
    if isinstance(given, Const) or (isinstance(given, Array) and not is_integer(given.dtype)):
        number = ctx.known(indices, "the indices of unravel_index")
        try:
            return lift(ctx, np.unravel_index(number, ints(ctx, shape, "the shape of unravel_index"), how))
        except (TypeError, ValueError) as error:
            ctx.raise_(error)
    argument = placed_argument(ctx, NUMPY, indices, "unravel_index")
    if argument.dtype.kind not in "biu" and argument.extents:
        ctx.raise_(TypeError("only int indices permitted"))
    flat = ctx.convert(argument.value, INT64)
    size: int | Value = math.prod(known)
    for n in extents:
        if not isinstance(n, int):
            size = ctx.op(Multiply(), value_of_size(ctx, size), n.value)
    if isinstance(size, int) and size > _LARGEST:
        too_large = "arrays and shapes with a total size greater than 'intp' are not supported"
        ctx.raise_(ValueError(f"dimensions are too large; {too_large}."))

    def outside(at: Any, *sizes: int) -> None:
        np.unravel_index(at, sizes, how)

    read = given if isinstance(given, Array) else Array(argument.value, Form.NDARRAY)
    members = where_of(ctx, argument.shape, argument.extents) if argument.extents else None
    check_inside(ctx, read, flat, size, outside, None, _OUTSIDE, members, [abstract(n) for n in extents])
    if not extents and argument.rank:
        ctx.raise_(ValueError("multiple indices are not supported for 0d arrays"))
    places = _indices(ctx, flat, extents, how == "F")
    return Tuple(tuple([result_with(ctx, ctx.new(place), argument.axes) for place in places]))


def _extents(ctx: Context, shape: Raw) -> tuple[int | Array, ...]:
    """The extents of a shape, known or computed."""
    if not is_computed(ctx, shape):
        return ints(ctx, shape, "the shape of unravel_index")
    items = sequence_items(ctx, shape)
    found: list[int | Array] = []
    for item in (shape,) if items is None else items:
        read = ctx.read(item)
        found.append(read if isinstance(read, Array) else int(read.value))
    return tuple(found)


def _indices(ctx: Context, flat: Value, extents: tuple[int | Array, ...], fortran: bool) -> list[Value]:
    """The indices along the axes, of which the last moves fastest, or in Fortran order the first."""
    found: list[Value] = []
    for extent in extents if fortran else reversed(extents):
        if isinstance(extent, int):
            divisor = like(ctx, flat, max(extent, 1))
        else:
            least = ctx.op(Maximum(), ctx.convert(extent.value, INT64), ctx.constant(1, INT64))
            divisor = ctx.broadcast(least, flat.type.shape)
        found.append(ctx.op(Remainder(), flat, divisor))
        flat = ctx.op(Divide(), flat, divisor)
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
