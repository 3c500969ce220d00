"""Normal and exponential numbers from a PCG64 whose state the program has, as plain programs: `pcg64.py` for those.

Both are drawn by ziggurats of 256 layers (Marsaglia and Tsang, "The ziggurat method for generating random variables", 2000),
whose widths are found by asking NumPy's own generator what it makes of chosen words. Absolute values that change nothing
keep multiplications and additions apart, which XLA would contract.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ....values.generators import WORDS, set_words, words_of
from ....values.lattice import Abstract, Tuple
from ...context import Context
from ...registry import meaning
from .pcg64 import MULTIPLIER, double, leave_to_host, next64

_LAYERS = 256
_BACK = pow(MULTIPLIER, -1, 1 << 128)


class _Observed:
    """What a method of NumPy's generator makes of a chosen word: its result, and whether it asks for no other."""

    def __init__(self, name: str) -> None:
        self._bits = np.random.PCG64(0)
        self._draw = getattr(np.random.Generator(self._bits), name)

    def __call__(self, word: int) -> tuple[float, bool]:
        before = (word - 1) * _BACK % (1 << 128)
        set_words(self._bits, np.array([before >> 64, before & (1 << 64) - 1, 0, 1, 0, 0], WORDS.dtype))
        found = self._draw()
        after = words_of(self._bits)
        return found, (int(after[0]), int(after[1])) == (0, word)


def _tables(name: str, bits: int, shift: int, layer: int) -> tuple[Any, Any]:
    """The widths of the layers, as of numbers of so many bits, and how many of these are accepted at once in each.

    A word holds such a number shifted by `shift`, and the number of the layer shifted by `layer`.
    """
    observed = _Observed(name)
    widths = np.array([observed(i << layer | 1 << shift)[0] for i in range(_LAYERS)])
    limits = np.empty(_LAYERS, np.uint64)
    for i in range(_LAYERS):
        low, high = 0, 1 << bits
        while low < high:
            middle = (low + high) // 2
            if observed(i << layer | middle << shift)[1]:
                low = middle + 1
            else:
                high = middle
        limits[i] = low
    return widths, limits


@functools.cache
def normal_tables() -> Any:
    """Of the layers of the normal ziggurat: the widths, the limits, and the heights."""
    widths, limits = _tables("standard_normal", 52, 9, 0)
    heights = [1.0, *[math.exp(-0.5 * (w * 2.0**52) ** 2) for w in widths[1:]]]
    return widths, limits, np.array(heights)


@functools.cache
def exponential_tables() -> Any:
    """Of the layers of the exponential ziggurat: the widths, the limits, and the heights."""
    widths, limits = _tables("standard_exponential", 53, 11, 3)
    heights = [1.0, *[math.exp(-w * 2.0**53) for w in widths[1:]]]
    return widths, limits, np.array(heights)


@meaning(normal_tables)
def _normal_tables(ctx: Context) -> Abstract:
    """Constants of the program."""
    return _constants(ctx, normal_tables())


@meaning(exponential_tables)
def _exponential_tables(ctx: Context) -> Abstract:
    """Constants of the program."""
    return _constants(ctx, exponential_tables())


def _constants(ctx: Context, tables: Any) -> Abstract:
    return Tuple(tuple([ctx.ndarray(ctx.constant(table, table.dtype)) for table in tables]))


# ---------------------------------------------------------------- one number


def _normal_trial(state: Any, widths: Any) -> Any:
    """A layer, a number of 52 bits, and the place in the layer that this is."""
    word = next64(state)
    layer = int(word & 0xFF)
    number = word >> 9 & 0xFFFFFFFFFFFFF
    place = number * widths[layer]
    return layer, number, -place if word & 0x100 else place


