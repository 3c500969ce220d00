"""Normal and exponential numbers from a PCG64 whose state is in the program, by NumPy's ziggurats.

In: the array of the words of the state, as in `pcg64.py`. Out: the numbers, and another state. The area under the density is
cut into 256 layers; a word gives a layer and a place in it, which nearly always is below the density. Where it is not,
another word decides, or the number is of the tail (Marsaglia and Tsang, "The ziggurat method for generating random
variables", 2000).
"""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any

import numpy as np

from ....values.lattice import Abstract
from ...context import Context, Raw
from ...registry import meaning
from .pcg64 import (
    double,
    folded,
    is_known,
    jumped,
    jumps,
    leave_to_host,
    next64,
    parameters,
    random,
    shape_of,
    zero,
)

_COLUMNS = [("ki", "u8"), ("wi", "f8"), ("fi", "f8"), ("ke", "u8"), ("we", "f8"), ("fe", "f8")]
"""Of each layer how many places are certain to be below the density, how wide one is, and the density at the layer's end:
`ki`, `wi`, `fi` of normal, `ke`, `we`, `fe` of exponential numbers, as in NumPy's
`random/src/distributions/ziggurat_constants.h`.
"""
_NORMAL_END, _NORMAL_INVERSE = 3.6541528853610087963519472518, 0.27366123732975827203338247596
_EXPONENTIAL_END = 7.69711747013104971404462804811408952
_BLOCK = 128
"""The number of numbers drawn at once: about as many as there are before one that is not certain."""


@functools.cache
def _tables() -> Any:
    return np.loadtxt(Path(__file__).with_name("ziggurat.csv"), _COLUMNS, delimiter=",", skiprows=1)


def table(name: str) -> Any:
    """A column of the tables."""
    return _tables()[name].copy()


@meaning(table)
def _table(ctx: Context, name: Raw) -> Abstract:
    """A constant of the program."""
    found = table(ctx.known(name, "the name of a table"))
    return ctx.ndarray(ctx.constant(found, found.dtype))


# ---------------------------------------------------------------- drawing


def drawn(state: Any, size: Any, candidates: Any, decided: Any) -> Any:
    """So many numbers of a ziggurat.

    `candidates(words)` are the numbers that words give, and whether they are certain to be below the density;
    `decided(state, word, number)` is the number that comes of one that is not, and whether it counts.
    """
    if size is None:
        return float(_one(state, candidates, decided))
    count = math.prod(size) if isinstance(size, tuple) else size
    if is_known(count) and count == 0:
        return np.zeros(size)
    width = min(count, _BLOCK) if is_known(count) else _BLOCK
    steps, places = jumps(0, 1, width + 1), np.arange(width)
    found = np.zeros(count + width)
    done = 0
    while done < count:
        high, low = jumped(state, state[0], state[1], steps)
        numbers, certain = candidates(folded(high[1:], low[1:]))
        end = min(width, count - done)
        first = int(np.min(np.where(certain, width, places)))
        taken = min(first, end)
        step = taken + int(first < end)
        state[0] = np.take(high, step, mode="clip")
        state[1] = np.take(low, step, mode="clip")
        number, counts = np.float64(0.0), np.False_
        if first < end:
            number = np.take(numbers, first, mode="clip")
            number, counts = decided(state, folded(state[0], state[1]), number)
        found[done : done + width] = np.where(places == taken, number, numbers)
        done += taken + int(counts)
    return found[:count].copy().reshape(size)


def _one(state: Any, candidates: Any, decided: Any) -> Any:
    """The next number of a ziggurat."""
    word = next64(state)
    number, counts = candidates(word)
    while not counts:
        number, counts = decided(state, word, number)
        if not counts:
            word = next64(state)
            number, counts = candidates(word)
    return number


def _below(state: Any, top: Any, bottom: Any, height: Any) -> Any:
    """True if a point drawn between two heights is below this one."""
    return bottom + ((top - bottom) * double(next64(state)) + zero(state)) < height


def inverse(numbers: Any) -> Any:
    """Exponential numbers from uniform ones, by the inverse of their distribution.

    NumPy takes `log1p` of the C library, from which `log` of the difference, which is exact, differs in the last place at
    most.
    """
    return np.abs(np.log(1.0 - numbers))


