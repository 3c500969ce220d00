"""`pad`, and convolution of vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, DType, is_integer
from ...ops import Add, Concatenate, Pad, Reverse, Select, Subtract
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, Const
from ..context import Context, Raw
from ..kernels.python_implementations import run_program, size_depends
from ..kernels.structures import call_now
from ..operands.casting import element_value
from ..operands.contraction import Labelled, product
from ..operands.known_calls import is_computed
from ..operands.libraries import NUMPY
from ..operands.nested_sequences import nested
from ..registry import meaning
from ..rules.jax import is_none
from .concatenation import part, taken
from .indexing.fancy_indexing import Fancy, gather
from .indexing.stores import cast

Widths = list[tuple[int, int]]
Pairs = list[tuple[Any, Any]]
"""An option before and after each axis."""


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


def _repeated(ctx: Context, mode: str, value: Value, axis: int, widths: tuple[int, int]) -> Value:
    """Elements of its own on both sides, at the indices that NumPy's padding of indices gives."""
    places = np.arange(value.type.shape[axis])
    return taken(ctx, value, np.pad(places, widths, mode=mode), axis)  # type: ignore[call-overload]


def _turned(ctx: Context, mode: str, value: Value, axis: int, widths: tuple[int, int]) -> Value:
    """The array reflected about its ends, and about their elements, as often as needed."""
    low, high = widths
    offset = int(mode == "reflect")  # the element at the end is not repeated
    period = value.type.shape[axis] - offset
    if period + offset < 2:
        return _repeated(ctx, mode, value, axis, widths)
    while low or high:
        extent = value.type.shape[axis]
        count = (extent - offset) // period * period
        first, last = min(count, low), min(count, high)
        before = _about(ctx, value, axis, 0, (offset, offset + first))
        after = _about(ctx, value, axis, extent - 1, (extent - offset - last, extent - offset))
        value = ctx.op(Concatenate(axis), before, value, after)
        low, high = low - first, high - last
    return value


def _about(ctx: Context, value: Value, axis: int, at: int, ends: tuple[int, int]) -> Value:
    """The elements between `ends` in reverse order, each subtracted from twice the element at `at`."""
    dtype = value.type.dtype
    wide = INT64 if dtype == BOOL else dtype
    edge, elements = [ctx.convert(part(ctx, value, axis, *p), wide) for p in ((at, at + 1), ends)]
    double = ctx.broadcast(ctx.op(Add(), edge, edge), elements.type.shape)
    return cast(ctx, ctx.op(Subtract(), double, ctx.op(Reverse((axis,)), elements)), dtype)


def _with_statistics(
    ctx: Context, function: Any, lengths: Pairs, value: Value, axis: int, widths: tuple[int, int]
) -> Value:
    """On both sides a statistic of the adjacent elements, of all where a length is None."""
    shape, dtype = value.type.shape, value.type.dtype
    sides = []
    for is_last, (width, length) in enumerate(zip(widths, lengths[axis])):
        count = shape[axis] if length is None else min(round(length), shape[axis])
        start = shape[axis] - count if is_last else 0
        beside = ctx.ndarray(part(ctx, value, axis, start, start + count))
        made = ctx.call(Const(function), [beside], {"axis": Const(axis), "keepdims": Const(True)})
        if is_integer(dtype):
            made = ctx.call(Const(np.round), [made])
        found = cast(ctx, nested(ctx, NUMPY, made, "pad").value, dtype)
        sides.append(ctx.broadcast(found, (*shape[:axis], width, *shape[axis + 1 :])))
    return ctx.op(Concatenate(axis), sides[0], value, sides[1])


def _with_ramps(ctx: Context, ends: Pairs, value: Value, axis: int, widths: tuple[int, int]) -> Value:
    """Numbers on both sides from an end value to the outermost element."""
    shape, dtype = value.type.shape, value.type.dtype
    ramps = []
    for is_last, (width, end) in enumerate(zip(widths, ends[axis])):
        at = shape[axis] - 1 if is_last else 0
        edge = ctx.reshape(part(ctx, value, axis, at, at + 1), (*shape[:axis], *shape[axis + 1 :]))
        options = {"num": width, "endpoint": False, "dtype": dtype, "axis": axis}
        named = {name: Const(option) for name, option in options.items()}
        made = ctx.call(Const(np.linspace), [Const(end), ctx.ndarray(edge)], named)
        ramp = nested(ctx, NUMPY, made, "pad").value
        ramps.append(ctx.op(Reverse((axis,)), ramp) if is_last else ramp)
    return ctx.op(Concatenate(axis), ramps[0], value, ramps[1])


