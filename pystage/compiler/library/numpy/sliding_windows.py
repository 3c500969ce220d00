"""`sliding_window_view`: all windows of known sizes along axes of an array, a read-only view of its memory."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.types import INT64
from ...ops import Compare, Maximum, Subtract
from ...values.bounded import Bounded, Extent
from ...values.lattice import Abstract, ArrayCell, Ref, through
from ...values.views import SlidingWindows
from ..context import Context, Raw
from ..operands.libraries import NUMPY
from ..operands.nested_sequences import nested
from ..registry import meaning
from ..rules.jax import ints, is_none
from .indexing.bounded import bounded, refuse, shape
from .indexing.stores import shape_of


@meaning(sliding_window_view)
def windows(
    ctx: Context,
    x: Raw,
    window_shape: Raw,
    axis: Raw = None,
    *,
    subok: Raw = False,
    writeable: Raw = False,
) -> Abstract:
    """The windows of an array, as axes behind the others."""
    if ctx.known(writeable, "writeable of sliding_window_view"):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="sliding_window_view", argument="writeable"))
    sizes = ints(ctx, window_shape, "the window shape")
    along = None if is_none(axis) else ints(ctx, axis, "the axis of sliding_window_view")
    array = x if ctx.is_ndarray(x) or isinstance(x, Bounded) else _memory_of(ctx, x)
    assert isinstance(array, Ref | Bounded)
    axes = shape_of(ctx, array) if isinstance(array, Ref) else array.axes
    try:
        _check(sizes, along, *[n if isinstance(n, int) else sum(sizes) for n in axes])
    except ValueError as error:
        ctx.raise_(error)
    places = range(len(axes)) if along is None else [axis % len(axes) for axis in along]
    view = SlidingWindows(sizes, tuple(places))
    if isinstance(array, Bounded):
        return _of_bounded(ctx, array, view)
    return through(array, (view,))


def _check(sizes: tuple[int, ...], along: tuple[int, ...] | None, *extents: int) -> None:
    """Raises what NumPy raises of the windows of an array with these extents."""
    sliding_window_view(np.broadcast_to(np.int8(0), extents), sizes, along)


def _memory_of(ctx: Context, raw: Raw) -> Ref:
    """Read-only memory with the elements of what is no ndarray."""
    value = nested(ctx, NUMPY, raw, "sliding_window_view").value
    return Ref(ctx.state.new_cell(ArrayCell(value, writable=False)))


def _of_bounded(ctx: Context, array: Bounded, view: SlidingWindows) -> Bounded:
    """The windows of the whole whose elements all belong to the array."""
    extents: list[Extent] = []
    sizes = list(array.type.shape)
    for extent in array.extents:
        along = [size for size, axis in zip(view.sizes, view.axes) if axis == extent.axis]
        places = extent.progression
        if along and (places is None or places.step != 1):
            refuse(ctx, "sliding_window_view of elements that are not side by side", array)
        if not along or places is None:
            extents.append(extent)
            continue
        lost = [sum(along[:i]) - i for i in range(len(along) + 1)]
        least = max([before + size for before, size in zip(lost, along)])
        sizes[extent.axis] = max(sizes[extent.axis], least)
        short = ctx.op(Compare("LT"), places.count, ctx.constant(least, INT64))
        function = functools.partial(_check, view.sizes, view.axes)
        ctx.check(short, ValueError("window shape cannot be larger"), function, shape(ctx, array))
        rest = ctx.op(Subtract(), places.count, ctx.constant(lost[-1], INT64))
        rest = ctx.op(Maximum(), rest, ctx.constant(0, INT64))
        extents.append(replace(extent, size=rest))
    whole = array.whole if isinstance(array.whole, Ref) else _memory_of(ctx, array.whole)
    if sizes != list(array.type.shape):  # there never are as many elements
        nothing = ctx.broadcast(ctx.constant(0, array.type.dtype), tuple(sizes))
        whole = Ref(ctx.state.new_cell(ArrayCell(nothing, writable=False)))
    return bounded(ctx, through(whole, (view,)), extents)
