"""Draws from a PCG64 whose state the program has, as plain programs over the words of the state (`generators.WORDS`).

In: the array of the words, which each draw changes, and the arguments of a method of `np.random.Generator`. Out: what the
method draws, bit for bit. PCG64 is a linear congruential generator of 128 bits; what it gives is its state after a step, the
halves of which are folded and rotated (O'Neill, "PCG: A family of simple fast space-efficient statistically good algorithms
for random number generation", 2014: PCG XSL RR 128/64). Bounded integers are Lemire's ("Fast random integer generation in an
interval", 2019).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....values.lattice import Abstract
from ...context import Context, Raw
from ...registry import meaning

MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = (1 << 128) - 1


def jumps(first: int, step: int, count: int) -> Any:
    """The steps `first`, `first + step`, … of the generator as factors of the state and of the increment.

    Rows are the high and the low words of the `count` factors of the state, then those of the increment.
    """
    factor, term = _jump(first)
    each, more = _jump(step)
    found = np.empty((4, count), np.uint64)
    for i in range(count):
        found[:, i] = factor >> 64, factor & _MASK >> 64, term >> 64, term & _MASK >> 64
        factor, term = factor * each & _MASK, (term * each + more) & _MASK
    return found


def _jump(steps: int) -> tuple[int, int]:
    """So many steps: the factor of the state and that of the increment."""
    factor, term, each, more = 1, 0, MULTIPLIER, 1
    while steps:
        if steps & 1:
            factor, term = factor * each & _MASK, (term * each + more) & _MASK
        each, more = each * each & _MASK, more * (each + 1) & _MASK
        steps >>= 1
    return factor, term


@meaning(jumps)
def _jumps(ctx: Context, first: Raw, step: Raw, count: Raw) -> Abstract:
    """A constant of the program."""
    numbers = [int(ctx.known(n, "a number of steps")) for n in (first, step, count)]
    return ctx.ndarray(ctx.constant(jumps(*numbers), np.uint64))


# ---------------------------------------------------------------- words


def high_word(a: Any, b: Any) -> Any:
    """The high word of the product of two words."""
    a_low, a_high, b_low, b_high = a & 0xFFFFFFFF, a >> 32, b & 0xFFFFFFFF, b >> 32
    first, second = a_high * b_low, a_low * b_high
    middle = (a_low * b_low >> 32) + (first & 0xFFFFFFFF) + (second & 0xFFFFFFFF)
    return a_high * b_high + (first >> 32) + (second >> 32) + (middle >> 32)


def product(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> Any:
    """The product of two numbers of two words, without what is above that."""
    return high_word(a_low, b_low) + a_high * b_low + a_low * b_high, a_low * b_low


def total(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> Any:
    """The sum of two numbers of two words."""
    low = a_low + b_low
    return a_high + b_high + (low < b_low), low


def folded(high: Any, low: Any) -> Any:
    """What the generator gives in a state."""
    word, rotation = high ^ low, high >> 58
    return word >> rotation | word << (64 - rotation & 63)


def stepped(state: Any) -> Any:
    """The state of the generator after one step."""
    high, low = product(state[0], state[1], np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645))
    return total(high, low, state[2], state[3])


def next64(state: Any) -> Any:
    """The next word."""
    high, low = stepped(state)
    state[0] = high
    state[1] = low
    return folded(high, low)


def next32(state: Any) -> Any:
    """The next half of a word, as a word: the low one first, then the one that is left over."""
    left, half = state[4] != 0, state[5]
    high, low = stepped(state)
    word = folded(high, low)
    state[0] = np.where(left, state[0], high)
    state[1] = np.where(left, state[1], low)
    state[4] = np.where(left, np.uint64(0), np.uint64(1))
    state[5] = np.where(left, half, word >> 32)
    return np.where(left, half, word & 0xFFFFFFFF)[()]


def words(state: Any, count: Any) -> Any:
    """The next `count` words, all at once: each is some known number of steps away."""
    if count == 0:
        return np.zeros(0, np.uint64)
    width = min(count, max(64, math.isqrt(count)))
    rows = -(-count // width)
    far, near = jumps(0, width, rows), jumps(1, 1, width)
    high, low = product(far[0], far[1], state[0], state[1])
    high, low = total(high, low, *product(far[2], far[3], state[2], state[3]))
    high, low = product(high[:, None], low[:, None], near[0], near[1])
    high, low = total(high, low, *product(near[2], near[3], state[2], state[3]))
    high, low = high.ravel()[:count], low.ravel()[:count]
    found = folded(high, low)
    state[0] = high[count - 1]
    state[1] = low[count - 1]
    return found


def double(word: Any) -> Any:
    """Words as floating-point numbers from 0 to 1."""
    return (word >> 11) * (1.0 / 9007199254740992.0)


# ---------------------------------------------------------------- methods


def random(state: Any, size: Any = None, dtype: Any = np.float64) -> Any:
    """`Generator.random`."""
    if np.dtype(dtype) == np.float32:
        if size is None:
            return float(np.float32(next32(state) >> 8) * np.float32(1.0 / 16777216.0))
        count = math.prod(size) if isinstance(size, tuple) else size
        found = np.empty(count, np.float32)
        for i in range(count):
            found[i] = np.float32(next32(state) >> 8) * np.float32(1.0 / 16777216.0)
        return found.reshape(size)
    if size is None:
        return float(double(next64(state)))
    count = math.prod(size) if isinstance(size, tuple) else size
    return double(words(state, count)).reshape(size)


def uniform(state: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """`Generator.uniform`."""
    if np.ndim(low) == 0 and np.ndim(high) == 0:
        first = float(low)
        extent = float(high) - first
        if not math.isfinite(extent):
            raise OverflowError("high - low range exceeds valid bounds")
        if np.signbit(extent):
            raise ValueError("high - low < 0")
        return first + extent * random(state, size)
    low = np.asarray(low, np.float64)
    extents = np.asarray(high, np.float64) - low
    if not np.all(np.isfinite(extents)):
        raise OverflowError("Range exceeds valid bounds")
    if np.any(np.signbit(extents)):
        raise ValueError("high - low < 0")
    return low + extents * random(state, extents.shape if size is None else size)
