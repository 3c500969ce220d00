"""NumPy's `searchsorted`, `digitize` and `bincount`.

A binary search runs for all needles at once: its size grows with the logarithm of the number of sorted elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from ... import limits, ops
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import BOOL, FLOAT64, INT32, INT64, is_complex, is_floating, is_integer
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent
from ...values.lattice import Abstract, Array
from ..context import Context, Raw
from ..jax.traced_calls import jax_call
from ..kernels.arithmetic import any_of
from ..kernels.number_checks import refuse as refuse_number
from ..kernels.python_implementations import composed
from ..kernels.structures import lift
from ..operands.bounded_arguments import compact_argument, placed_argument, size_along, value_of_size
from ..operands.libraries import Rules, twins
from ..operands.nested_sequences import array_argument
from ..rules.jax import integer, is_none
from .indexing.bounded import first_elements, same_number, where_of
from .indexing.bounded_operands import placed, result_with
from .indexing.computed_shapes import bound_of
from .indexing.stores import cast, known_array
from .subscripts.subscripts import array_getitem


def _precedes(ctx: Context, x: Value, y: Value) -> Value:
    """Where `x` sorts before `y`: less, or a number where `y` is NaN; complex numbers as NumPy sorts them."""
    if is_complex(x.type.dtype):
        return _precedes_complex(ctx, x, y)
    less = ctx.op(ops.Compare("LT"), x, y)
    if not is_floating(x.type.dtype):
        return less
    last = ctx.op(ops.And(), ctx.op(ops.Compare("EQ"), x, x), ctx.op(ops.Compare("NE"), y, y))
    return ctx.op(ops.Or(), less, last)


def _precedes_complex(ctx: Context, x: Value, y: Value) -> Value:
    """By whether the real and the imaginary part are NaN, then by the real part, then by the imaginary part."""
    parts = [[ctx.op(kind, value) for kind in (ops.Real(), ops.Imag())] for value in (x, y)]
    keys = [[ctx.op(ops.Compare("NE"), part, part) for part in each] + each for each in parts]
    before: Value | None = None
    for left, right in reversed(list(zip(*keys, strict=True))):
        less = ctx.op(ops.Compare("LT"), left, right)
        if before is not None:
            level = ctx.op(ops.And(), ctx.op(ops.Not(), ctx.op(ops.Compare("GT"), left, right)), before)
            less = ctx.op(ops.Or(), less, level)
        before = less
    assert before is not None
    return before


def _at(ctx: Context, values: Value, positions: Value) -> Value:
    """The elements of a vector at computed indices; those out of bounds are clamped."""
    kind = ops.Gather((), (0,), (0,), positions.type.rank, (1,))
    return ctx.op(kind, values, positions)


def _bisect(
    ctx: Context,
    values: Value,
    needles: Value,
    side: str,
    count: int | Value,
    sorter: Value | None = None,
) -> tuple[Value, Value]:
    """Bisection in the first `count` of `values[sorter]`; and whether `sorter` (int64) contained an index out of range.

    It probes the places that NumPy probes, whose answer for values that are not in order depends on them.
    """
    (size,) = values.type.shape
    shape = needles.type.shape
    end = ctx.broadcast(value_of_size(ctx, count), shape)

    def number(n: int) -> Value:
        return ctx.broadcast(ctx.constant(n, INT64), shape)

    low, high = number(0), end
    outside = ctx.broadcast(ctx.constant(False, BOOL), shape)
    for _ in range(size.bit_length()):
        middle = ctx.op(ops.ShiftRightLogical(), ctx.op(ops.Add(), low, high), number(1))
        place = middle if sorter is None else _at(ctx, sorter, middle)
        element = _at(ctx, values, place)
        ahead = _precedes(ctx, element, needles) if side == "left" else _not_after(ctx, element, needles)
        is_open = ctx.op(ops.Compare("LT"), low, high)
        if sorter is not None:
            beyond = [ctx.op(ops.Compare("LT"), place, number(0)), ctx.op(ops.Compare("GE"), place, end)]
            outside = ctx.op(ops.Or(), outside, ctx.op(ops.And(), is_open, ctx.op(ops.Or(), *beyond)))
        ahead = ctx.op(ops.And(), is_open, ahead)
        high = ctx.op(ops.Select(), ctx.op(ops.Or(), ahead, ctx.op(ops.Not(), is_open)), high, middle)
        low = ctx.op(ops.Select(), ahead, ctx.op(ops.Add(), middle, number(1)), low)
    return low, outside


def _not_after(ctx: Context, x: Value, y: Value) -> Value:
    return ctx.op(ops.Not(), _precedes(ctx, y, x))


def refuse_rank(ctx: Context, rank: int) -> NoReturn:
    """Raises NumPy's ValueError for an array that is not a vector."""
    ctx.raise_(ValueError(f"object {'too deep' if rank else 'of too small depth'} for desired array"))


