"""NumPy's `searchsorted`, `digitize` and `bincount`.

A binary search runs for all needles at once: its size grows with the logarithm of the number of sorted elements.
"""

from __future__ import annotations

from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from ... import limits
from ...hlo.ir import Value
from ...hlo.types import BOOL, FLOAT64, INT64, is_complex, is_floating, is_integer
from ...ops import (
    Add,
    And,
    Compare,
    Gather,
    Imag,
    Maximum,
    Not,
    Or,
    Real,
    Reduce,
    Scatter,
    Select,
    ShiftRightLogical,
)
from ...values.boundary import Form
from ...values.lattice import Abstract, Array
from ..context import Context, Raw
from ..jax.traced_calls import jax_call
from ..kernels.arithmetic import any_of
from ..kernels.python_implementations import composed
from ..kernels.structures import lift
from ..operands.libraries import Rules, twins
from ..operands.nested_sequences import array_argument
from ..rules.jax import integer, is_none
from .indexing.bounded import first_elements
from .indexing.computed_shapes import bound_of
from .indexing.stores import cast, known_array


def _precedes(ctx: Context, x: Value, y: Value) -> Value:
    """Where `x` sorts before `y`: less, or a number where `y` is NaN; complex numbers as NumPy sorts them."""
    if is_complex(x.type.dtype):
        return _precedes_complex(ctx, x, y)
    less = ctx.op(Compare("LT"), x, y)
    if not is_floating(x.type.dtype):
        return less
    last = ctx.op(And(), ctx.op(Compare("EQ"), x, x), ctx.op(Compare("NE"), y, y))
    return ctx.op(Or(), less, last)


def _precedes_complex(ctx: Context, x: Value, y: Value) -> Value:
    """By whether the real and the imaginary part are NaN, then by the real part, then by the imaginary part."""
    parts = [[ctx.op(kind, value) for kind in (Real(), Imag())] for value in (x, y)]
    keys = [[ctx.op(Compare("NE"), part, part) for part in each] + each for each in parts]
    before: Value | None = None
    for left, right in reversed(list(zip(*keys, strict=True))):
        less = ctx.op(Compare("LT"), left, right)
        if before is not None:
            level = ctx.op(And(), ctx.op(Not(), ctx.op(Compare("GT"), left, right)), before)
            less = ctx.op(Or(), less, level)
        before = less
    assert before is not None
    return before


def _at(ctx: Context, values: Value, positions: Value) -> Value:
    """The elements of a vector at computed indices; those out of bounds are clamped."""
    kind = Gather((), (0,), (0,), positions.type.rank, (1,))
    return ctx.op(kind, values, positions)


def count_preceding(ctx: Context, values: Value, needles: Value, side: str) -> Value:
    """The number of sorted `values` before each needle (with equal ones for `right`), as int64."""
    return _bisect(ctx, values, needles, side)[0]


def _bisect(
    ctx: Context, values: Value, needles: Value, side: str, sorter: Value | None = None
) -> tuple[Value, Value]:
    """Bisection in `values[sorter]`; and whether `sorter` (int64) contained an index out of range.

    It probes the places that NumPy probes, whose answer for values that are not in order depends on them.
    """
    (size,) = values.type.static_shape
    shape = needles.type.static_shape

    def number(n: int) -> Value:
        return ctx.broadcast(ctx.constant(n, INT64), shape)

    low, high = number(0), number(size)
    outside = ctx.broadcast(ctx.constant(False, BOOL), shape)
    for _ in range(size.bit_length()):
        middle = ctx.op(ShiftRightLogical(), ctx.op(Add(), low, high), number(1))
        place = middle if sorter is None else _at(ctx, sorter, middle)
        element = _at(ctx, values, place)
        ahead = _precedes(ctx, element, needles) if side == "left" else _not_after(ctx, element, needles)
        is_open = ctx.op(Compare("LT"), low, high)
        if sorter is not None:
            beyond = [ctx.op(Compare(how), place, number(end)) for how, end in (("LT", 0), ("GE", size))]
            outside = ctx.op(Or(), outside, ctx.op(And(), is_open, ctx.op(Or(), *beyond)))
        ahead = ctx.op(And(), is_open, ahead)
        high = ctx.op(Select(), ctx.op(Or(), ahead, ctx.op(Not(), is_open)), high, middle)
        low = ctx.op(Select(), ahead, ctx.op(Add(), middle, number(1)), low)
    return low, outside


def _not_after(ctx: Context, x: Value, y: Value) -> Value:
    return ctx.op(Not(), _precedes(ctx, y, x))


