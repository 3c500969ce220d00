"""`np.linalg`, compiled and interpreted, against NumPy, whose LAPACK routines are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

import pystage

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 3)) + 2 * np.eye(3)
B = RNG.standard_normal((3, 2))
STACK = RNG.standard_normal((2, 3, 3)) + 2 * np.eye(3)
Z = X + 1j * RNG.standard_normal((3, 3))
TALL = RNG.standard_normal((5, 3))
SINGLE = X.astype(np.float32)
INTEGERS = np.array([[2, 1], [1, 3]])
cases = Cases()
ALL = ((X,), (STACK,), (Z,), (SINGLE,), (INTEGERS,))


@cases.each((X,), (STACK,), (INTEGERS,), tolerance=1e-9)
def negative_powers(a: Any) -> Any:
    return np.linalg.matrix_power(a, -1), np.linalg.matrix_power(a, -4)


@cases.each((X, B), (X, B[:, 0]), (STACK, B), (STACK, B[:, 0]), (SINGLE, B), (Z, B), (INTEGERS, [1, 2]))
def systems(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


@cases.each(*ALL)
def inverses(a: Any) -> Any:
    sign, log = np.linalg.slogdet(a)
    return np.linalg.inv(a), np.linalg.det(a), sign, log, np.linalg.slogdet(a).logabsdet


@cases.each(*ALL, tolerance=1e-4)
def factors(a: Any) -> Any:
    positive = a @ np.swapaxes(np.conj(a), -1, -2)
    return np.linalg.cholesky(positive), np.linalg.cholesky(positive, upper=True)


@cases.each((X,), (Z,), (TALL,), (TALL.T,), (STACK,), tolerance=1e-9)
def orthogonal_factors(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return q, r, np.linalg.qr(a, mode="complete"), np.linalg.qr(a, "r")


@cases.each((X,), (TALL,), (STACK,), (Z,), tolerance=1e-9)
def singular_values(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u, s, vh, np.linalg.svd(a), np.linalg.svd(a, compute_uv=False), np.linalg.svdvals(a)


@cases.each((X,), (Z,), (STACK,), (INTEGERS,), tolerance=1e-9)
def symmetric_spectra(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return w, v, np.linalg.eigvalsh(a, UPLO="U"), np.linalg.eigh(a, "u")


@cases(Z, tolerance=1e-9)
def general_spectra(a: Any) -> Any:
    return np.linalg.eig(a), np.linalg.eigvals(a)


@cases(X, refused="PS604")
def spectrum_of_a_real_matrix(a: Any) -> Any:
    return np.linalg.eigvals(a)


@cases.each((TALL, TALL[:, 0]), (TALL.T, B), (X, B), (Z[:0], Z[:0, 0]), tolerance=1e-9)
def least_squares(a: Any, b: Any) -> Any:
    x, _, rank, s = np.linalg.lstsq(a, b)
    return x, rank, s


@cases.each((TALL.T, B), (X, B), tolerance=1e-9)
def no_residuals(a: Any, b: Any) -> Any:
    return np.linalg.lstsq(a, b, rcond=None)[1]


@cases(TALL, TALL[:, 0], refused="PS220")
def residuals(a: Any, b: Any) -> Any:
    return np.linalg.lstsq(a, b, rcond=None)[1]


@cases.each((X,), (TALL,), (STACK,), (Z,), tolerance=1e-9)
def pseudo_inverses(a: Any) -> Any:
    first = np.linalg.pinv(a), np.linalg.pinv(a, rcond=0.1)
    return first, np.linalg.pinv(a, rtol=None)  # type: ignore[call-overload]


@cases.each((X,), (TALL @ TALL.T,), (STACK,))
def ranks(a: Any) -> Any:
    return np.linalg.matrix_rank(a), np.linalg.matrix_rank(a, tol=0.5), np.linalg.matrix_rank(a[..., 0, :1])


@cases.each((X,), (STACK,), tolerance=1e-9)
def conditions(a: Any) -> Any:
    return np.linalg.cond(a), np.linalg.cond(a, -2), np.linalg.cond(a, 1), np.linalg.cond(a, "fro")


@cases(RNG.standard_normal((2, 3, 6)), RNG.standard_normal((2, 3)), tolerance=1e-9)
def tensors(a: Any, b: Any) -> Any:
    return np.linalg.tensorsolve(a, b), np.linalg.tensorinv(a, ind=2)


HILBERT = (1 / np.add.outer(np.arange(6), np.arange(1, 7))).astype(np.float32)
HERMITIAN = (Z + Z.conj().T).astype(np.complex64)


@cases(HILBERT, HERMITIAN, tolerance=1e-6)
def single_precision(a: Any, c: Any) -> Any:
    spectra = np.linalg.eig(c), np.linalg.eigvals(c), np.linalg.eigh(c), np.linalg.eigvalsh(a)
    ranks = np.linalg.lstsq(a, a[0])[2], np.linalg.matrix_rank(a)
    factors = np.linalg.qr(a), np.linalg.cholesky(a), np.linalg.svdvals(a), np.linalg.norm(a, "nuc")
    solution = np.linalg.inv(a), np.linalg.solve(a, a[0]), np.linalg.det(a), np.linalg.cond(a, 1)
    return spectra, ranks, factors, solution


@cases.each((X + X.T,), (np.stack([HERMITIAN, HERMITIAN + 1]),), tolerance=1e-5)
def singular_values_of_hermitian_matrices(a: Any) -> Any:
    of_values = np.linalg.svd(a, compute_uv=False, hermitian=True), np.linalg.matrix_rank(a, hermitian=True)
    return np.linalg.svd(a, hermitian=True), of_values, np.linalg.pinv(a, hermitian=True)


@cases(np.zeros((0, 3, 3, 0)), np.zeros((0, 3)))
def tensors_without_elements(a: Any, b: Any) -> Any:
    return np.linalg.tensorsolve(a, b)


@cases(np.zeros((2, 3, 4)), np.zeros((2, 3)), raises=np.linalg.LinAlgError)
def tensors_that_are_not_square(a: Any, b: Any) -> Any:
    return np.linalg.tensorsolve(a, b)


@cases.each((STACK, None), (STACK, 2), raises=ValueError)
def a_norm_of_three_axes(a: Any, order: Any) -> Any:
    return np.linalg.norm(a, order, (0, 1, 2))


@cases(X * np.nan, raises=np.linalg.LinAlgError)
def a_norm_of_nan(a: Any) -> Any:
    return np.linalg.norm(a, 2)


@cases.each((X[0],), (TALL,), raises=np.linalg.LinAlgError)
def no_square(a: Any) -> Any:
    return np.linalg.inv(a)


@cases(X, B[:2], raises=ValueError)
def sides_that_do_not_fit(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


@cases(X.astype(np.float16), raises=TypeError)
def half_precision(a: Any) -> Any:
    return np.linalg.det(a)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_factorisations(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
REGULAR = np.array([[4.0, 1.0], [1.0, 3.0]])
UNKNOWN = np.array([[1.0, np.nan], [np.nan, 4.0]])


@pytest.mark.parametrize(
    "function",
    [
        np.linalg.inv,
        lambda m: np.trace(np.linalg.cholesky(m)),
        np.linalg.svdvals,
        lambda m: np.linalg.solve(m, np.array([[1.0], [2.0]])),
        lambda m: np.linalg.eigvals(m + 0j).real.max(),
        lambda m: (np.linalg.cond(m, 1), np.linalg.det(m)),
    ],
)
def test_what_has_no_solution_raises_what_numpy_raises(function: Any) -> None:
    def attempted(m: Any) -> Any:
        try:
            found = function(m)
            failed = ""
        except np.linalg.LinAlgError as error:
            found = function(np.eye(2))
            failed = str(error)
        return failed, found

    staged = pystage.compile(attempted, fallback="error")
    for m in (SINGULAR, REGULAR, UNKNOWN, np.zeros((2, 2))):
        with np.errstate(all="ignore"):
            check(attempted, m, staged=staged, runs=1, tolerance=1e-9)


@cases(np.stack([REGULAR, SINGULAR]), raises=np.linalg.LinAlgError)
def one_of_several_is_singular(a: Any) -> Any:
    return np.linalg.inv(a)


PARTLY_UNKNOWN = [
    [[np.nan, 0.0], [0.0, 1.0]],
    [[1.0, 0.0], [np.nan, 1.0]],
    [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [np.nan, 0.0, 1.0]],
    [[-1.0, np.nan], [0.0, 1.0]],
    [[4.0, 2.0, 0.0], [2.0, 5.0, 0.0], [0.0, 0.0, np.nan]],
]


def factor(a: Any) -> Any:
    return np.linalg.cholesky(a)


@pytest.mark.parametrize("matrix", PARTLY_UNKNOWN, ids=str)
def test_factors_of_matrices_with_nan(matrix: Any) -> None:
    """A NaN that elimination meets is no reason to raise, and none not to where a pivot is not positive."""
    try:
        factor(np.array(matrix))
    except np.linalg.LinAlgError:
        check(factor, np.array(matrix), raises=np.linalg.LinAlgError)
    else:
        check(factor, np.array(matrix))


def test_factors_are_lapacks() -> None:
    """XLA:CPU would expand HLO's own operations."""
    text = pystage.compile(factor).lower(np.eye(5)).compile().as_text()
    assert 'custom_call_target="lapack_dpotrf_ffi"' in text
    slope = pystage.grad(lambda a: np.linalg.cholesky(a).sum())
    text = slope.lower(np.eye(5)).compile().as_text()
    assert 'custom_call_target="lapack_dtrsm_ffi"' in text
