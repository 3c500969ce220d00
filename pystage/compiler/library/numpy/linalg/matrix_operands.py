"""Operands of linear algebra: matrices, of which the program may compute the sizes.

In: an argument. Out: `Matrices`, whose elements come first in `value`. A square matrix of computed size is padded by a part
of the identity, any other by zeros, so that the first elements (`first`) of what a routine makes of `value` are the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .....records import dataclass
from ....hlo.ir import Value
from ....hlo.types import BFLOAT16, BOOL, FLOAT16, FLOAT64, INT64, ArrayType, DType, is_complex, is_floating
from ....ops import Compare, Iota, Pad, Select
from ....values.bounded import Bounded, Extent
from ....values.lattice import Abstract, Array
from ...context import Context, Raw
from ...operands.libraries import NUMPY
from ...operands.nested_sequences import nested
from ..indexing.bounded import compact, count, elements, first_elements, refuse, where
from .array_api import check_square

Size = int | Array


@dataclass(frozen=True, slots=True)
class Matrices:
    """An array whose elements come first in `value`; `sizes` are its extents, known or computed."""

    value: Value
    sizes: tuple[Size, ...]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.sizes)

    @property
    def is_bounded(self) -> bool:
        """True if the program computes a size."""
        return not all(isinstance(n, int) for n in self.sizes)


def integer_of(ctx: Context, size: Size) -> Array:
    """A size as an integer of the program."""
    return size if isinstance(size, Array) else ctx.python(ctx.constant(size, INT64))


def common_dtype(ctx: Context, *dtypes: DType) -> DType:
    """The element type of the result for operands of these types."""
    for dtype in dtypes:
        if dtype in (FLOAT16, BFLOAT16):
            ctx.raise_(TypeError(f"array type {dtype} is unsupported in linalg"))
    wide = [d if is_floating(d) or is_complex(d) else FLOAT64 for d in dtypes]
    common: DType = np.result_type(*wide)
    return common


def operand(ctx: Context, raw: Raw, name: str) -> Matrices:
    """An argument of any rank, with zeros beside elements of computed number."""
    if not isinstance(raw, Bounded):
        given = nested(ctx, NUMPY, raw, f"np.linalg.{name}")
        return Matrices(given.value, given.shape)
    if raw.rank > 2:
        refuse(ctx, f"np.linalg.{name} of several matrices", raw)
    array = compact(ctx, raw)
    value = elements(ctx, array)
    zero = ctx.broadcast(ctx.constant(0, value.type.dtype), value.type.shape)
    sizes = [count(ctx, array, along) if isinstance(along, Extent) else along for along in array.axes]
    return Matrices(ctx.op(Select(), where(ctx, array), value, zero), tuple(sizes))


def matrices(ctx: Context, raw: Raw, name: str, square: bool = False) -> Matrices:
    """An argument as matrices of the result's type; LinAlgError for other ranks and shapes."""
    given = operand(ctx, raw, name)
    if square and not given.is_bounded:
        check_square(ctx, given.value.type.shape)
    if given.rank < 2:
        text = f"{given.rank}-dimensional array given. Array must be at least two-dimensional"
        ctx.raise_(np.linalg.LinAlgError(text))
    value = ctx.convert(given.value, common_dtype(ctx, given.value.type.dtype))
    made = Matrices(value, given.sizes)
    return _beside_identity(ctx, made) if square and given.is_bounded else made


def _beside_identity(ctx: Context, matrix: Matrices) -> Matrices:
    """A matrix with a part of the identity beside it; the program raises where it is not square."""
    error = np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    rows, columns = matrix.sizes
    check_equal(ctx, rows, columns, error, np.linalg.inv, matrix)
    most = max(matrix.value.type.shape)
    shape = (most, most)
    at = [ctx.op(Iota(ArrayType(INT64, shape), axis)) for axis in (0, 1)]
    beside = ctx.op(Compare("GE"), at[0], ctx.broadcast(integer_of(ctx, rows).value, shape))
    one = ctx.broadcast(ctx.constant(1, matrix.value.type.dtype), shape)
    none = ctx.broadcast(ctx.constant(False, BOOL), shape)
    chosen = ctx.op(Select(), ctx.op(Compare("EQ"), *at), beside, none)
    return Matrices(ctx.op(Select(), chosen, one, fitted(ctx, matrix.value, shape)), matrix.sizes)


def known_matrices(ctx: Context, raw: Raw, name: str, square: bool = False) -> Value:
    """The same for routines that need to know the sizes."""
    if isinstance(raw, Bounded):
        refuse(ctx, f"np.linalg.{name}", raw)
    return matrices(ctx, raw, name, square).value


def check_equal(
    ctx: Context, one: Size, other: Size, error: Exception, function: Callable[..., Any], *arrays: Matrices
) -> None:
    """Raises `error` where two sizes differ; computed ones make the program raise what `function` raises of the arrays."""
    if isinstance(one, int) and isinstance(other, int):
        if one != other:
            ctx.raise_(error)
        return
    ranks = [a.rank for a in arrays]

    def plain(*extents: int) -> None:
        left = list(extents)
        function(*[np.zeros([left.pop(0) for _ in range(rank)]) for rank in ranks])

    unequal = ctx.op(Compare("NE"), integer_of(ctx, one).value, integer_of(ctx, other).value)
    ctx.check(unequal, error, plain, [integer_of(ctx, n) for a in arrays for n in a.sizes])


def fitted(ctx: Context, value: Value, shape: Sequence[int]) -> Value:
    """The first elements of a value along each axis, with zeros behind them where it has fewer."""
    own = value.type.shape
    if own == tuple(shape):
        return value
    none = (0,) * len(own)
    high = tuple([n - have for n, have in zip(shape, own)])
    return ctx.op(Pad(none, high, none), value, ctx.constant(0, value.type.dtype))


def first(ctx: Context, value: Value, sizes: Sequence[Size]) -> Abstract:
    """The first elements of a result along each axis, an ndarray."""
    known = [n if isinstance(n, int) else have for n, have in zip(sizes, value.type.shape)]
    whole: Any = ctx.ndarray(fitted(ctx, value, known))
    found = {axis: n.value for axis, n in enumerate(sizes) if isinstance(n, Array)}
    return first_elements(ctx, whole, found) if found else whole