def refuse_rank(ctx: Context, rank: int) -> NoReturn:
    """Raises NumPy's ValueError for an array that is not a vector."""
    ctx.raise_(ValueError(f"object {'too deep' if rank else 'of too small depth'} for desired array"))


def _ordered_pair(ctx: Context, rules: Rules, a: Raw, v: Raw, name: str) -> tuple[Value, Value]:
    """The sorted vector and the needles in their common element type."""
    given = [array_argument(ctx, rules, x, name) for x in (a, v)]
    (values, needles), _ = rules.common(ctx, given)
    if values.type.rank != 1:
        refuse_rank(ctx, values.type.rank)
    return values, needles


@twins(np.searchsorted, None)
def searchsorted(
    ctx: Context, rules: Rules, a: Raw, v: Raw, side: Raw = "left", sorter: Raw = None
) -> Abstract:
    """Where each element of `v` would be inserted into the ascending `a`."""
    which = ctx.known(side, "side of searchsorted")
    if which not in ("left", "right"):
        ctx.raise_(ValueError(f"search side must be 'left' or 'right' (got {which!r})"))
    if rules.is_jax:
        return jax_call(ctx, jnp.searchsorted, [a, v], {"side": side, "sorter": sorter})
    values, needles = _ordered_pair(ctx, rules, a, v, "searchsorted")
    if not is_none(sorter):
        order = array_argument(ctx, rules, sorter, "searchsorted")
        if order.dtype.kind not in "iu":
            ctx.raise_(TypeError("sorter must only contain integers"))
        if order.shape != values.type.shape:
            ctx.raise_(ValueError("sorter.size must equal len(array)"))
        found, outside = _bisect(ctx, values, needles, which, ctx.convert(order.value, INT64))
        ctx.check(any_of(ctx, outside), ValueError(_NO_SORTER), _refuse, [_NO_SORTER])
        return rules.result(ctx, found)
    return rules.result(ctx, count_preceding(ctx, values, needles, which))


_NO_SORTER = "Sorter index out of range."


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


