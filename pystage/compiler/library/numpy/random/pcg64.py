"""Draws from a PCG64 whose state is in the program, as plain programs over the words of the state (`generators.WORDS`).

In: the array of the words, which each draw changes, and the arguments of a method of `np.random.Generator`. Out: what the
method draws, bit for bit. PCG64 is a linear congruential generator of 128 bits; what it gives is its state after a step, the
halves of which are folded and rotated (O'Neill, "PCG: A family of simple fast space-efficient statistically good algorithms
for random number generation", 2014: PCG XSL RR 128/64). Bounded integers are Lemire's ("Fast random integer generation in an
interval", 2019).
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...registry import meaning

MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = (1 << 128) - 1
_HIGH, _LOW = np.uint64(MULTIPLIER >> 64), np.uint64(MULTIPLIER & _MASK >> 64)


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
    """A number of steps as the factor of the state and that of the increment."""
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


def is_known(count: Any) -> bool:
    """True for a number that is known before the program runs."""
    return True


@meaning(is_known)
def _is_known(ctx: Context, count: Raw) -> Abstract:
    """A constant of the program."""
    return Const(ctx.can_be_known(abstract(count)))


def leave_to_host() -> NoReturn:
    """Restarts inference with the draws at the host, for what these programs cannot do."""
    raise NotImplementedError


@meaning(leave_to_host)
def _leave_to_host(ctx: Context) -> NoReturn:
    """Restarts inference with the states of generators at the host."""
    ctx.leave_states()


# ---------------------------------------------------------------- words


def high_word(a: Any, b: Any) -> Any:
    """The high word of the product of two words."""
    a_low, a_high, b_low, b_high = a & 0xFFFFFFFF, a >> 32, b & 0xFFFFFFFF, b >> 32
    first, second = a_high * b_low, a_low * b_high
    middle = (a_low * b_low >> 32) + (first & 0xFFFFFFFF) + (second & 0xFFFFFFFF)
    return a_high * b_high + (first >> 32) + (second >> 32) + (middle >> 32)


def product(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> Any:
    """The product of two numbers of two words, modulo two words."""
    return high_word(a_low, b_low) + a_high * b_low + a_low * b_high, a_low * b_low


def total(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> Any:
    """The sum of two numbers of two words."""
    low = a_low + b_low
    return a_high + b_high + (low < b_low), low


def folded(high: Any, low: Any) -> Any:
    """The output of the generator in a state."""
    word, rotation = high ^ low, high >> 58
    return word >> rotation | word << (64 - rotation & 63)


def stepped(state: Any) -> Any:
    """The state of the generator after one step."""
    high, low = product(state[0], state[1], _HIGH, _LOW)
    return total(high, low, state[2], state[3])


def jumped(state: Any, high: Any, low: Any, factors: Any) -> Any:
    """The states that `jumps` lead to from others of the same generator."""
    high, low = product(factors[0], factors[1], high, low)
    return total(high, low, *product(factors[2], factors[3], state[2], state[3]))


def next64(state: Any) -> Any:
    """The next word."""
    high, low = stepped(state)
    state[0] = high
    state[1] = low
    return folded(high, low)


def next32(state: Any) -> Any:
    """The next half of a word, as a word: the low half first, then the remaining one."""
    left, half = state[4] != 0, state[5]
    high, low = stepped(state)
    word = folded(high, low)
    state[0] = np.where(left, state[0], high)
    state[1] = np.where(left, state[1], low)
    state[4] = np.where(left, np.uint64(0), np.uint64(1))
    state[5] = np.where(left, half, word >> 32)
    return np.where(left, half, word & 0xFFFFFFFF)[()]


def words(state: Any, count: Any) -> Any:
    """The next `count` words, all at once where their number is known: each is then a known number of steps away."""
    if not is_known(count):
        found = np.empty(count, np.uint64)
        for i in range(count):
            found[i] = next64(state)
        return found
    if count == 0:
        return np.zeros(0, np.uint64)
    width = min(count, max(64, math.isqrt(count)))
    rows = -(-count // width)
    far, near = jumps(0, width, rows), jumps(1, 1, width)
    high, low = jumped(state, state[0], state[1], far)
    high, low = jumped(state, high[:, None], low[:, None], near)
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
    if np.dtype(dtype) not in (np.float64, np.float32):
        leave_to_host()
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
    """`Generator.uniform`. The zero that is added keeps multiplication and addition apart, which XLA would contract."""
    if np.ndim(low) == 0 and np.ndim(high) == 0:
        first = float(low)
        extent = float(high) - first
        if not math.isfinite(extent):
            raise OverflowError("high - low range exceeds valid bounds")
        if np.signbit(extent):
            raise ValueError("high - low < 0")
        found = first + (extent * random(state, size) + zero(state))
        return found if size is None else np.asarray(found)
    low = parameters(low)
    extents = parameters(high) - low
    if not np.all(np.isfinite(extents)):
        raise OverflowError("Range exceeds valid bounds")
    if np.any(np.signbit(extents)):
        raise ValueError("high - low < 0")
    return low + (extents * random(state, shape_of(extents.shape, size)) + zero(state))


def parameters(given: Any) -> Any:
    """An array of parameters of a distribution."""
    found = np.asarray(given)
    if found.dtype.kind not in "biuf":
        leave_to_host()
    return found.astype(np.float64)


def zero(state: Any) -> Any:
    """Zero that no compiler knows to be zero: increments are odd. Adding it keeps the sign of zeros."""
    return -float(1 - int(state[3] & 1))


def shape_of(limits: Any, size: Any) -> Any:
    """The shape of draws from as many intervals."""
    if size is None:
        return limits
    shape = size if isinstance(size, tuple) else (size,)
    if len(limits) > len(shape):
        leave_to_host()
    for i in range(len(limits)):
        if limits[-1 - i] != shape[-1 - i] and limits[-1 - i] != 1:
            leave_to_host()
    return shape


# ---------------------------------------------------------------- integers


def bounded32(state: Any, extent: Any) -> Any:
    """A word from 0 to `extent`, which is less than 2**32, inclusive."""
    count = extent + np.uint64(1)
    threshold = (np.uint64(0xFFFFFFFF) - extent) % count
    found = next32(state) * count
    while found & 0xFFFFFFFF < threshold:
        found = next32(state) * count
    return found >> 32


def bounded64(state: Any, extent: Any) -> Any:
    """A word from 0 to `extent`, which is not all words, inclusive."""
    count = extent + np.uint64(1)
    threshold = (np.uint64(0xFFFFFFFFFFFFFFFF) - extent) % count
    word = next64(state)
    while word * count < threshold:
        word = next64(state)
    return high_word(word, count)


def bounded(state: Any, extent: Any) -> Any:
    """A word from 0 to `extent`, inclusive."""
    if extent == 0:
        return np.uint64(0)
    if extent <= 0xFFFFFFFF:
        return bounded32(state, extent)
    if extent == 0xFFFFFFFFFFFFFFFF:
        return next64(state)
    return bounded64(state, extent)


def below(state: Any, end: Any) -> Any:
    """An index below `end`, which is less than 2**32."""
    return int(bounded32(state, np.int64(end - 1).astype(np.uint64)))


def integers(
    state: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False
) -> Any:
    """`Generator.integers` of 64 bits."""
    if np.dtype(dtype) != np.int64:
        leave_to_host()
    if size is not None and math.prod(size if isinstance(size, tuple) else (size,)) == 0:
        return np.empty(size, np.int64)
    if high is None:
        low, high = 0, low
    if np.ndim(low) or np.ndim(high):
        return _integers_each(state, np.asarray(low), np.asarray(high), size, endpoint)
    first, last = int(low), int(high)
    if first > last or (first == last and not endpoint):
        if first == 0:
            raise ValueError("high < 0" if endpoint else "high <= 0")
        raise ValueError("low > high" if endpoint else "low >= high")
    if not endpoint:
        last = last - 1
    start = np.int64(first).astype(np.uint64)
    extent = np.int64(last).astype(np.uint64) - start
    if size is None:
        found = (start + bounded(state, extent)).astype(np.int64)
        return int(found) if dtype is int else found
    count = math.prod(size) if isinstance(size, tuple) else size
    found = np.empty(count, np.int64)
    for i in range(count):
        found[i] = (start + bounded(state, extent)).astype(np.int64)
    return found.reshape(size)


def _integers_each(state: Any, low: Any, high: Any, size: Any, endpoint: Any) -> Any:
    """Integers from as many intervals."""
    if low.dtype.kind not in "iub" or high.dtype.kind not in "iub" or np.uint64 in (low.dtype, high.dtype):
        leave_to_host()
    if np.any(low > high) or (not endpoint and np.any(low == high)):
        if not np.any(low):
            raise ValueError("high < 0" if endpoint else "high <= 0")
        raise ValueError("low > high" if endpoint else "low >= high")
    shape = shape_of(np.broadcast_shapes(low.shape, high.shape), size)
    low, high = low.astype(np.int64), high.astype(np.int64)
    last = high if endpoint else high - 1
    starts = np.broadcast_to(low.astype(np.uint64), shape).ravel()
    extents = np.broadcast_to(last.astype(np.uint64) - low.astype(np.uint64), shape).ravel()
    found = np.empty(starts.shape, np.int64)
    for i in range(len(starts)):
        found[i] = (starts[i] + bounded(state, extents[i])).astype(np.int64)
    return found.reshape(shape)


# ---------------------------------------------------------------- permutations and choices


def masked(state: Any, last: Any) -> Any:
    """An index from 0 to `last`, which is less than 2**32, inclusive: the first in range of numbers of as many bits."""
    mask = last
    for shift in (1, 2, 4, 8, 16):
        mask = mask | mask >> shift
    found = int(next32(state)) & mask
    while found > last:
        found = int(next32(state)) & mask
    return found


def mix(state: Any, x: Any) -> Any:
    """Permutes the elements of a vector or of a list in place."""
    for i in range(len(x) - 1, 0, -1):
        j = masked(state, i)
        kept = x[i]
        x[i] = x[j]
        x[j] = kept


def check_axis(axis: Any, rank: Any) -> None:
    """Leaves an axis that does not exist to the host."""
    if not -rank <= axis < rank:
        leave_to_host()


def permutation(state: Any, x: Any, axis: Any = 0) -> Any:
    """`Generator.permutation`."""
    if isinstance(x, int | np.integer):
        found = np.arange(x)
        mix(state, found)
        return found
    found = np.array(x)
    check_axis(axis, found.ndim)
    places = np.arange(found.shape[axis])
    mix(state, places)
    return np.take(found, places, axis=axis, mode="clip")


def shuffle(state: Any, x: Any, axis: Any = 0) -> None:
    """`Generator.shuffle`."""
    if not isinstance(x, np.ndarray):
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        mix(state, x)
    elif x.ndim == 0:
        raise TypeError("len() of unsized object")
    else:
        check_axis(axis, x.ndim)
        if x.size == 0:
            return
        places = np.arange(x.shape[axis])
        mix(state, places)
        x[...] = np.take(x, places, axis=axis, mode="clip")


def permuted(state: Any, x: Any, axis: Any = None) -> Any:
    """`Generator.permuted`."""
    found = np.array(x)
    if axis is None:
        flat = np.ravel(x, order="K")
        places = np.arange(found.size)
        mix(state, places)
        return np.take(flat, places, mode="clip").reshape(found.shape)
    check_axis(axis, found.ndim)
    rows = np.moveaxis(found, axis, -1).copy()
    flat = rows.reshape(math.prod(rows.shape[:-1]), rows.shape[-1])
    for i in range(len(flat)):
        mix(state, flat[i])
    return np.moveaxis(flat.reshape(rows.shape), -1, axis).copy()


def distribution(weights: Any) -> Any:
    """The cumulative weights as parts of the whole, added in order, as in NumPy."""
    sums = np.empty(len(weights))
    so_far = 0.0
    for i in range(len(weights)):
        so_far = so_far + weights[i]
        sums[i] = so_far
    return sums / so_far


def choice(
    state: Any,
    a: Any,
    size: Any = None,
    replace: Any = True,
    p: Any = None,
    axis: Any = 0,
    shuffle: Any = True,
) -> Any:
    """`Generator.choice`."""
    count = 1 if size is None else math.prod(size) if isinstance(size, tuple) else size
    if np.ndim(a) == 0:
        if np.asarray(a).dtype.kind not in "iub":
            leave_to_host()
        number = int(a)
        if number <= 0 and count != 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
    else:
        a = np.asarray(a)
        check_axis(axis, a.ndim)
        number = a.shape[axis]
        if number == 0 and count != 0:
            raise ValueError("a cannot be empty unless no samples are taken")
    if p is not None:
        p = _probabilities(p, number)
    if replace:
        if p is None:
            found = integers(state, 0, number, size)
        else:
            found = np.searchsorted(distribution(p), random(state, size), side="right")
            found = found if size is None else np.asarray(found)
    else:
        if count > number:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if p is None:
            found = _sample(state, number, count, shuffle)
        else:
            found = _weighted_sample(state, p, count)
        found = found[0] if size is None else found.reshape(size)
    if np.ndim(a) == 0:
        return int(found) if size is None else found
    taken = np.take(a, found, axis=axis, mode="clip")
    return np.asarray(taken) if isinstance(size, tuple) and not size else taken


def _probabilities(p: Any, number: Any) -> Any:
    """The probabilities of `number` things."""
    tolerance = 1.4901161193847656e-08
    if isinstance(p, np.ndarray) and p.dtype == np.float32:
        tolerance = 0.00034526698300124393
    if isinstance(p, np.ndarray) and p.dtype == np.float16:
        tolerance = 0.03125
    p = np.asarray(p, np.float64)
    if p.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    if len(p) != number:
        raise ValueError("a and p must have same size")
    whole = p.sum()
    if np.isnan(whole):
        raise ValueError("Probabilities contain NaN")
    if np.any(p < 0):
        raise ValueError("Probabilities are not non-negative")
    if abs(whole - 1.0) > tolerance:
        raise ValueError(
            "Probabilities do not sum to 1. See Notes section of docstring for more information."
        )
    return p


def _sample(state: Any, number: Any, count: Any, shuffled: Any) -> Any:
    """Distinct indices below `number`: the end of a permutation of all, or by Floyd's algorithm."""
    if number > 10000 and count > number // (50 if shuffled else 20):
        places = np.arange(number)
        _mix_end(state, places, max(number - count, 1))
        return places[number - count :].copy()
    found = np.full(count, -1)
    for i in range(count):
        last = number - count + i
        place = below(state, last + 1) if last > 0 else 0
        found[i] = last if np.any(found == place) else place
    if shuffled:
        _mix_end(state, found, 1)
    return found


def _mix_end(state: Any, x: Any, first: Any) -> None:
    """Exchanges each position, from the last one to `first`, with a random one up to it."""
    for i in range(len(x) - 1, first - 1, -1):
        j = below(state, i + 1)
        kept = x[i]
        x[i] = x[j]
        x[j] = kept


def _weighted_sample(state: Any, p: Any, count: Any) -> Any:
    """Distinct indices by their probabilities: drawn together, and again while some are drawn twice."""
    if np.count_nonzero(p > 0) < count:
        raise ValueError("Fewer non-zero entries in p than size")
    found = np.zeros(count, np.int64)
    taken = np.zeros(len(p), bool)
    number = 0
    while number < count:
        sums = distribution(np.where(taken, 0.0, p))
        drawn = count - number
        while drawn > 0:
            place = np.searchsorted(sums, random(state), side="right")
            if not taken[place]:
                taken[place] = True
                found[number] = place
                number += 1
            drawn -= 1
    return found