def _pairs(ctx: Context, raw: Raw, rank: int, name: str) -> Pairs:
    """An option as one pair for each axis; pairs of None where it is None."""
    known = ctx.known(raw, f"{name} of pad")
    if known is None:
        return [(None, None)] * rank
    given = np.asarray(known)
    flat = given.size <= 2 and given.shape != (2, 1)
    pairs = np.broadcast_to(given.ravel() if flat else given, (rank, 2))
    return [(pair[0], pair[1]) for pair in (pairs if flat else pairs.tolist())]


_STATISTICS = {"maximum": np.amax, "minimum": np.amin, "mean": np.mean, "median": np.median}
_OPTIONS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    **dict.fromkeys(_STATISTICS, "stat_length"),
}
"""The option that a mode takes."""


def joined_around(array: Any, pad_width: Any, mode: Any, constant_values: Any = 0, **options: Any) -> Any:
    """As `np.pad`, where the run knows the size of the result: a constant, or the outermost elements."""
    if mode not in ("constant", "edge") or np.ndim(constant_values) or len(options) > 0:
        size_depends(
            f"np.pad of mode {mode!r}, or with several constants", "join the parts with `np.concatenate`"
        )
    array = np.asarray(array)
    if np.ndim(pad_width) == 0:
        widths = [(pad_width, pad_width)] * array.ndim
    elif np.ndim(pad_width) == 1:
        widths = [tuple(np.broadcast_to(pad_width, (2,)))] * array.ndim
    elif isinstance(pad_width, tuple) and len(pad_width) == array.ndim and {*map(len, pad_width)} == {2}:
        widths = list(pad_width)
    else:
        widths = [tuple(pair) for pair in np.broadcast_to(pad_width, (array.ndim, 2))]
    made = array
    for axis in tuple(range(array.ndim)):
        before, after = widths[axis]
        if mode == "constant":
            ends = [
                np.full((*made.shape[:axis], n, *made.shape[axis + 1 :]), constant_values, array.dtype)
                for n in (before, after)
            ]
        else:
            if made.shape[axis] == 0 and before + after > 0:
                raise ValueError(
                    f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
                )
            one = [
                np.moveaxis(np.moveaxis(made, axis, 0)[part], 0, axis) for part in (slice(1), slice(-1, None))
            ]
            ends = [np.repeat(part, n, axis=axis) for part, n in zip(one, (before, after))]
        made = np.concatenate((ends[0], made, ends[1]), axis=axis)
    return made


@meaning(np.pad)
def pad(ctx: Context, /, array: Raw, pad_width: Raw, mode: Raw = "constant", **options: Raw) -> Abstract:
    """More elements around the array: constants, ramps, statistics of its own, or its own repeated in some order."""
    if isinstance(array, Bounded) or is_computed(ctx, pad_width):
        return run_program(ctx, joined_around, (array, pad_width, mode), options)
    given = nested(ctx, NUMPY, array, "pad")
    how = ctx.known(mode, "the mode of pad")
    widths = _widths(ctx, pad_width, given.rank)
    name = _OPTIONS.get(how, "")
    if options.keys() - {name}:
        argument = f"{', '.join(options.keys() - {name})} and mode {how!r}"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.pad", argument=argument))
    option = options.get(name)
    value = given.value
    if not given.rank:
        return ctx.ndarray(value)
    if how in ("constant", "empty"):
        return ctx.ndarray(_with_constants(ctx, value, widths, 0 if is_none(option) else option))
    fill: Callable[[Value, int, tuple[int, int]], Value]
    if how in _STATISTICS:
        lengths = _pairs(ctx, option, given.rank, name)
        fill = functools.partial(_with_statistics, ctx, _STATISTICS[how], lengths)
    elif how == "linear_ramp":
        ends = _pairs(ctx, 0 if is_none(option) else option, given.rank, name)
        fill = functools.partial(_with_ramps, ctx, ends)
    elif name == "reflect_type" and ctx.known(option, "reflect_type of pad") == "odd":
        fill = functools.partial(_turned, ctx, how)
    elif how in ("edge", "reflect", "symmetric", "wrap"):
        fill = functools.partial(_repeated, ctx, how)
    else:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.pad", argument=f"mode {how!r}"))
    for axis, pair in enumerate(widths):
        if not any(pair):
            continue
        if not value.type.shape[axis]:
            text = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            ctx.raise_(ValueError(text))
        value = fill(value, axis, pair)
    return ctx.ndarray(value)


