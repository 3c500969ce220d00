"""Cholesky factors and triangular systems beyond their samples: failure, and what they are factors of."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.ops import Cholesky, TriangularSolve

from ..running import application, run_xla, type_of


@pytest.mark.parametrize("lower", [True, False])
def test_a_matrix_without_a_factor_gives_nan_and_spares_the_others(lower: bool) -> None:
    good = np.array([[4.0, 2.0], [2.0, 3.0]])
    matrices = np.stack([good, -good])
    (found,) = run_xla(application(Cholesky(lower), type_of(matrices)), (matrices,))
    np.testing.assert_allclose(found, Cholesky(lower).reference(matrices))
    factor = found[0] if lower else found[0].T
    np.testing.assert_allclose(factor @ factor.T, good)
    triangle = found[1] if lower else found[1].T
    np.testing.assert_array_equal(triangle, [[np.nan, 0], [np.nan, np.nan]])


@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("left", [True, False])
def test_the_solution_solves(left: bool, lower: bool, unit: bool, transpose: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((4, 4)) + 1j * rng.standard_normal((4, 4)) + 5 * np.eye(4)
    b = rng.standard_normal((4, 4)) + 0j
    op = TriangularSolve(left, lower, unit, transpose)
    (x,) = run_xla(application(op, type_of(a), type_of(b)), (a, b))
    matrix = np.tril(a, -1) if lower else np.triu(a, 1)
    matrix = matrix + (np.eye(4) if unit else np.diag(np.diag(a)))
    matrix = {"NO_TRANSPOSE": matrix, "TRANSPOSE": matrix.T, "ADJOINT": matrix.conj().T}[transpose]
    np.testing.assert_allclose(matrix @ x if left else x @ matrix, b, atol=1e-12)
