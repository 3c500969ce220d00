"""`np.linalg`: systems, inverses, determinants, factorisations and spectra of matrices.

In: matrices `(…, m, n)` of any real or complex type; integers and booleans convert to float64. Out: arrays of NumPy's
element types, in its named tuples. As in NumPy all is computed in double precision, and results are rounded where the
operands are of single precision (`_commonType` in `numpy/linalg/_linalg.py`). Cholesky is an HLO operation; the rest are
LAPACK routines through JAX, as NumPy's are. A matrix that is singular or not positive-definite raises LinAlgError in the
program: a zero pivot marks it as singular.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .....autocasting import autocast
from ....diagnostics.codes_calls import WrongArguments
from ....diagnostics.codes_types import ArgumentNotStaged, SizeDependsOnValues
from ....hlo.ir import Value
from ....hlo.types import (
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    DType,
    is_complex,
    is_floating,
)
from ....ops import And, Cholesky, Imag, IsFinite, Maximum, Minimum, Multiply, Not, Real
from ....values.lattice import Abstract, Array, Const, Tuple, Unknown
from ....values.views import Window
from ...context import Context, Raw
from ...kernels.arithmetic import any_of, is_nan
from ...kernels.python_implementations import composed, run_program
from ...operands.libraries import NUMPY
from ...registry import meaning
from ...rules.jax import is_none
from ...rules.promote import value_of
from ..indexing.bounded import refuse
from ..jax_twin import twin
from .matrix_operands import (
    Matrices,
    Size,
    check_equal,
    common_dtype,
    first,
    fitted,
    integer_of,
    known_matrices,
    matrices,
    operand,
)

_ONE = np.eye(1)
_SLOGDET, _EIGH, _EIG = type(np.linalg.slogdet(_ONE)), type(np.linalg.eigh(_ONE)), type(np.linalg.eig(_ONE))
_SVD, _QR = type(np.linalg.svd(_ONE)), type(np.linalg.qr(_ONE))


def widened(ctx: Context, value: Value) -> Value:
    """Matrices in double precision, in which NumPy computes."""
    return ctx.convert(value, np.promote_types(value.type.dtype, FLOAT64))


def rounded(ctx: Context, value: Value, dtype: DType) -> Value:
    """A result in the precision of operands of type `dtype`; integers and booleans as they are."""
    if not is_floating(value.type.dtype) and not is_complex(value.type.dtype):
        return value
    single = np.finfo(dtype).dtype == FLOAT32  # type: ignore[type-var]
    return ctx.convert(value, _SINGLE[value.type.dtype]) if single else value


_SINGLE: dict[DType, DType] = {FLOAT64: FLOAT32, COMPLEX128: COMPLEX64}


def lapack(ctx: Context, /, function: Callable[..., Any], *matrices: Value, **options: Any) -> list[Value]:
    """The results of a JAX function on matrices of one element type, as NumPy gives them: `widened`, then `rounded`."""
    made = twin(ctx, function, *[widened(ctx, m) for m in matrices], **options)
    return [rounded(ctx, v, matrices[0].type.dtype) for v in made]


def _named(ctx: Context, cls: type, values: list[Value]) -> Tuple:
    """Results in one of NumPy's named tuples."""
    return Tuple(tuple([ctx.new(v) for v in values]), cls)


def _refuse(text: str) -> None:
    raise np.linalg.LinAlgError(text)


def refuse_if(ctx: Context, flags: Value, text: str) -> None:
    """Makes the program raise LinAlgError here if any of the flags is true."""
    ctx.check(any_of(ctx, flags), np.linalg.LinAlgError(text), _refuse, [text])


def _converged(ctx: Context, values: Value, text: str) -> None:
    """Singular values; those that did not converge are NaN."""
    refuse_if(ctx, is_nan(ctx, values), text)


def require_positive(ctx: Context, matrices: Value, factors: Value, text: str) -> None:
    """LinAlgError in the program where Cholesky's factor does not exist: it is NaN then, its first element too.

    A matrix whose own first element is NaN has a factor for LAPACK, and NumPy.
    """
    *batch, size, _ = factors.type.shape
    if not size:
        return
    first = [
        Window((0,) * (len(batch) + 2), (*batch, 1, 1)).read(ctx.b, each) for each in (factors, matrices)
    ]
    if is_complex(factors.type.dtype):
        first = [ctx.op(Real(), each) for each in first]
    failed, unknown = [is_nan(ctx, each) for each in first]
    refuse_if(ctx, ctx.op(And(), failed, ctx.op(Not(), unknown)), text)


