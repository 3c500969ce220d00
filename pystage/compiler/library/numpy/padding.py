"""`pad`, and convolution of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.ir import Value
from ...hlo.types import INT64, DType
from ...ops import Pad, Reverse
from ...values.boundary import Form
from ...values.lattice import Abstract, Array
from ..context import Context, Raw
from ..kernels.contraction import Labelled, product
from ..kernels.nesting import nested
from ..kernels.structures import call_now
from ..registry import meaning
from ..rules.casting import element_value
from ..rules.libraries import NUMPY
from .indexing.gathering import Fancy, gather
from .joining import part, taken

Widths = list[tuple[int, int]]


def _widths(ctx: Context, raw: Raw, rank: int) -> Widths:
    """`pad_width` as one pair for each axis."""
    given = ctx.known(raw, "the widths of pad, and so its size,")
    if isinstance(given, dict):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.pad", argument="widths by axis"))
    try:
        array = np.broadcast_to(np.asarray(given), (rank, 2))
    except ValueError as error:
        ctx.raise_(error)
    if array.dtype.kind not in "iu":
        ctx.raise_(TypeError("`pad_width` must be of integral type."))
    if (array < 0).any():
        ctx.raise_(ValueError("index can't contain negative values"))
    return [(int(a), int(b)) for a, b in array]


def _with_constants(ctx: Context, value: Value, widths: Widths, constants: Raw) -> Value:
    """Numbers around the array, axis after axis as NumPy fills them."""
    rank = value.type.rank
    sides = _sides(ctx, constants, rank, value.type.dtype)
    if all(side is sides[0][0] for pair in sides for side in pair):
        low, high = tuple([a for a, _ in widths]), tuple([b for _, b in widths])
        return ctx.op(Pad(low, high, (0,) * rank), value, sides[0][0])
    for axis, (pair, numbers) in enumerate(zip(widths, sides)):
        for which, (width, number) in enumerate(zip(pair, numbers)):
            low = tuple([width if i == axis and which == 0 else 0 for i in range(rank)])
            high = tuple([width if i == axis and which == 1 else 0 for i in range(rank)])
            value = ctx.op(Pad(low, high, (0,) * rank), value, number)
    return value


def _sides(ctx: Context, constants: Raw, rank: int, dtype: DType) -> list[tuple[Value, Value]]:
    """The number before and after each axis."""
    given = nested(ctx, NUMPY, constants, "pad").value
    form = Form.SCALAR if given.type.size <= 2 else Form.PYTHON  # as NumPy iterates them
    if given.type.size == 1:
        one = element_value(ctx, Array(ctx.reshape(given, ()), form), dtype, "constant_values")
        return [(one, one)] * rank
    flat = ctx.reshape(ctx.broadcast(given, (rank, 2)), (2 * rank,))
    parts = [Array(ctx.reshape(part(ctx, flat, 0, i, i + 1), ()), form) for i in range(2 * rank)]
    numbers = [element_value(ctx, each, dtype, "constant_values") for each in parts]
    return [(numbers[2 * i], numbers[2 * i + 1]) for i in range(rank)]


def _by_positions(mode: str, value: np.ndarray, low: int, high: int) -> np.ndarray:
    """The indices along one axis that a mode repeats: NumPy pads the indices themselves."""
    return np.pad(value, (low, high), mode=mode)  # type: ignore[call-overload, no-any-return]


_PLACE_MODES = ("edge", "reflect", "symmetric", "wrap")


@meaning(np.pad)
def pad(
    ctx: Context,
    array: Raw,
    pad_width: Raw,
    mode: Raw = "constant",
    *,
    constant_values: Raw = 0,
    reflect_type: Raw = "even",
) -> Abstract:
    """More elements around the array: constants, or its own repeated in some order."""
    given = nested(ctx, NUMPY, array, "pad")
    how = ctx.known(mode, "the mode of pad")
    widths = _widths(ctx, pad_width, given.rank)
    value = given.value
    if not given.rank:
        return ctx.ndarray(value)
    if how in ("constant", "empty"):
        return ctx.ndarray(_with_constants(ctx, value, widths, constant_values))
    if how not in _PLACE_MODES or ctx.known(reflect_type, "reflect_type of pad") != "even":
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.pad", argument=f"mode {how!r}"))
    for axis, (low, high) in enumerate(widths):
        if not low and not high:
            continue
        extent = value.type.static_shape[axis]
        try:
            positions = _by_positions(how, np.arange(extent), low, high)
        except ValueError as error:
            ctx.raise_(error)
        value = taken(ctx, value, positions, axis)
    return ctx.ndarray(value)


# ---------------------------------------------------------------- convolution of vectors


def _correlated(ctx: Context, long: Value, short: Value, mode: str) -> Value:
    """Sums of products of `short` with each window of `long`, by a table of windows."""
    (n,), (m,) = long.type.static_shape, short.type.static_shape
    low = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    size = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    padded = ctx.op(Pad((low,), (size + m - 1 - n - low,), (0,)), long, ctx.constant(0, long.type.dtype))
    positions = ctx.constant(np.arange(size)[:, None] + np.arange(m), INT64)
    table = gather(ctx, padded, Fancy((0,), (positions,), (size, m), 0, False))
    return product(ctx, Labelled(table, ("i", "k")), Labelled(short, ("k",)), ("i",)).value


def mode_name(mode: Any) -> Any:
    """The name of a mode of convolution, which may be a number; raises what NumPy raises for others."""
    np.convolve([1.0], [1.0], mode)
    return mode if isinstance(mode, str) else ("valid", "same", "full")[mode]


@meaning(mode_name)
def _mode_name(ctx: Context, mode: Raw) -> Abstract:
    return call_now(ctx, mode_name, ctx.known(mode, "the mode of convolve"))


@meaning(np.convolve)
def convolve(ctx: Context, a: Raw, v: Raw, mode: Raw = "full") -> Abstract:
    """The convolution of two vectors."""
    (one, two), _ = NUMPY.common(ctx, [nested(ctx, NUMPY, x, "convolve") for x in (a, v)])
    which = ctx.known(_mode_name(ctx, mode), "the mode of convolve")
    for value in (one, two):
        if value.type.rank > 1:
            ctx.raise_(ValueError("object too deep for desired array"))
    one, two = ctx.reshape(one, (one.type.size,)), ctx.reshape(two, (two.type.size,))
    if not one.type.size or not two.type.size:
        ctx.raise_(ValueError("a cannot be empty" if not one.type.size else "v cannot be empty"))
    if two.type.size > one.type.size:
        one, two = two, one
    short = ctx.op(Reverse((0,)), two)
    if which == "same":
        whole = _correlated(ctx, one, short, "full")
        start = (two.type.size - 1) // 2
        return ctx.ndarray(part(ctx, whole, 0, start, start + one.type.size))
    return ctx.ndarray(_correlated(ctx, one, short, which))