def _normal_candidates(words: Any) -> Any:
    """The candidates for normal numbers from words, and which are certain."""
    layer, places = (words & 0xFF).astype(np.int64), words >> 9 & 0xFFFFFFFFFFFFF
    numbers = places * table("wi")[layer]
    return np.where(words >> 8 & 1 == 1, -numbers, numbers)[()], places < table("ki")[layer]


def _normal_decided(state: Any, word: Any, number: Any) -> Any:
    """The normal number of an uncertain candidate, and whether it is accepted."""
    layer, heights = int(word & 0xFF), table("fi")
    if layer > 0:
        counts = _below(state, heights[layer - 1], heights[layer], np.exp(-0.5 * number * number))
        return number, counts
    beyond = other = np.float64(0.0)
    while other + other <= beyond * beyond:
        beyond, other = _of_tail(state)
    found = _NORMAL_END + beyond
    return np.where(word >> 17 & 1 == 1, -found, found)[()], np.True_


def _of_tail(state: Any) -> Any:
    """Two exponential numbers, of which the first is how far a number of the tail is beyond its beginning, if accepted."""
    beyond = _NORMAL_INVERSE * inverse(double(next64(state))) + zero(state)
    return beyond, inverse(double(next64(state)))


def _exponential_candidates(words: Any) -> Any:
    """The candidates for exponential numbers from words, and which are certain."""
    layer, places = (words >> 3 & 0xFF).astype(np.int64), words >> 11
    return places * table("we")[layer], places < table("ke")[layer]


def _exponential_decided(state: Any, word: Any, number: Any) -> Any:
    """The exponential number of an uncertain candidate, and whether it is accepted."""
    layer, heights = int(word >> 3 & 0xFF), table("fe")
    if layer > 0:
        return number, _below(state, heights[layer - 1], heights[layer], np.exp(-number))
    return _EXPONENTIAL_END + inverse(double(next64(state))), np.True_


# ---------------------------------------------------------------- methods


def standard_normal(state: Any, size: Any = None, dtype: Any = np.float64) -> Any:
    """`Generator.standard_normal` of float64."""
    if np.dtype(dtype) != np.float64:
        leave_to_host()
    return drawn(state, size, _normal_candidates, _normal_decided)


def normal(state: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """`Generator.normal`."""
    return _normal(state, loc, scale, size, "scale")


def lognormal(state: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    """`Generator.lognormal`."""
    found = np.exp(_normal(state, mean, sigma, size, "sigma"))
    return found if np.ndim(found) else (float(found) if size is None else np.asarray(found))


def _normal(state: Any, loc: Any, scale: Any, size: Any, name: Any) -> Any:
    """Normal numbers; `name` is the error's word for their scale. For the order of additions see `uniform`."""
    if np.ndim(loc) == 0 and np.ndim(scale) == 0:
        found = float(loc) + (not_negative(scale, name) * standard_normal(state, size) + zero(state))
        return found if size is None else np.asarray(found)
    loc, scale = parameters(loc), np.asarray(not_negative(scale, name))
    shape = shape_of(np.broadcast_shapes(loc.shape, scale.shape), size)
    return loc + (scale * standard_normal(state, shape) + zero(state))


def standard_exponential(state: Any, size: Any = None, dtype: Any = np.float64, method: Any = "zig") -> Any:
    """`Generator.standard_exponential` of float64."""
    if np.dtype(dtype) != np.float64:
        leave_to_host()
    if method == "zig":
        return drawn(state, size, _exponential_candidates, _exponential_decided)
    found = inverse(random(state, size))
    return float(found) if size is None else np.asarray(found)


def exponential(state: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """`Generator.exponential`."""
    if np.ndim(scale) == 0:
        found = not_negative(scale, "scale") * standard_exponential(state, size)
        return found if size is None else np.asarray(found)
    scale = not_negative(scale, "scale")
    return scale * standard_exponential(state, shape_of(scale.shape, size))


def not_negative(given: Any, name: Any) -> Any:
    """A parameter, or NumPy's exception for one that is negative."""
    if np.ndim(given) == 0:
        number = float(given)
        if np.signbit(number) and not np.isnan(number):
            raise ValueError(name + " < 0")
        return number
    numbers = parameters(given)
    if np.any(np.signbit(numbers) & ~np.isnan(numbers)):
        raise ValueError(name + " < 0")
    return numbers
