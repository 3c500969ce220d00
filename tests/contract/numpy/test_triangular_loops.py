"""Loops over parts of computed length stay loops: their programs have the same size for 10 and for 2,000 trips."""

from __future__ import annotations

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

RNG = np.random.default_rng(3)
A = RNG.normal(size=(6, 6)) + 4 * np.eye(6)
SPD = A @ A.T
V = RNG.normal(size=6)
STARTS = np.array([0, 2, 2, 5, 6])


@cases.each((SPD,), (SPD[:1, :1],))
def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return a


@cases.each((SPD,), (SPD[:1, :1],))
def cholesky_by_columns(a):
    n = a.shape[0]
    for j in range(n):
        a[j:, j] -= a[j:, :j] @ a[j, :j]
        a[j:, j] /= np.sqrt(a[j, j])
        a[j, j + 1 :] = 0.0
    return a


@cases.each((A,), (A[:1, :1],))
def lu(a):
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


@cases.each((A[::-1].copy(),), (A[:1, :1],))
def lu_with_pivots(a):
    n = a.shape[0]
    order = np.zeros(n, dtype=np.int64)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
        order[k] = p
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, order


@cases.each((A, V), (A[:1, :1], V[:1]))
def triangular_solves(a, b):
    n = len(b)
    x = b.copy()
    for i in range(n):
        x[i] = (x[i] - a[i, :i] @ x[:i]) / a[i, i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@cases.each((0.5 ** np.arange(7.0), V), (0.5 ** np.arange(2.0), V[:1]))
def levinson_durbin(r, _):
    n = len(r)
    a = np.zeros(n)
    a[0] = 1.0
    error = r[0]
    for k in range(1, n):
        reflection = -(a[:k] @ r[k:0:-1]) / error
        a[1 : k + 1] += reflection * a[:k][::-1].copy()
        error *= 1.0 - reflection**2
    return a, error


@cases.each((A,), (A[:, :1],))
def covariance(x):
    n, m = x.shape
    x = x - x.mean(axis=0)
    out = np.zeros((m, m))
    for i in range(m):
        out[i, i:] = out[i:, i] = x[:, i] @ x[:, i:] / (n - 1.0)
    return out


@cases.each((A,), (A[:, :1],))
def gram_schmidt(a):
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.linalg.norm(v)
    return q


@cases.each((A,), (A[:, :1],))
def householder_qr(a):
    m, n = a.shape
    q = np.zeros((m, m))
    for i in range(m):
        q[i, i] = 1.0
    for k in range(min(m, n)):
        v = a[k:, k].copy()
        v[0] += np.sign(v[0]) * np.linalg.norm(v)
        v /= np.linalg.norm(v)
        a[k:, k:] -= 2.0 * np.outer(v, v @ a[k:, k:])
        q[:, k:] -= 2.0 * np.outer(q[:, k:] @ v, v)
    return q, a


@cases.each((V, np.array([1, 2, 0, 3, 1, 9])))
def windows_of_computed_length(x, widths):
    out = np.zeros(len(x))
    for i in range(len(x)):
        w = widths[i]
        out[i] = x[max(i - w, 0) : i + w + 1].mean()
    return out


@cases.each((A[0], np.array([0, 3, 1, 2, 0, 3]), STARTS))
def rows_of_sparse_matrices(data, columns, starts):
    out = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        part = columns[starts[i] : starts[i + 1]]
        out[i] = data[starts[i] : starts[i + 1]] @ out[part] + part.sum()
    return out


@cases.each(*[(A, np.array(k)) for k in (0, 1, 4, 6)])
def norms_of_parts(a, k):
    k = int(k)
    rows, columns = a[:k], a[:, :k]
    orders = [np.linalg.norm(a[0, :k], order) for order in (None, 0, 1, 2, 3)]
    along = np.linalg.norm(rows, axis=1), np.linalg.norm(columns, np.inf, axis=0, keepdims=True)
    return orders, along, np.linalg.norm(columns), np.linalg.norm((a[1, :k] * 9).astype(np.int8))


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


LOOPS = (
    cholesky,
    cholesky_by_columns,
    lu,
    lu_with_pivots,
    triangular_solves,
    levinson_durbin,
    covariance,
    gram_schmidt,
    householder_qr,
    windows_of_computed_length,
    rows_of_sparse_matrices,
)


def _inputs(function, n):
    match function.__code__.co_varnames[: function.__code__.co_argcount]:
        case ("a",) | ("x",):
            return (np.eye(n),)
        case "a", "b":
            return np.eye(n), np.ones(n)
        case "data", _, _:
            return np.ones(n), np.zeros(n, np.int64), np.arange(n + 1)
    return np.ones(n), np.ones(n, np.int64)


OF_DATA = (windows_of_computed_length, rows_of_sparse_matrices)
"""Data say where the slices of these end, which have a capacity in long arrays, and else the whole array as their bound."""


@pytest.mark.parametrize("function", LOOPS)
def test_the_program_has_one_size(function):
    sizes = (600, 2_000) if function in OF_DATA else (40, 2_000)
    few, many = [str(pystage.code_typed(function, *_inputs(function, n))).splitlines() for n in sizes]
    assert len(few) == len(many)