@composed(np.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    """The number of the bin that each element falls into; the bins ascend or descend."""
    needles, edges = np.asarray(x), np.asarray(bins)
    if np.iscomplexobj(needles):
        raise TypeError("x may not be complex")
    if np.iscomplexobj(edges):
        pair = f"from {edges.dtype!r} to dtype('float64')"
        raise TypeError(f"Cannot cast array data {pair} according to the rule 'safe'")
    if edges.ndim != 1:
        raise ValueError(f"object {'too deep' if edges.ndim else 'of too small depth'} for desired array")
    n = len(edges)
    side: Any = "left" if right else "right"
    if n < 2:
        return np.searchsorted(edges, needles, side=side)
    numbers = edges.astype(
        np.float64
    )  # as NumPy asks whether they rise or fall; it searches in the edges themselves
    rises, falls = numbers[1:] > numbers[:-1], numbers[1:] < numbers[:-1]
    steps = numbers[1:] != numbers[:-1]
    falling = steps.any() & ~rises[np.argmax(steps)]  # so says the first step, also one from or to NaN
    if np.where(falling, rises.any(), falls.any()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    found = np.searchsorted(np.where(falling, edges[::-1], edges), needles, side=side)
    return np.where(falling, n - found, found)[()]


@twins(np.bincount, None, delegates=False)
def bincount(ctx: Context, rules: Rules, x: Raw, weights: Raw = None, minlength: Raw = 0) -> Abstract:
    """The number of occurrences of each number, or the sum of its weights.

    The length of the result is one more than the greatest element, or `minlength`.
    """
    given = array_argument(ctx, rules, x, "bincount")
    if given.rank != 1:
        refuse_rank(ctx, given.rank)
    if given.dtype.kind not in "biu" and not ctx.is_ndarray(x):  # NumPy converts lists as it likes
        given = given.of(cast(ctx, given.value, INT64))
    elif given.dtype.kind not in "biu":
        ctx.raise_(
            TypeError(
                f"Cannot cast array data from {given.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
        )
    least = least_length(ctx, minlength)
    known = known_array(given.value)
    if known is not None and isinstance(least, int) and is_none(weights):
        try:
            return lift(ctx, np.bincount(known, minlength=least))
        except ValueError as error:
            ctx.raise_(error)
    if is_none(weights) or given.shape == (0,):
        parts = ctx.broadcast(ctx.constant(1, INT64), given.shape)
    else:
        heavy = array_argument(ctx, rules, weights, "bincount")
        if heavy.rank != 1:
            refuse_rank(ctx, heavy.rank)
        if heavy.shape != given.shape:
            ctx.raise_(ValueError("The weights and list don't have the same length."))
        if is_complex(heavy.dtype):
            what = f"from {heavy.dtype!r} to dtype('float64')"
            ctx.raise_(TypeError(f"Cannot cast array data {what} according to the rule 'safe'"))
        parts = ctx.convert(heavy.value, FLOAT64)
    return occurrences(ctx, given.value, parts, least)


def least_length(ctx: Context, minlength: Raw) -> int | Array:
    """The `minlength` of `np.bincount`, which the program may compute."""
    if not isinstance(minlength, Array) or ctx.can_be_known(minlength):
        least = integer(ctx, minlength, "minlength of np.bincount")
        if least < 0:
            ctx.raise_(ValueError("'minlength' must not be negative"))
        return least
    if minlength.rank or not is_integer(minlength.dtype):
        ctx.raise_(TypeError("'minlength' must be an integer"))
    value = ctx.convert(minlength.value, INT64)
    low, high = ctx.range_of(minlength)
    if low < 0:
        negative = ctx.op(Compare("LT"), value, ctx.constant(0, INT64))
        ctx.check(negative, ValueError("'minlength' must not be negative"), _refuse_minlength, [])
    return ctx.python(value, (max(low, 0), max(high, 0)))


def occurrences(
    ctx: Context, numbers: Value, parts: Value, least: int | Array, inside: Value | None = None
) -> Abstract:
    """The sum of the weights of each number, for at least `least` numbers; of those only that are `inside`.

    There is one more than the greatest number, which only the run may know.
    """
    lowest, most = ctx.range_of(least) if isinstance(least, Array) else (least, least)
    shape = numbers.type.static_shape
    low, high = ctx.range_of(Array(numbers, Form.NDARRAY))
    at = ctx.convert(numbers, INT64)
    none = ctx.constant(-1, INT64)
    if inside is not None:
        at = ctx.op(Select(), inside, at, ctx.broadcast(none, shape))
    known = known_array(at)
    size = least
    if known is not None and isinstance(least, int):
        size = max(least, int(known.max(initial=-1)) + 1)
    if low < 0 or high >= 1 << 63:  # which the cast of uint64 wraps around
        error = ValueError("'list' argument must have no negative elements")
        zeros = ctx.broadcast(ctx.constant(0, INT64), shape)
        given = at if inside is None else ctx.op(Select(), inside, at, zeros)
        negative = ctx.op(Compare("LT"), given, zeros)
        some = ctx.op(Reduce(Or(), (0,)), negative, ctx.constant(False, BOOL))
        ctx.check(some, error, _refuse_negative, [])
    if isinstance(size, Array) or (known is None and high >= size and _greatest(numbers.type.dtype) >= size):
        last = ctx.op(Reduce(Maximum(), (0,)), at, none)
        if high >= _TOO_LONG:
            beyond = ctx.op(Compare("GE"), last, ctx.constant(_TOO_LONG, INT64))
            ctx.check(beyond, ValueError(_TOO_BIG), _refuse_size, [])
        shortest = least.value if isinstance(least, Array) else ctx.constant(least, INT64)
        needed = ctx.op(Maximum(), ctx.op(Add(), last, ctx.constant(1, INT64)), shortest)
        size = ctx.python(needed, (lowest, max(high + 1, most)))
    expected = min(max(shape[0], most), limits.EXPECTED_BINS)
    bound = size if isinstance(size, int) else bound_of(ctx, size, "np.bincount", int(expected))
    empty = ctx.broadcast(ctx.constant(0, parts.type.dtype), (bound,))
    outside = ctx.broadcast(ctx.constant(bound, INT64), shape)
    if inside is not None:
        at = ctx.op(Select(), inside, at, outside)
    made = ctx.ndarray(ctx.op(Scatter(Add(), (), (0,), (0,), 1), empty, at, parts))
    return made if isinstance(size, int) else first_elements(ctx, made, {0: size.value})


_TOO_LONG = (1 << 60) - 1
"""A number for which `np.bincount` makes no array: it would exceed the address space."""

_TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


def _refuse_size() -> None:
    raise ValueError(_TOO_BIG)


def _refuse_negative() -> None:
    np.bincount([-1])


def _refuse_minlength() -> None:
    np.bincount([0], minlength=-1)


def _greatest(dtype: np.dtype[np.generic]) -> int:
    """The greatest number of a type; of one with negative numbers, or many, more than any length."""
    if dtype == BOOL:
        return 1
    if dtype.kind != "u":
        return 1 << 64
    return int(np.iinfo(dtype).max)  # type: ignore[type-var]