def _is_singular(a: jax.Array) -> jax.Array:
    """Whether elimination finds a pivot that is zero; XLA shares the elimination with that of the solution."""
    factors = jax.lax.linalg.lu(jax.lax.stop_gradient(a))[0]
    return jnp.any(jnp.diagonal(factors, axis1=-2, axis2=-1) == 0)


def _solved(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jnp.linalg.solve(a, b), _is_singular(a)


def _inverse(a: jax.Array) -> tuple[jax.Array, jax.Array]:
    return jnp.linalg.inv(a), _is_singular(a)


_SINGULAR = "Singular matrix"


# ---------------------------------------------------------------- systems


@meaning(np.linalg.solve)
def solve(ctx: Context, a: Raw, b: Raw) -> Abstract:
    """The `x` of `a @ x = b`; `b` is one vector if it has one axis, else matrices."""
    left, right = matrices(ctx, a, "solve", square=True), operand(ctx, b, "solve")
    dtype = common_dtype(ctx, left.value.type.dtype, right.value.type.dtype)
    vector = right.rank == 1
    kind, core = ("solve1", "(m,m),(m)->(m)") if vector else ("solve", "(m,m),(m,n)->(m,n)")
    rows = right.sizes[-1 if vector else -2] if right.rank else 0
    text = f"{kind}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {core}"
    error = ValueError(f"{text} (size {rows} is different from {left.sizes[-1]})")
    check_equal(ctx, left.sizes[-1], rows, error, np.linalg.solve, left, right)
    own, other = left.value.type.shape[:-2], () if vector else right.value.type.shape[:-2]
    try:
        batch = np.broadcast_shapes(own, other)
    except ValueError as error:
        ctx.raise_(error)
    count = left.value.type.shape[-1]
    columns = 1 if vector else right.value.type.shape[-1]
    factors = ctx.broadcast(ctx.convert(left.value, dtype), (*batch, count, count))
    values = fitted(ctx, right.value, (*other, count) if vector else (*other, count, columns))
    values = ctx.reshape(ctx.convert(values, dtype), (*other, count, columns))
    x, singular = lapack(ctx, _solved, factors, ctx.broadcast(values, (*batch, count, columns)))
    refuse_if(ctx, singular, _SINGULAR)
    x = ctx.reshape(x, (*batch, count)) if vector else x
    return first(ctx, x, (*batch, *(right.sizes if vector else right.sizes[-2:])))


@meaning(np.linalg.inv)
def inv(ctx: Context, a: Raw) -> Abstract:
    """The inverse of square matrices."""
    given = matrices(ctx, a, "inv", square=True)
    inverse, singular = lapack(ctx, _inverse, given.value)
    refuse_if(ctx, singular, _SINGULAR)
    return first(ctx, inverse, given.sizes)


@meaning(np.linalg.det)
def det(ctx: Context, a: Raw) -> Abstract:
    """The determinant of square matrices."""
    return ctx.new(*lapack(ctx, jnp.linalg.det, matrices(ctx, a, "det", square=True).value))


@meaning(np.linalg.slogdet)
def slogdet(ctx: Context, a: Raw) -> Abstract:
    """The sign of the determinant, and the logarithm of its absolute value."""
    given = matrices(ctx, a, "slogdet", square=True)
    return _named(ctx, _SLOGDET, lapack(ctx, jnp.linalg.slogdet, given.value))


def _itself(a: jax.Array) -> jax.Array:
    return a


def _refuse_derivative(primals: Any, tangents: Any) -> Any:
    raise TypeError("a matrix of a computed number of columns has no derivative of its singular vectors here")


_of_bounded_columns = jax.custom_jvp(_itself)
"""The matrix itself. Columns of zeros have equal singular values, so that the vectors have no derivative."""
_of_bounded_columns.defjvp(_refuse_derivative)


def _with_columns(ctx: Context, matrix: Matrices) -> Value:
    """The value, whose singular vectors have no derivative where the number of columns is computed."""
    known = isinstance(matrix.sizes[-1], int)
    return matrix.value if known else twin(ctx, _of_bounded_columns, matrix.value)[0]


def _least_squares(a: jax.Array, b: jax.Array, share: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    x, _, rank, values = jnp.linalg.lstsq(a, b, rcond=share)
    return x, rank, values.real  # of no equations JAX gives them the type of the matrix


def _lstsq(a: Any, b: Any) -> None:
    np.linalg.lstsq(a, b, rcond=None)


@meaning(np.linalg.lstsq)
def lstsq(ctx: Context, a: Raw, b: Raw, rcond: Raw = None) -> Abstract:
    """The least-squares solution, the residuals, the rank of `a` and its singular values.

    There are residuals only where the rank, which the values decide, is that of the columns: with more rows
    than columns, staged code cannot read them.
    """
    matrix, right = matrices(ctx, a, "lstsq"), operand(ctx, b, "lstsq")
    if matrix.rank != 2:
        text = f"{matrix.rank}-dimensional array given. Array must be two-dimensional"
        ctx.raise_(np.linalg.LinAlgError(text))
    rows, columns = matrix.sizes
    incompatible = np.linalg.LinAlgError("Incompatible dimensions")
    if right.rank not in (1, 2):
        ctx.raise_(incompatible)
    check_equal(ctx, rows, right.sizes[0], incompatible, _lstsq, matrix, right)
    dtype = common_dtype(ctx, matrix.value.type.dtype, right.value.type.dtype)
    (most, width), others = matrix.value.type.shape, right.value.type.shape
    left = fitted(ctx, ctx.convert(_with_columns(ctx, matrix), dtype), (max(most, others[0]), width))
    values = fitted(ctx, ctx.convert(right.value, dtype), (max(most, others[0]), *others[1:]))
    if is_none(rcond):
        longest = ctx.convert(ctx.op(Maximum(), *[integer_of(ctx, n).value for n in matrix.sizes]), FLOAT64)
        share = ctx.op(Multiply(), longest, ctx.constant(np.finfo(np.float64).eps, FLOAT64))
    else:
        share = ctx.convert(value_of(ctx, ctx.read(rcond), FLOAT64), FLOAT64)
    x, rank, singular = lapack(ctx, _least_squares, left, values, share)
    residuals: Abstract
    if isinstance(rows, int) and isinstance(columns, int) and rows <= columns:
        empty = np.zeros(0, np.finfo(dtype).dtype)  # type: ignore[type-var]
        residuals = ctx.ndarray(ctx.constant(empty, empty.dtype))
    else:
        rewrite = "compute them with `((a @ x - b) ** 2).sum(0)`"
        why = SizeDependsOnValues(span=ctx.span, what="the residuals of np.linalg.lstsq", rewrite=rewrite)
        residuals = Unknown(why)
    _converged(ctx, singular, "SVD did not converge in Linear Least Squares")
    solution = first(ctx, x, (columns, *right.sizes[1:]))
    number = ctx.new(ctx.convert(rank, INT32))
    return Tuple((solution, residuals, number, first(ctx, singular, [_least(ctx, matrix.sizes)])))


def _least(ctx: Context, sizes: Sequence[Size]) -> Size:
    """The minimum of two sizes."""
    one, other = sizes
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return ctx.python(ctx.op(Minimum(), *[integer_of(ctx, n).value for n in sizes]))


# ---------------------------------------------------------------- factors


@meaning(np.linalg.cholesky)
def cholesky(ctx: Context, a: Raw, /, *, upper: Raw = False) -> Abstract:
    """The triangular factor of positive-definite matrices."""
    lower = not ctx.known(upper, "upper of np.linalg.cholesky")
    given = matrices(ctx, a, "cholesky", square=True)
    wide = widened(ctx, given.value)
    factor = ctx.op(Cholesky(lower), wide)
    require_positive(ctx, wide, factor, "Matrix is not positive definite")
    return first(ctx, rounded(ctx, factor, given.value.type.dtype), given.sizes)


@meaning(np.linalg.qr)
def qr(ctx: Context, a: Raw, mode: Raw = "reduced") -> Abstract:
    """Orthonormal columns and a triangular factor, or that alone with the mode `r`."""
    which = ctx.known(mode, "the mode of np.linalg.qr")
    if which not in ("reduced", "complete", "r"):
        if which in ("raw", "f", "full", "e", "economic"):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.linalg.qr", argument=f"mode {which!r}"))
        ctx.raise_(ValueError(f"Unrecognized mode '{which}'"))
    made = lapack(ctx, jnp.linalg.qr, known_matrices(ctx, a, "qr"), mode=which)
    return ctx.ndarray(made[0]) if which == "r" else _named(ctx, _QR, made)


def _of_spectrum(a: Any) -> Any:
    w, u = np.linalg.eigh(a)
    order = np.argsort(np.abs(w))[..., ::-1]
    w = np.take_along_axis(w, order, axis=-1)
    u = np.take_along_axis(u, order[..., None, :], axis=-1)
    vh = np.conj(np.swapaxes(u * np.copysign(1.0, w)[..., None, :], -1, -2))
    return u, np.abs(w), vh


def _sizes_of_spectrum(a: Any) -> Any:
    return np.sort(np.abs(np.linalg.eigvalsh(a)))[..., ::-1]


@meaning(np.linalg.svd)
def svd(
    ctx: Context, a: Raw, full_matrices: Raw = True, compute_uv: Raw = True, hermitian: Raw = False
) -> Abstract:
    """Singular values in descending order, with the vectors that belong to them."""
    if ctx.known(hermitian, "hermitian of np.linalg.svd"):
        vectors = bool(ctx.known(compute_uv, "compute_uv of np.linalg.svd"))
        found = run_program(ctx, _of_spectrum if vectors else _sizes_of_spectrum, [a])
        return Tuple(found.items, _SVD) if isinstance(found, Tuple) else found
    options = {
        "full_matrices": bool(ctx.known(full_matrices, "full_matrices of np.linalg.svd")),
        "compute_uv": bool(ctx.known(compute_uv, "compute_uv of np.linalg.svd")),
    }
    given = matrices(ctx, a, "svd")
    if options["compute_uv"] and given.is_bounded:
        refuse(ctx, "np.linalg.svd with vectors", a)
    made = lapack(ctx, jnp.linalg.svd, given.value, **options)
    _converged(ctx, made[1] if options["compute_uv"] else made[0], "SVD did not converge")
    if options["compute_uv"]:
        return _named(ctx, _SVD, made)
    return first(ctx, made[0], (*given.sizes[:-2], _least(ctx, given.sizes[-2:])))


@meaning(np.linalg.svdvals)
def svdvals(ctx: Context, x: Raw, /) -> Abstract:
    """Singular values in descending order."""
    return svd(ctx, x, compute_uv=False)


# ---------------------------------------------------------------- spectra


def _symmetric(ctx: Context, function: Callable[..., Any], a: Raw, uplo: Raw, name: str) -> list[Value]:
    """A spectrum that is computed of one triangle."""
    which = str(ctx.known(uplo, f"UPLO of np.linalg.{name}")).upper()
    if which not in ("L", "U"):
        ctx.raise_(ValueError("UPLO argument must be 'L' or 'U'"))
    matrices = known_matrices(ctx, a, name, square=True)
    return lapack(ctx, function, matrices, UPLO=which, symmetrize_input=False)


@meaning(np.linalg.eigh)
def eigh(ctx: Context, a: Raw, UPLO: Raw = "L") -> Abstract:
    """Ascending eigenvalues and the eigenvectors of Hermitian matrices, of which one triangle is read."""
    return _named(ctx, _EIGH, _symmetric(ctx, jnp.linalg.eigh, a, UPLO, "eigh"))


@meaning(np.linalg.eigvalsh)
def eigvalsh(ctx: Context, a: Raw, UPLO: Raw = "L") -> Abstract:
    """Ascending eigenvalues of Hermitian matrices, of which one triangle is read."""
    return ctx.ndarray(_symmetric(ctx, jnp.linalg.eigh, a, UPLO, "eigvalsh")[0])


def _general(ctx: Context, function: Callable[..., Any], a: Raw, name: str) -> list[Value]:
    """A spectrum of complex matrices; that of real ones is real or complex, depending on the values."""
    matrices = known_matrices(ctx, a, name, square=True)
    if not is_complex(matrices.type.dtype):
        why = "of a real matrix it is real or complex, which the values decide"
        instead = f"convert the matrix to complex first: `np.linalg.{name}(a.astype(complex))`"
        ctx.fail(WrongArguments(span=ctx.span, name=f"np.linalg.{name}", why=why, instead=instead))
    for part in (Real(), Imag()):
        infinite = ctx.op(Not(), ctx.op(IsFinite(), ctx.op(part, matrices)))
        refuse_if(ctx, infinite, "Array must not contain infs or NaNs")
    return lapack(ctx, function, matrices)


@meaning(np.linalg.eig)
def eig(ctx: Context, a: Raw) -> Abstract:
    """Eigenvalues and eigenvectors of complex matrices."""
    return _named(ctx, _EIG, _general(ctx, jnp.linalg.eig, a, "eig"))


@meaning(np.linalg.eigvals)
def eigvals(ctx: Context, a: Raw) -> Abstract:
    """Eigenvalues of complex matrices."""
    return ctx.ndarray(_general(ctx, jnp.linalg.eigvals, a, "eigvals")[0])


# ---------------------------------------------------------------- programs over these


@meaning(np.linalg.pinv)
def pinv(
    ctx: Context, a: Raw, rcond: Raw = None, hermitian: Raw = False, *, rtol: Raw = np._NoValue
) -> Abstract:
    """The pseudo-inverse: singular values below a share of the greatest count as 0."""
    given = matrices(ctx, a, "pinv")
    if given.is_bounded and ctx.known(hermitian, "hermitian of np.linalg.pinv"):
        refuse(ctx, "np.linalg.pinv of a Hermitian matrix", a)
    sizes = [n if isinstance(n, Array) else Const(n) for n in given.sizes[-2:]]
    made = run_program(ctx, _pinv, [ctx.ndarray(_with_columns(ctx, given)), *sizes, rcond, hermitian, rtol])
    value = NUMPY.operand(ctx, made, "pinv").value
    return first(ctx, value, (*given.sizes[:-2], given.sizes[-1], given.sizes[-2]))


def _pinv(matrices: Any, rows: Any, columns: Any, rcond: Any, hermitian: Any, rtol: Any) -> Any:
    if rcond is not None and rtol is not np._NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    share = rcond
    if rcond is None:
        share = 1e-15 if rtol is np._NoValue else rtol
    u, values, vh = np.linalg.svd(np.conj(matrices), full_matrices=False, hermitian=hermitian)
    if share is None:
        share = max(rows, columns) * np.finfo(values.dtype).eps
    limit = np.asarray(share)[..., None] * np.max(values, axis=-1, keepdims=True, initial=0)
    kept = values > limit
    shares = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(values.dtype)
    with autocast(None):
        return np.matmul(np.swapaxes(vh, -1, -2), shares[..., None] * np.swapaxes(u, -1, -2))


def _inverse_or_nan(a: Any) -> Any:
    return np.linalg.inv(a)


@meaning(_inverse_or_nan)
def inverse_or_nan(ctx: Context, a: Raw) -> Abstract:
    """The inverse in double precision, NaN where a matrix has none."""
    return ctx.ndarray(*twin(ctx, jnp.linalg.inv, widened(ctx, known_matrices(ctx, a, "cond", square=True))))


@composed(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """The condition number in the norm `p`: how much the solution of a system changes with its right-hand side."""
    a = np.asarray(x)
    if a.ndim > 1 and a.shape[-1] * a.shape[-2] == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if p is None or p == 2 or p == -2:
        values = np.linalg.svd(a, compute_uv=False)
        found = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    else:
        size = np.linalg.norm(a, p, axis=(-2, -1))
        found = (size * np.linalg.norm(_inverse_or_nan(a), p, axis=(-2, -1))).astype(size.dtype)
    return np.where(np.isnan(found) & ~np.isnan(a).any(axis=(-2, -1)), np.inf, found)[()]


_NOT_SQUARE = (
    "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
)


@composed(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The `x` of `tensordot(a, x, x.ndim) == b`."""
    left = np.asarray(a)
    right = np.asarray(b)
    if axes is not None:
        order = [k for k in range(left.ndim) if k not in axes]
        left = np.transpose(left, (*order, *axes))
    shape = left.shape[right.ndim - left.ndim :]
    count = 1
    for n in shape:
        count *= n
    if left.size != count**2:
        raise np.linalg.LinAlgError(_NOT_SQUARE)
    return np.linalg.solve(left.reshape(count, count), right.ravel()).reshape(shape)


@composed(np.linalg.tensorinv)
def tensorinv(a: Any, ind: Any = 2) -> Any:
    """The inverse with respect to `tensordot` over the first `ind` axes."""
    tensor = np.asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    if tensor.ndim == 0:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    count = 1
    for n in tensor.shape[ind:]:
        count *= n
    inverse = np.linalg.inv(tensor.reshape(count, -1))
    return inverse.reshape(tensor.shape[ind:] + tensor.shape[:ind])
