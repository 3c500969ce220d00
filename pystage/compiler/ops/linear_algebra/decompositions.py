"""HLO's own linear algebra: Cholesky decomposition and triangular solve.

JAX's lowerings emit both: on CPUs calls of LAPACK, where XLA would expand the HLO operations into loops that are tens of
times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, Tangents
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import FLOAT32, FLOAT64, INT32, ArrayType, ShapeError
from ..batching import as_one
from ..foreign.jax_call import emit_by_jax
from ..operands import COMPLEXES, require_dtype, require_same_dtype
from .dot import DotGeneral

TRANSPOSES = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


@dataclass(frozen=True)
class Cholesky(HloOp):
    """The triangular factor of Hermitian positive-definite matrices. StableHLO: cholesky.

    Operand and result are `(…, n, n)`. With `lower` the operand is `L @ L.conj().T` of the result, and only
    its lower triangle is read; else it is `U.conj().T @ U`, and the upper one is. The other triangle of the
    result is zero. A matrix that is not positive-definite gives NaN everywhere in the triangle.
    """

    opcode = "cholesky"
    lowered_by_jax = True

    lower: bool = True

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The type of the operand; `ShapeError` unless it holds square matrices of floating point."""
        (a,) = operands
        _require_square("cholesky", a)
        return a

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """`jax.lax.linalg.cholesky`."""
        return emit_by_jax(e, op, self._by_jax, operands)

    def _by_jax(self, a: jax.Array) -> jax.Array:
        read = a if self.lower else jnp.matrix_transpose(a).conj()
        factor = jax.lax.linalg.cholesky(read, symmetrize_input=False)
        return factor if self.lower else jnp.matrix_transpose(factor).conj()

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """NumPy's factor of each matrix, made Hermitian from the triangle that is read."""
        (a,) = operands
        wide = np.dtype(np.complex128 if a.dtype.kind == "c" else np.float64)
        out = np.empty(a.shape, a.dtype)
        for place in np.ndindex(*a.shape[:-2]):
            read = a[place] if self.lower else a[place].conj().T
            lower = np.tril(read.astype(wide))
            try:
                factor = np.linalg.cholesky(lower + np.tril(lower, -1).conj().T)
            except np.linalg.LinAlgError:
                factor = np.tril(np.full_like(lower, np.nan))
            out[place] = factor if self.lower else factor.conj().T
        return out

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Both triangles, with noise in the one not read, batches, complex matrices, n = 1 and 0."""
        rng = np.random.default_rng(0)
        x = rng.standard_normal((2, 4, 4))
        real = x @ x.swapaxes(-1, -2) + 4 * np.eye(4)
        z = x + 1j * rng.standard_normal((2, 4, 4))
        hermitian = z @ z.conj().swapaxes(-1, -2) + 4 * np.eye(4)
        noise = 5 * np.triu(np.ones((4, 4)), 1)
        return (
            Sample(cls(), (real.astype(np.float32),)),
            Sample(cls(), (real[0] + noise,)),
            Sample(cls(lower=False), (real[1] + noise.T,)),
            Sample(cls(), (hermitian.astype(np.complex64),)),
            Sample(cls(lower=False), (hermitian,)),
            Sample(cls(), (np.full((1, 1), 9.0),)),
            Sample(cls(), (np.zeros((0, 0), np.float32),)),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """What holds no square matrices of floating point."""
        return (
            ErrorSample(cls(), (ArrayType(FLOAT32, (3, 4)),), "square matrices"),
            ErrorSample(cls(), (ArrayType(FLOAT32, (3,)),), "square matrices"),
            ErrorSample(cls(), (ArrayType(INT32, (3, 3)),), "not s32[3,3]"),
        )

    def _factor(self, c: Calculus, op: Op) -> Value:
        """The lower factor: of `U.conj().T @ U` the adjoint of U."""
        return op.results[0] if self.lower else _adjoint(c, op.results[0])

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """I. Murray, Differentiation of the Cholesky decomposition (arXiv:1602.07527), section 3.1.

        The cotangent is symmetric, as JAX has it: both triangles of the operand count.
        """
        (ct,) = cotangents
        assert ct is not None
        factor = self._factor(c, op)
        given = ct if self.lower else _adjoint(c, ct)
        inner = _halved(c, c.op(_product(factor.type.rank), _transposed(c, factor), given))
        left = c.op(TriangularSolve(True, True, False, "TRANSPOSE"), factor, inner)
        solved = c.conj(c.op(TriangularSolve(False, True), factor, c.conj(left)))
        return (c.times(c.add(solved, _adjoint(c, solved)), 0.5),)

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        (t,) = tangents
        assert t is not None
        factor = self._factor(c, op)
        even = c.times(c.add(t, _adjoint(c, t)), 0.5)
        left = c.op(TriangularSolve(True, True), factor, even)
        both = c.op(TriangularSolve(False, True, False, "ADJOINT"), factor, left)
        made = c.op(_product(factor.type.rank), factor, _halved(c, both))
        return (made if self.lower else _adjoint(c, made),)


@dataclass(frozen=True)
class TriangularSolve(HloOp):
    """The `x` of `op(a) @ x = b`, or of `x @ op(a) = b` if not `left`. StableHLO: triangular_solve.

    `a` holds triangular matrices `(…, n, n)`, of which only the triangle named by `lower` is read, and not
    its diagonal if `unit_diagonal`; `transpose` says what `op` is. `b` is `(…, n, m)`, or `(…, m, n)` if
    not `left`, with the same leading axes.
    """

    opcode = "triangular_solve"
    lowered_by_jax = True

    left: bool = True
    lower: bool = True
    unit_diagonal: bool = False
    transpose: str = "NO_TRANSPOSE"

    def infer(self, *operands: ArrayType) -> ArrayType:
        """The type of `b`; `ShapeError` where the systems do not match their right-hand sides."""
        a, b = operands
        _require_square("triangular_solve", a)
        require_same_dtype("triangular_solve", operands)
        if self.transpose not in TRANSPOSES:
            raise ShapeError(f"triangular_solve: {self.transpose!r} is none of {', '.join(TRANSPOSES)}")
        if a.shape[:-2] != b.shape[:-2] or a.rank != b.rank:
            raise ShapeError(f"triangular_solve of {a} for {b}: both need the same leading axes")
        count, side = a.shape[-1], b.shape[-2 if self.left else -1]
        if count != side:
            name = "rows" if self.left else "columns"
            raise ShapeError(f"triangular_solve of {a} for {b}: {count} unknowns, but {side} {name}")
        return b

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """`jax.lax.linalg.triangular_solve`."""
        return emit_by_jax(e, op, self._by_jax, operands)

    def _by_jax(self, a: jax.Array, b: jax.Array) -> jax.Array:
        return jax.lax.linalg.triangular_solve(
            a,
            b,
            left_side=self.left,
            lower=self.lower,
            transpose_a=self.transpose != "NO_TRANSPOSE",
            conjugate_a=self.transpose == "ADJOINT",
            unit_diagonal=self.unit_diagonal,
        )

    def reference(self, *operands: np.ndarray) -> np.ndarray:
        """NumPy's general solution for the triangle alone."""
        a, b = operands
        wide = np.dtype(np.complex128 if a.dtype.kind == "c" else np.float64)
        triangle = (np.tril(a) if self.lower else np.triu(a)).astype(wide)
        if self.unit_diagonal:
            diagonal = np.arange(a.shape[-1])
            triangle[..., diagonal, diagonal] = 1
        if self.transpose != "NO_TRANSPOSE":
            triangle = triangle.swapaxes(-1, -2)
        if self.transpose == "ADJOINT":
            triangle = triangle.conj()
        if self.left:
            return np.linalg.solve(triangle, b).astype(b.dtype)
        return np.linalg.solve(triangle.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2).astype(b.dtype)

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """All sides, triangles and transposes; the triangle that is not read holds noise."""
        rng = np.random.default_rng(0)
        a = rng.standard_normal((2, 3, 3)) + 4 * np.eye(3)
        b = rng.standard_normal((2, 3, 3))
        z = a + 1j * rng.standard_normal((2, 3, 3))
        made = [
            Sample(cls(left, lower, unit, transpose), (z, b.astype(complex)))
            for left, lower, unit, transpose in (
                (True, True, False, "NO_TRANSPOSE"),
                (True, True, False, "TRANSPOSE"),
                (True, False, False, "ADJOINT"),
                (False, True, False, "ADJOINT"),
                (False, False, True, "NO_TRANSPOSE"),
                (False, True, True, "TRANSPOSE"),
            )
        ]
        return (
            *made,
            Sample(cls(), (a.astype(np.float32), b[:, :, :2].astype(np.float32))),
            Sample(cls(left=False), (a, b[:, :1])),
            Sample(cls(), (a[0], b[0, :, :0])),
        )

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Systems and right-hand sides that do not match."""
        a, b = ArrayType(FLOAT32, (2, 3, 3)), ArrayType(FLOAT32, (2, 4, 5))
        return (
            ErrorSample(cls(), (a, b), "3 unknowns, but 4 rows"),
            ErrorSample(cls(left=False), (a, b), "3 unknowns, but 5 columns"),
            ErrorSample(cls(), (a, b.with_shape((3, 3, 5))), "same leading axes"),
            ErrorSample(cls(), (a, b.with_shape((3, 5))), "same leading axes"),
            ErrorSample(cls(), (b, b), "square matrices"),
            ErrorSample(cls(), (a, a.with_dtype(FLOAT64)), "one element type"),
            ErrorSample(cls(transpose="CONJUGATE"), (a, a), "'CONJUGATE' is none of"),
        )

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        a, _ = op.operands
        plain = self.transpose == "NO_TRANSPOSE"
        if self.transpose == "ADJOINT":
            for_b = c.conj(c.op(replace(self, transpose="NO_TRANSPOSE"), a, c.conj(ct)))
        else:
            for_b = c.op(replace(self, transpose="TRANSPOSE" if plain else "NO_TRANSPOSE"), a, ct)
        x, rank = op.results[0], a.type.rank
        outer = (for_b, _transposed(c, x)) if self.left else (_transposed(c, x), for_b)
        for_op = c.neg(c.op(_product(rank), *outer))
        return self._triangle(c, self._applied(c, for_op)), for_b

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        a, b = op.operands
        by_a, by_b = tangents
        right = c.zeros(b.type) if by_b is None else by_b
        if by_a is not None:
            part = self._applied(c, self._triangle(c, by_a))
            pair = (part, op.results[0]) if self.left else (op.results[0], part)
            right = c.sub(right, c.op(_product(a.type.rank), *pair))
        return (c.op(self, a, right),)

    def _applied(self, c: Calculus, x: Value) -> Value:
        """`op(x)`, which is its own inverse and transpose."""
        match self.transpose:
            case "TRANSPOSE":
                return _transposed(c, x)
            case "ADJOINT":
                return _adjoint(c, x)
        return x

    def _triangle(self, c: Calculus, x: Value) -> Value:
        """The part of a matrix that is read."""
        rows, columns = [c.iota(INT32, x.type.shape, x.type.rank - k) for k in (2, 1)]
        direction = (
            ("GT" if self.unit_diagonal else "GE") if self.lower else "LT" if self.unit_diagonal else "LE"
        )
        return c.select(c.compare(direction, rows, columns), x, c.zeros(x.type))


def _require_square(name: str, a: ArrayType) -> None:
    """The operand holds square matrices of an element type that XLA factorises."""
    require_dtype(name, a, COMPLEXES | {FLOAT32, FLOAT64})
    if a.rank < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"{name} takes square matrices, not {a}")


def _product(rank: int) -> DotGeneral:
    """The product of matrices in the last two axes."""
    batch = tuple(range(rank - 2))
    return DotGeneral(batch, batch, (rank - 1,), (rank - 2,), "HIGHEST")


def _transposed(c: Calculus, x: Value) -> Value:
    axes = list(range(x.type.rank))
    return c.transpose(x, [*axes[:-2], axes[-1], axes[-2]])


def _adjoint(c: Calculus, x: Value) -> Value:
    return c.conj(_transposed(c, x))


def _halved(c: Calculus, x: Value) -> Value:
    """The lower triangle, with half of the diagonal."""
    rows, columns = [c.iota(INT32, x.type.shape, x.type.rank - k) for k in (2, 1)]
    half = c.select(c.compare("EQ", rows, columns), c.filled(x.type, 0.5), c.zeros(x.type))
    return c.mul(x, c.select(c.compare("GT", rows, columns), c.filled(x.type, 1), half))
