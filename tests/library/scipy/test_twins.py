"""`scipy.special` and `scipy.linalg`, compiled and interpreted, against SciPy."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from checking import Cases, check

special = pytest.importorskip("scipy.special")
linalg = pytest.importorskip("scipy.linalg")

RNG = np.random.default_rng(0)
X = RNG.random((2, 3)) + 0.1
M = RNG.standard_normal((3, 3)) + 2 * np.eye(3)
cases = Cases()


@cases.each((X.astype(np.float32), np.float32(0.25)), (np.array([[1, 2, 3]]), 1), tolerance=2e-5)
def elementwise(x: Any, y: Any) -> Any:
    one = (
        special.erf(x),
        special.erfc(x),
        special.gammaln(x),
        special.expit(x),
        special.digamma(x),
        special.entr(x),
    )
    return (
        one,
        special.xlogy(x, y),
        special.betaln(x, y),
        special.gammainc(x, y),
        special.i0(x),
        special.ndtr(y),
    )


@cases(X, np.zeros((2, 3)))
def keywords(x: Any, out: Any) -> Any:
    special.erf(x, out=out)
    return special.expit(x, dtype=np.float32)


@cases.each((X,), (X.astype(np.float32),), (np.arange(6).reshape(2, 3),))
def along_axes(x: Any) -> Any:
    sums = special.logsumexp(x), special.logsumexp(x, axis=1), special.logsumexp(x, axis=0, keepdims=True)
    return sums, special.softmax(x), special.softmax(x, axis=0), special.log_softmax(x, axis=-1)


@cases.each((M, M[0]), (M.astype(np.float32), M[:, :2].astype(np.float32)), tolerance=1e-4)
def matrices(a: Any, b: Any) -> Any:
    factor = linalg.cholesky(a @ a.T, lower=True)
    solved = linalg.solve_triangular(factor, b, lower=True), linalg.solve_triangular(a, b, trans=1)
    return (
        linalg.solve(a, b),
        linalg.inv(a),
        factor,
        linalg.cholesky(a @ a.T),
        solved,
        linalg.expm(a),
        linalg.norm(a),
    )


@cases.each((M, M[0]), (M, M[:, :2]), tolerance=1e-9)
def factorisations(a: Any, b: Any) -> Any:
    s = a @ a.T + np.eye(3)
    factors, pivots = linalg.lu_factor(a)
    return (
        linalg.lu(a),
        (factors, pivots, linalg.lu_solve((factors, pivots), b), linalg.lu_solve((factors, pivots), b, 1)),
        (np.triu(linalg.cho_factor(s)[0]), linalg.cho_factor(s, lower=True)[1]),
        (linalg.cho_solve(linalg.cho_factor(s), b), linalg.cho_solve(linalg.cho_factor(s, True), b)),
        (linalg.det(a), linalg.eigh(s)[0], linalg.svd(a)[1]),
    )


FINITE = {
    "inv": lambda a: linalg.inv(a),
    "det": lambda a: linalg.det(a),
    "solve": lambda a: linalg.solve(np.eye(2), a),
    "cholesky": lambda a: linalg.cholesky(a),
    "svd": lambda a: linalg.svd(a)[1],
    "eigh": lambda a: linalg.eigh(a)[0],
    "lu": lambda a: linalg.lu(a)[2],
    "lu_solve": lambda a: linalg.lu_solve(linalg.lu_factor(np.eye(2)), a),
    "cho_factor": lambda a: np.triu(linalg.cho_factor(a)[0]),
    "cho_solve": lambda a: linalg.cho_solve(linalg.cho_factor(np.eye(2)), a),
    "solve_triangular": lambda a: linalg.solve_triangular(np.eye(2), a),
    "norm": lambda a: linalg.norm(a),
}


@pytest.mark.parametrize("name", FINITE)
def test_infinities_and_nan_are_refused_as_by_scipy(name: str) -> None:
    for bad in (np.nan, np.inf):
        check(FINITE[name], np.array([[4.0, 1.0], [1.0, bad]]), raises=ValueError)
    check(FINITE[name], np.array([[4.0, 1.0], [1.0, 3.0]]))


def unchecked(a: Any) -> Any:
    return linalg.det(a, check_finite=False)


def test_the_check_can_be_left_out() -> None:
    check(unchecked, np.array([[4.0, 1.0], [1.0, np.nan]]))


@pytest.mark.parametrize("function, args, options", cases.params)
def test_scipy_twins(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)


def test_scipy_is_not_imported_by_pystage() -> None:
    """JAX imports parts of SciPy itself."""
    program = (
        "import jax.scipy.linalg, jax.scipy.special, sys; before = set(sys.modules); "
        "import pystage.runtime.dispatch.dispatch; "
        "print(*[m for m in set(sys.modules) - before if m.startswith('scipy')])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