@twins(np.searchsorted, None)
def searchsorted(
    ctx: Context, rules: Rules, a: Raw, v: Raw, side: Raw = "left", sorter: Raw = None
) -> Abstract:
    """Where each element of `v` would be inserted into the ascending `a`."""
    which = ctx.known(side, "side of searchsorted")
    if which not in ("left", "right"):
        ctx.raise_(ValueError(f"search side must be 'left' or 'right' (got {which!r})"))
    if rules.is_jax and not any(isinstance(x, Bounded) for x in (a, v, sorter)):
        return jax_call(ctx, jnp.searchsorted, [a, v], {"side": side, "sorter": sorter})
    if rules.is_jax and not is_none(sorter):  # which takes the nearest index inside
        a, sorter = array_getitem(ctx, a, sorter), None
    given, sought = (
        compact_argument(ctx, rules, a, "searchsorted"),
        placed_argument(ctx, rules, v, "searchsorted"),
    )
    if given.rank != 1:
        refuse_rank(ctx, given.rank)
    (values, needles), _ = rules.common(ctx, [given, sought])
    count, order = size_along(ctx, given, 0), None
    if not is_none(sorter):
        listed = compact_argument(ctx, rules, sorter, "searchsorted")
        if listed.dtype.kind not in "iu":
            ctx.raise_(TypeError("sorter must only contain integers"))
        order = ctx.convert(listed.value, INT64)
        check_same_size(
            ctx,
            count,
            size_along(ctx, listed, 0) if listed.rank == 1 else -1,
            "sorter.size must equal len(array)",
        )
    found, outside = _bisect(ctx, values, needles, which, count, order)
    if order is not None:
        ctx.check(any_of(ctx, outside), ValueError(_NO_SORTER), _refuse, [_NO_SORTER])
    return result_with(
        ctx, rules.result(ctx, ctx.convert(found, INT32 if rules.is_jax else INT64)), sought.axes
    )


def check_same_size(ctx: Context, one: int | Value, other: int | Value, text: str) -> None:
    """Makes the program raise ValueError where two sizes differ."""
    if isinstance(one, int) and isinstance(other, int):
        if one != other:
            ctx.raise_(ValueError(text))
    elif not same_number(ctx, *[value_of_size(ctx, n) for n in (one, other)]):
        unequal = ctx.op(ops.Compare("NE"), *[value_of_size(ctx, n) for n in (one, other)])
        ctx.check(unequal, ValueError(text), _refuse, [text])


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
    operands: Sequence[Raw] = [x] if is_none(weights) else [x, weights]
    extents: list[Extent] = []
    if any(isinstance(each, Bounded) for each in operands):
        operands, extents = placed(ctx, "np.bincount", _sized, operands)
    given = array_argument(ctx, rules, operands[0], "bincount")
    if given.rank != 1:
        refuse_rank(ctx, given.rank)
    if given.dtype.kind not in "biu" and not ctx.is_ndarray(operands[0]):  # NumPy converts lists as it likes
        given = given.of(cast(ctx, given.value, INT64))
    elif given.dtype.kind not in "biu":
        ctx.raise_(
            TypeError(
                f"Cannot cast array data from {given.dtype!r} to dtype('int64') according to the rule 'safe'"
            )
        )
    inside = where_of(ctx, given.shape, [e.moved(1) for e in extents]) if extents else None
    least = least_length(ctx, minlength)
    known = None if extents else known_array(given.value)
    if known is not None and isinstance(least, int) and is_none(weights):
        try:
            return lift(ctx, np.bincount(known, minlength=least))
        except ValueError as error:
            ctx.raise_(error)
    if is_none(weights) or given.shape == (0,):
        parts = ctx.broadcast(ctx.constant(1, INT64), given.shape)
    else:
        heavy = array_argument(ctx, rules, operands[1], "bincount")
        if heavy.rank != 1:
            refuse_rank(ctx, heavy.rank)
        if heavy.shape != given.shape:
            ctx.raise_(ValueError("The weights and list don't have the same length."))
        if is_complex(heavy.dtype):
            what = f"from {heavy.dtype!r} to dtype('float64')"
            ctx.raise_(TypeError(f"Cannot cast array data {what} according to the rule 'safe'"))
        parts = ctx.convert(heavy.value, FLOAT64)
        if inside is not None:
            reason = NotKnown(
                span=ctx.span, what="the element type of np.bincount of no elements with weights"
            )
            none = ctx.op(ops.Not(), any_of(ctx, inside))
            ctx.check(none, StagingError(()), refuse_number, [lambda: reason])
    return occurrences(ctx, given.value, parts, least, inside)