# ---------------------------------------------------------------- convolution of vectors


def _correlated(ctx: Context, long: Value, short: Value, mode: str) -> Value:
    """Sums of products of `short` with each window of `long`, by a table of windows.

    At the ends what would meet the padding is taken for zero, since infinities and NaN times 0 are NaN.
    """
    (n,), (m,), dtype = long.type.shape, short.type.shape, long.type.dtype
    low = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    size = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    zero = ctx.constant(0, dtype)
    padded = ctx.op(Pad((low,), (size + m - 1 - n - low,), (0,)), long, zero)

    def sums(start: int, stop: int, at_end: bool) -> Value:
        positions = np.arange(start, stop)[:, None] + np.arange(m)
        shape = (stop - start, m)
        table = gather(ctx, padded, Fancy((0,), (ctx.constant(positions, INT64),), shape, 0, False))
        factors = Labelled(short, ("k",))
        if at_end:
            inside = ctx.constant((positions >= low) & (positions < low + n), BOOL)
            repeated, zeros = ctx.broadcast(ctx.reshape(short, (1, m)), shape), ctx.broadcast(zero, shape)
            factors = Labelled(ctx.op(Select(), inside, repeated, zeros), ("i", "k"))
        return product(ctx, Labelled(table, ("i", "k")), factors, ("i",)).value

    if dtype.kind in "biu":
        return sums(0, size, False)
    last = low + n - m + 1
    if m == 1:  # which XLA takes for products, and a sum begins with 0.0
        return ctx.op(Add(), sums(0, size, False), ctx.broadcast(zero, (size,)))
    parts = [(0, low, True), (low, last, False), (last, size, True)]
    return ctx.op(Concatenate(0), *[sums(*each) for each in parts if each[0] < each[1]])


def mode_name(mode: Any) -> Any:
    """The name of a mode of convolution, which may be a number; raises what NumPy raises for others."""
    np.convolve([1.0], [1.0], mode)
    return mode if isinstance(mode, str) else ("valid", "same", "full")[mode]


@meaning(mode_name)
def _mode_name(ctx: Context, mode: Raw) -> Abstract:
    return call_now(ctx, mode_name, ctx.known(mode, "the mode of convolve"))


def convolved(a: Any, v: Any, mode: Any) -> Any:
    """As `np.convolve`, of vectors of which the run knows the sizes."""
    first, second = np.asarray(a), np.asarray(v)
    n, m = len(first), len(second)
    if n == 0:
        raise ValueError("a cannot be empty")
    if m == 0:
        raise ValueError("v cannot be empty")
    mode = mode_name(mode)
    kind = np.result_type(first, second)
    wide = np.dtype(np.float32) if kind == np.float16 else kind  # as NumPy sums
    first, second, found = first.astype(wide), second.astype(wide), np.zeros(n + m - 1, wide)
    for i in range(m):
        found[i : i + n] += first * second[i]
    found = found.astype(kind)
    short, long = min(n, m), max(n, m)
    if mode == "full":
        return found
    if mode == "same":
        return found[(short - 1) // 2 : (short - 1) // 2 + long].copy()
    return found[short - 1 : long].copy()


@meaning(np.convolve)
def convolve(ctx: Context, a: Raw, v: Raw, mode: Raw = "full") -> Abstract:
    """The convolution of two vectors."""
    if isinstance(a, Bounded) or isinstance(v, Bounded):
        return run_program(ctx, convolved, (a, v, mode))
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