def one_normal(state: Any) -> Any:
    """A number of the standard normal distribution."""
    widths, limits, heights = normal_tables()
    layer, number, place = _normal_trial(state, widths)
    found = number < limits[layer]
    while not found:
        if layer == 0:
            beyond, other = 0.0, 0.0
            while other + other <= beyond * beyond:
                beyond = abs(-0.27366123732975828 * np.log1p(-double(next64(state))))
                other = -np.log1p(-double(next64(state)))
            place = 3.6541528853610088 + beyond
            if number >> 8 & 1:
                place = -place
            found = True
        else:
            height = (heights[layer - 1] - heights[layer]) * double(next64(state)) + heights[layer]
            found = height < np.exp(-0.5 * place * place)
            if not found:
                layer, number, place = _normal_trial(state, widths)
                found = number < limits[layer]
    return place


def _exponential_trial(state: Any, widths: Any) -> Any:
    """A layer, a number of 53 bits, and the place in the layer that this is."""
    word = next64(state) >> 3
    layer = int(word & 0xFF)
    number = word >> 8
    return layer, number, number * widths[layer]


def one_exponential(state: Any) -> Any:
    """A number of the standard exponential distribution."""
    widths, limits, heights = exponential_tables()
    layer, number, place = _exponential_trial(state, widths)
    found = number < limits[layer]
    while not found:
        if layer == 0:
            place = 7.69711747013104972 - np.log1p(-double(next64(state)))
            found = True
        else:
            height = (heights[layer - 1] - heights[layer]) * double(next64(state)) + heights[layer]
            found = height < np.exp(-place)
            if not found:
                layer, number, place = _exponential_trial(state, widths)
                found = number < limits[layer]
    return place


# ---------------------------------------------------------------- methods


def standard_normal(state: Any, size: Any = None, dtype: Any = np.float64) -> Any:
    """`Generator.standard_normal` of 64 bits."""
    if np.dtype(dtype) != np.float64:
        leave_to_host()
    if size is None:
        return float(one_normal(state))
    count = math.prod(size) if isinstance(size, tuple) else size
    found = np.empty(count)
    for i in range(count):
        found[i] = one_normal(state)
    return found.reshape(size)


def standard_exponential(state: Any, size: Any = None, dtype: Any = np.float64, method: Any = "zig") -> Any:
    """`Generator.standard_exponential` of 64 bits, by the ziggurat."""
    if np.dtype(dtype) != np.float64 or method != "zig":
        leave_to_host()
    if size is None:
        return float(one_exponential(state))
    count = math.prod(size) if isinstance(size, tuple) else size
    found = np.empty(count)
    for i in range(count):
        found[i] = one_exponential(state)
    return found.reshape(size)


def normal(state: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """`Generator.normal`."""
    if np.ndim(loc) == 0 and np.ndim(scale) == 0:
        centre, deviation = float(loc), float(scale)
        if not math.isnan(deviation) and np.signbit(deviation):
            raise ValueError("scale < 0")
        drawn = standard_normal(state, size)
        distance = abs(deviation * drawn)
        if size is None:
            return centre - distance if drawn < 0.0 else centre + distance
        return np.where(drawn < 0.0, centre - distance, centre + distance)
    centres, deviations = np.asarray(loc, np.float64), np.asarray(scale, np.float64)
    if np.any(~np.isnan(deviations) & np.signbit(deviations)):
        raise ValueError("scale < 0")
    shape = np.broadcast_shapes(centres.shape, deviations.shape) if size is None else size
    drawn = standard_normal(state, shape)
    distance = abs(deviations * drawn)
    return np.where(drawn < 0.0, centres - distance, centres + distance)


def exponential(state: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """`Generator.exponential`."""
    if np.ndim(scale) == 0:
        extent = float(scale)
        if not math.isnan(extent) and np.signbit(extent):
            raise ValueError("scale < 0")
        return extent * standard_exponential(state, size)
    extents = np.asarray(scale, np.float64)
    if np.any(~np.isnan(extents) & np.signbit(extents)):
        raise ValueError("scale < 0")
    return extents * standard_exponential(state, extents.shape if size is None else size)