def _sized(x: Any, weights: Any = None) -> None:
    np.bincount(np.zeros(x.shape, int), weights)


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
        negative = ctx.op(ops.Compare("LT"), value, ctx.constant(0, INT64))
        ctx.check(negative, ValueError("'minlength' must not be negative"), _refuse_minlength, [])
    return ctx.python(value, (max(low, 0), max(high, 0)))


def occurrences(
    ctx: Context, numbers: Value, parts: Value, least: int | Array, inside: Value | None = None
) -> Abstract:
    """The sum of the weights of each number, for at least `least` numbers; of those only that are `inside`.

    There is one more than the greatest number, which only the run may know.
    """
    lowest, most = ctx.range_of(least) if isinstance(least, Array) else (least, least)
    shape = numbers.type.shape
    low, high = ctx.range_of(Array(numbers, Form.NDARRAY))
    at = ctx.convert(numbers, INT64)
    none = ctx.constant(-1, INT64)
    if inside is not None:
        at = ctx.op(ops.Select(), inside, at, ctx.broadcast(none, shape))
    known = known_array(at)
    size = least
    if known is not None and isinstance(least, int):
        size = max(least, int(known.max(initial=-1)) + 1)
    if low < 0 or high >= 1 << 63:  # which the cast of uint64 wraps around
        error = ValueError("'list' argument must have no negative elements")
        zeros = ctx.broadcast(ctx.constant(0, INT64), shape)
        given = at if inside is None else ctx.op(ops.Select(), inside, at, zeros)
        negative = ctx.op(ops.Compare("LT"), given, zeros)
        some = ctx.op(ops.Reduce(ops.Or(), (0,)), negative, ctx.constant(False, BOOL))
        ctx.check(some, error, _refuse_negative, [])
    if isinstance(size, Array) or (known is None and high >= size and _greatest(numbers.type.dtype) >= size):
        last = ctx.op(ops.Reduce(ops.Maximum(), (0,)), at, none)
        if high >= _TOO_LONG:
            beyond = ctx.op(ops.Compare("GE"), last, ctx.constant(_TOO_LONG, INT64))
            ctx.check(beyond, ValueError(_TOO_BIG), _refuse_size, [])
        shortest = least.value if isinstance(least, Array) else ctx.constant(least, INT64)
        needed = ctx.op(ops.Maximum(), ctx.op(ops.Add(), last, ctx.constant(1, INT64)), shortest)
        size = ctx.python(needed, (lowest, max(high + 1, most)))
    expected = min(max(shape[0], most), limits.EXPECTED_BINS)
    bound = size if isinstance(size, int) else bound_of(ctx, size, "np.bincount", int(expected))
    empty = ctx.broadcast(ctx.constant(0, parts.type.dtype), (bound,))
    outside = ctx.broadcast(ctx.constant(bound, INT64), shape)
    if inside is not None:
        at = ctx.op(ops.Select(), inside, at, outside)
    made = ctx.ndarray(ctx.op(ops.Scatter(ops.Add(), (), (0,), (0,), 1), empty, at, parts))
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
