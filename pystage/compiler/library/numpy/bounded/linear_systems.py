"""Linear algebra of bounded matrices, on wholes padded so that the padding does not change the result.

A square matrix is padded by a part of the identity, any other by zeros. So the leading part of a result of the whole is
the result of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .....records import dataclass
from ....diagnostics.codes_types import SizeDependsOnValues
from ....hlo.ir import Value
from ....hlo.types import BOOL, FLOAT64, INT32, INT64, ArrayType
from ....ops import Compare, Iota, Maximum, Minimum, Multiply, Pad, Select
from ....values.bounded import Bounded, Extent
from ....values.lattice import Abstract, Array, Const, Tuple, Unknown
from ...context import Context, Raw
from ...kernels.arithmetic import is_nan
from ...operands.libraries import NUMPY
from ...operands.nested_sequences import nested
from ...rules.jax import is_none
from ...rules.promote import value_of
from ..indexing.bounded import compact, count, elements, first_elements, refuse, where
from ..jax_twin import twin
from ..linalg.factorisations import common_dtype, lapack, refuse_if
from .size_rules import for_bounded


@dataclass(frozen=True, slots=True)
class Matrix:
    """An array whose elements come first in `value`, with zeros beside them; `sizes` are the extents."""

    value: Value
    sizes: tuple[int | Array, ...]

    def extents(self, ctx: Context) -> list[Array]:
        """The sizes as integers of the program."""
        return [n if isinstance(n, Array) else ctx.python(ctx.constant(n, INT64)) for n in self.sizes]


def _matrix(ctx: Context, raw: Raw, name: str) -> Matrix:
    if not isinstance(raw, Bounded):
        given = nested(ctx, NUMPY, raw, f"np.linalg.{name}")
        return Matrix(given.value, given.shape)
    array = compact(ctx, raw)
    value = elements(ctx, array)
    zero = ctx.broadcast(ctx.constant(0, value.type.dtype), value.type.static_shape)
    sizes = [count(ctx, array, along) if isinstance(along, Extent) else along for along in array.axes]
    return Matrix(ctx.op(Select(), where(ctx, array), value, zero), tuple(sizes))


def _check(ctx: Context, function: Callable[..., Any], error: Exception, pairs: Any, *arrays: Matrix) -> None:
    """Makes the program raise what `function` raises for arrays of these shapes where two sizes differ."""
    ranks = [len(a.sizes) for a in arrays]

    def plain(*extents: int) -> None:
        left = list(extents)
        function(*[np.zeros([left.pop(0) for _ in range(rank)]) for rank in ranks])

    for first, second in pairs:
        if isinstance(first, int) and isinstance(second, int) and first == second:
            continue
        one, other = [n.value if isinstance(n, Array) else ctx.constant(n, INT64) for n in (first, second)]
        given = [n for a in arrays for n in a.extents(ctx)]
        ctx.check(ctx.op(Compare("NE"), one, other), error, plain, given)


def _widened(ctx: Context, value: Value, shape: Sequence[int]) -> Value:
    """A value with zeros behind its elements."""
    own = value.type.static_shape
    if own == tuple(shape):
        return value
    none = (0,) * len(own)
    high = tuple([n - have for n, have in zip(shape, own)])
    return ctx.op(Pad(none, high, none), value, ctx.constant(0, value.type.dtype))


def _square(ctx: Context, raw: Raw, name: str) -> Matrix:
    """A square matrix with a part of the identity beside it."""
    matrix = _matrix(ctx, raw, name)
    if len(matrix.sizes) != 2:
        refuse(ctx, f"np.linalg.{name} of several matrices", raw)
    error = np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    _check(ctx, np.linalg.inv, error, [matrix.sizes], matrix)
    value = ctx.convert(matrix.value, common_dtype(ctx, matrix.value.type.dtype))
    most = max(value.type.static_shape)
    shape = (most, most)
    at = [ctx.op(Iota(ArrayType(INT64, shape), axis)) for axis in (0, 1)]
    size = ctx.broadcast(matrix.extents(ctx)[0].value, shape)
    beside = ctx.op(Compare("GE"), at[0], size)
    diagonal = ctx.op(Compare("EQ"), *at)
    one = ctx.broadcast(ctx.constant(1, value.type.dtype), shape)
    zero = ctx.broadcast(ctx.constant(False, BOOL), shape)
    chosen = ctx.op(Select(), diagonal, beside, zero)
    return Matrix(ctx.op(Select(), chosen, one, _widened(ctx, value, shape)), matrix.sizes)


def _first(ctx: Context, made: Abstract, sizes: Sequence[int | Array]) -> Abstract:
    """The first elements of a result along each axis."""
    value = ctx.read(made)
    assert isinstance(value, Array)
    whole: Any = ctx.ndarray(value.value)
    found = {axis: n.value for axis, n in enumerate(sizes) if isinstance(n, Array)}
    for axis, n in enumerate(sizes):
        if isinstance(n, int) and value.shape[axis] != n:
            found[axis] = ctx.constant(n, INT64)
    return first_elements(ctx, whole, found) if found else whole


@for_bounded(np.linalg.solve)
def solve(ctx: Context, a: Raw, b: Raw) -> Abstract:
    """The `x` of `a @ x = b`."""
    matrix, right = _square(ctx, a, "solve"), _matrix(ctx, b, "solve")
    if len(right.sizes) not in (1, 2):
        refuse(ctx, "np.linalg.solve of several systems", a, b)
    error = ValueError("solve: Input operand 1 has a mismatch in its core dimension 0")
    _check(ctx, np.linalg.solve, error, [(matrix.sizes[0], right.sizes[0])], matrix, right)
    (most, _), own = matrix.value.type.static_shape, right.value.type.static_shape
    if own[0] > most:
        refuse(ctx, "np.linalg.solve", a, b)
    wide = _widened(ctx, right.value, (most, *own[1:]))
    made = ctx.call(Const(np.linalg.solve), [ctx.ndarray(matrix.value), ctx.ndarray(wide)])
    return _first(ctx, made, (matrix.sizes[0], *right.sizes[1:]))


@for_bounded(np.linalg.inv)
def inv(ctx: Context, a: Raw) -> Abstract:
    """The inverse of a square matrix."""
    matrix = _square(ctx, a, "inv")
    return _first(ctx, ctx.call(Const(np.linalg.inv), [ctx.ndarray(matrix.value)]), matrix.sizes)


@for_bounded(np.linalg.det)
def det(ctx: Context, a: Raw) -> Abstract:
    """The determinant of a square matrix."""
    return ctx.call(Const(np.linalg.det), [ctx.ndarray(_square(ctx, a, "det").value)])


@for_bounded(np.linalg.slogdet)
def slogdet(ctx: Context, a: Raw) -> Abstract:
    """The sign of the determinant, and the logarithm of its absolute value."""
    return ctx.call(Const(np.linalg.slogdet), [ctx.ndarray(_square(ctx, a, "slogdet").value)])


@for_bounded(np.linalg.cholesky)
def cholesky(ctx: Context, a: Raw, /) -> Abstract:
    """The lower triangular factor of a positive-definite matrix."""
    matrix = _square(ctx, a, "cholesky")
    return _first(ctx, ctx.call(Const(np.linalg.cholesky), [ctx.ndarray(matrix.value)]), matrix.sizes)


def _less(ctx: Context, sizes: Sequence[int | Array]) -> int | Array:
    """The minimum of two sizes."""
    first, second = sizes
    if isinstance(first, int) and isinstance(second, int):
        return min(first, second)
    values = [n.value if isinstance(n, Array) else ctx.constant(n, INT64) for n in sizes]
    return ctx.python(ctx.op(Minimum(), *values))


def _itself(a: jax.Array) -> jax.Array:
    return a


def _refuse_derivative(primals: Any, tangents: Any) -> Any:
    raise TypeError("a matrix of a computed number of columns has no derivative of its singular vectors here")


_of_bounded_columns = jax.custom_jvp(_itself)
"""The matrix itself. Columns of zeros have equal singular values, so that the vectors have no derivative."""
_of_bounded_columns.defjvp(_refuse_derivative)


def _with_columns(ctx: Context, matrix: Matrix) -> Value:
    """The whole, whose singular vectors have no derivative where the number of columns is computed."""
    known = isinstance(matrix.sizes[1], int)
    return matrix.value if known else twin(ctx, _of_bounded_columns, matrix.value)[0]


@for_bounded(np.linalg.svdvals)
def svdvals(ctx: Context, x: Raw, /) -> Abstract:
    """Singular values in descending order."""
    return svd(ctx, x, compute_uv=Const(False))


def _truth(ctx: Context, flag: Raw) -> bool:
    return bool(ctx.known(flag, "an option of np.linalg.svd"))


@for_bounded(np.linalg.svd)
def svd(
    ctx: Context, a: Raw, full_matrices: Raw = True, compute_uv: Raw = True, hermitian: Raw = False
) -> Abstract:
    """Singular values in descending order, without vectors."""
    matrix = _matrix(ctx, a, "svd")
    if len(matrix.sizes) != 2 or _truth(ctx, compute_uv) or _truth(ctx, hermitian):
        refuse(ctx, "np.linalg.svd with vectors", a)
    made = ctx.call(Const(np.linalg.svdvals), [ctx.ndarray(matrix.value)])
    return _first(ctx, made, [_less(ctx, matrix.sizes)])


@for_bounded(np.linalg.pinv)
def pinv(ctx: Context, a: Raw, rcond: Raw = None) -> Abstract:
    """The pseudo-inverse: singular values below a share of the greatest count as 0."""
    matrix = _matrix(ctx, a, "pinv")
    if len(matrix.sizes) != 2:
        refuse(ctx, "np.linalg.pinv of several matrices", a)
    share = () if is_none(rcond) else (rcond,)
    made = ctx.call(Const(np.linalg.pinv), [ctx.ndarray(_with_columns(ctx, matrix)), *share])
    return _first(ctx, made, matrix.sizes[::-1])


def _least_squares(a: jax.Array, b: jax.Array, share: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    x, _, rank, values = jnp.linalg.lstsq(a, b, rcond=share)
    return x, rank, values


def _lstsq(a: Any, b: Any) -> None:
    np.linalg.lstsq(a, b, rcond=None)


@for_bounded(np.linalg.lstsq)
def lstsq(ctx: Context, a: Raw, b: Raw, rcond: Raw = None) -> Abstract:
    """The least-squares solution, the rank of `a` and its singular values; the rank decides the number of residuals."""
    matrix, right = _matrix(ctx, a, "lstsq"), _matrix(ctx, b, "lstsq")
    if len(matrix.sizes) != 2 or len(right.sizes) not in (1, 2):
        refuse(ctx, "np.linalg.lstsq of these", a, b)
    error = np.linalg.LinAlgError("Incompatible dimensions")
    _check(ctx, _lstsq, error, [(matrix.sizes[0], right.sizes[0])], matrix, right)
    dtype = common_dtype(ctx, matrix.value.type.dtype, right.value.type.dtype)
    own, theirs = matrix.value.type.static_shape, right.value.type.static_shape
    rows = max(own[0], theirs[0])
    wide = _widened(ctx, ctx.convert(_with_columns(ctx, matrix), dtype), (rows, own[1]))
    values = _widened(ctx, ctx.convert(right.value, dtype), (rows, *theirs[1:]))
    if is_none(rcond):
        most = ctx.convert(ctx.op(Maximum(), *[n.value for n in matrix.extents(ctx)]), FLOAT64)
        share = ctx.op(Multiply(), most, ctx.constant(np.finfo(np.float64).eps, FLOAT64))
    else:
        share = ctx.convert(value_of(ctx, ctx.read(rcond), FLOAT64), FLOAT64)
    x, rank, singular = lapack(ctx, _least_squares, wide, values, share)
    refuse_if(ctx, is_nan(ctx, singular), "SVD did not converge in Linear Least Squares")
    rewrite = "compute them with `((a @ x - b) ** 2).sum(0)`"
    what = "the residuals of np.linalg.lstsq"
    residuals = Unknown(SizeDependsOnValues(span=ctx.span, what=what, rewrite=rewrite))
    solution = _first(ctx, ctx.ndarray(x), (matrix.sizes[1], *right.sizes[1:]))
    found = _first(ctx, ctx.ndarray(singular), [_less(ctx, matrix.sizes)])
    return Tuple((solution, residuals, ctx.new(ctx.convert(rank, INT32)), found))
