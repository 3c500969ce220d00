"""`np.ndindex` and `np.ndenumerate`: iteration over the indices of an array in C order, in a rolled loop.

In: a shape, or an array. Out: an iterable that computes each index from its number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....values.lattice import Abstract, Const, Mapped, Partial, Range, Tuple
from ...context import Context, Raw
from ...kernels.structures import abstract, new_turn
from ...operands.libraries import NUMPY
from ...operands.nested_sequences import nested
from ...registry import meaning
from ...rules.jax import ints


def index_at(shape: Any, number: Any) -> Any:
    """The index of an element by its number in C order."""
    found: list[Any] = []
    for extent in reversed(shape):
        found.insert(0, number % extent)
        number = number // extent
    return tuple(found)


def index_and_element(array: Any, shape: Any, number: Any) -> Any:
    """The index of an element, and the element."""
    at = index_at(shape, number)
    return at, array[at]


def _numbers(shape: tuple[int, ...]) -> Range:
    return Range(Const(0), Const(int(np.prod(shape, dtype=np.int64))), Const(1))


def _extents(shape: tuple[int, ...]) -> Tuple:
    return Tuple(tuple([Const(n) for n in shape]))


@meaning(np.ndindex)
def ndindex(ctx: Context, *shape: Raw) -> Abstract:
    """All indices in an array of this shape, as tuples of Python integers."""
    if len(shape) == 1:
        extents = ints(ctx, shape[0], "the shape of np.ndindex")
    else:
        extents = tuple([n for each in shape for n in ints(ctx, each, "the shape of np.ndindex")])
    if any(n < 0 for n in extents):
        ctx.raise_(ValueError("negative dimensions are not allowed"))
    return Mapped(Partial(Const(index_at), (_extents(extents),), ()), (_numbers(extents),), new_turn(ctx))


@meaning(np.ndenumerate)
def ndenumerate(ctx: Context, arr: Raw) -> Abstract:
    """All indices of an array, each with the element that stands there when the loop comes to it."""
    given = nested(ctx, NUMPY, arr, "np.ndenumerate")
    array = abstract(arr) if ctx.is_ndarray(arr) else NUMPY.array(ctx, given.value)
    function = Partial(Const(index_and_element), (array, _extents(given.shape)), ())
    return Mapped(function, (_numbers(given.shape),), new_turn(ctx))
