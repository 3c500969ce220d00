"""Slices of unknown length beside each other: products, elementwise work and stores of `x[i:j]` in loops that stay loops."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

RNG = np.random.default_rng(7)
A = RNG.normal(size=(6, 6))
SPD = A @ A.T + 6 * np.eye(6)
V = RNG.normal(size=6)
BOUNDS = [(0, 6, 0, 6), (1, 4, 2, 5), (3, 3, 5, 5), (-4, -1, 0, 3), (2, 3, 4, 5)]


@cases.each((SPD,), (SPD[:1, :1],), (SPD[:0, :0],))
def cholesky_by_rows(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return a


@cases.each((0.5 ** np.arange(1, 8.0),))
def durbin(r):
    y = np.zeros_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@cases.each((0.5 ** np.arange(8.0), 7), (0.5 ** np.arange(8.0), 1))
def levinson(r, n):
    a = np.zeros(n + 1)
    a[0] = 1.0
    e = r[0]
    for k in range(1, n + 1):
        lam = -(r[k] + np.dot(a[1:k], r[k - 1 : 0 : -1])) / e
        a[1 : k + 1] += lam * a[k - 1 :: -1][:k]
        e *= 1 - lam * lam
    return a, e


@cases.each((A,), (A[:, :1],))
def covariance(data):
    n, m = data.shape
    data = data - data.mean(axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = cov[i, i:m] = data[:, i] @ data[:, i:m] / (n - 1.0)
    return cov


@cases.each((SPD,))
def lu(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


@cases.each((V,))
def autocorrelation(x):
    n = len(x)
    out = np.zeros(n)
    for k in range(n):
        out[k] = np.dot(x[: n - k], x[k:])
    return out


@cases.each(*[(A, V, *b) for b in BOUNDS])
def rows_and_columns(a, v, i, j, k, m):
    out = np.zeros((4, 6))
    for t in range(2):
        out[0] += a[:, i + t : j + t] @ a[i + t : j + t, t]
        out[1] += v[i + t : j + t] @ a[i + t : j + t]
        out[2, k + t : m + t] += (a[t] @ a[:, k + t : m + t]) * 2.0
        out[3, : m - t] = v[: m - t] - a[t, : m - t] ** 2
    return out


@cases.each(*[(V.copy(), *b) for b in BOUNDS])
def parts_of_parts(x, i, j, k, m):
    out = []
    for t in range(2):
        w = x[i + t : j + t]
        w[:1] += 1.0
        w[1:][::-1] *= 0.5
        out.append(w[: k + 1].sum() + len(w[k:]) + w[::-2].sum())
    return out, x


@cases.each((V, 2, 1), (V, 3, -1))
@cases.each((V, 2, -3), (V, 0, 0), (V, 2, 2), raises=IndexError)
def element_of_a_part(x, n, k):
    total = 0.0
    for t in range(3):
        w = x[t + 1 : t + 1 + n]
        total += w[k]
        w = x[t + n : t : -1]
        total += 10 * w[k]
    return total


@cases.each((V, 2, 3), (V, 0, 0))
@cases.each((V, 4, 2), raises=ValueError)
def lengths_that_differ(x, n, m):
    total = 0.0
    for t in range(n):
        total += (x[t : 2 * t] + x[t : t + t % (m + 1)]).sum()
    return total


@cases.each((V.copy(), 3, 2), (V.copy(), 2, 2), (V.copy(), 0, 2), (V.copy(), 3, 1))
def stores_of_lengths_that_differ(x, n, m):
    done = 0
    for t in range(2):
        try:
            x[t : t + n] = x[m : m + m]
            done += 1
        except ValueError as error:
            return str(error), x
    return done, x


@cases.each((V, V[:3], 3), (V, V[:2], 2))
@cases.each((V, V[:3], 2), (V, V[:2], 3), refused="PS201")
def beside_an_array(x, w, n):
    total = 0.0
    for t in range(2):
        total += (x[t : t + n] * w).sum() + w @ x[t : t + n]
    return total


@cases.each((V, V[:3], np.array([0, 3])))
@cases.each((V, V[:3], np.array([1, 3])), raises=ValueError)
def a_product_with_an_array(x, w, b):
    return w @ x[b[0] : b[1]]


@cases.each((jnp.asarray(A, jnp.float32),))
def of_jax_arrays(a):
    total = 0.0
    for t in range(4):
        part = a[t, t:] * 2 - a[t:, t]
        total = total + part @ a[t:, 0] + (a[:, t:].T @ a[:, 1]).sum()
    return total


@cases.each((np.arange(20.0), 4), (np.arange(20.0), 5), (np.arange(20.0), 3))
def batches(x, size):
    w = np.ones(size)
    for s in range(len(x) // size):
        w = w + x[s * size : (s + 1) * size]
    return w


@cases.each((np.arange(20.0).reshape(10, 2), 4), (np.arange(20.0).reshape(10, 2), 5))
def batches_by_step(x, size):
    total = 0.0
    for s in range(0, len(x), size):
        total += (x[s : s + size] ** 2).mean() * len(x[s : s + size])
    return total


@cases.each((np.array([0, 2, 2, 5, 6]), V))
def sums_of_rows(ends, x):
    out = np.zeros(len(ends) - 1)
    for i in range(len(ends) - 1):
        out[i] = x[ends[i] : ends[i + 1]].sum()
    return out


@cases.each((np.array([3, -1, 2, 5]), np.array([2, 3, 1, 0])))
def integers(x, y):
    out = np.zeros(4, np.int64)
    for i in range(4):
        out[i:] += x[i:] * y[: 4 - i] - x[i] ** y[i]
        out[i] += x[:i] @ y[:i]
    return out


@cases.each((V, 2), (V, 5))
def medians(x, w):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.median(x[max(0, i - w) : i + w + 1])
    return out


ENDS = np.array([0, 2, 2, 5, 6])
COLUMNS = np.array([1, 3, 0, -2, 4, 2])


@cases.each((ENDS, COLUMNS, V, V[::-1].copy()))
@cases.each((ENDS, COLUMNS + 2, V, V[::-1].copy()), raises=IndexError)
def product_of_a_sparse_matrix(ends, columns, data, x):
    y = np.zeros(len(ends) - 1)
    for i in range(len(ends) - 1):
        lo, hi = ends[i], ends[i + 1]
        y[i] = data[lo:hi] @ x[columns[lo:hi]] + x[columns[lo:hi]].sum()
    return y


@cases.each((ENDS, COLUMNS, V, V.copy()))
@cases.each((ENDS, COLUMNS + 2, V, V.copy()), raises=IndexError)
def stores_at_parts_of_places(ends, columns, data, x):
    for i in range(len(ends) - 1):
        lo, hi = ends[i], ends[i + 1]
        x[columns[lo:hi]] = data[lo:hi] * 2 + x[columns[lo:hi]]
        x[columns[lo : lo + 1]] = i
    return x


@cases.each((np.array([3.0, 1.0, 3.0, 2.0, 1.0, 3.0]),))
def ranks(x):
    order = np.argsort(x, kind="stable")
    r = np.zeros(len(x))
    i = 0
    while i < len(x):
        j = i
        while j + 1 < len(x) and x[order[j + 1]] == x[order[i]]:
            j += 1
        r[order[i : j + 1]] = 0.5 * (i + j) + 1
        i = j + 1
    return r


MASKS = [RNG.uniform(size=n) < d for n in (0, 1, 7, 8, 9, 15, 16, 23, 100) for d in (0.0, 0.3, 0.9, 1.0)]


@cases.each(*[(mask,) for mask in MASKS])
def places_and_their_number(mask):
    found = np.flatnonzero(mask)
    return found, len(found), np.sum(mask), found + np.count_nonzero(mask)


@cases.each(*[(mask,) for mask in MASKS])
def one_selection_after_another(mask):
    x = np.arange(len(mask))
    found = x[mask]
    first = np.concatenate(([7, 8], found, [9], found, x))
    second = np.concatenate((found, np.append(found, 5), found[1:]))
    return first, second, np.diff(np.append(np.append(0, found), len(x)))


@cases.each(([1, 2, 3, 3], 0), ([1], 2))
def loops_of_one_trip(xs, k):
    total, seen = 0, []
    for i in range(1):
        total += xs[i] + k
        if k > 1:
            continue
        seen.append(i)
    for i in range(1):
        if k > 1:
            break
        total += 100
    else:
        total += 1000
    return total, seen, i


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


@pytest.mark.parametrize("function", [cholesky_by_rows, covariance, lu, autocorrelation, durbin])
def test_the_size_of_the_program_does_not_depend_on_the_number_of_trips(function):
    def lines(n):
        a = np.eye(n) if function not in (autocorrelation, durbin) else np.ones(n)
        return str(pystage.code_typed(function, a)).count("\n")

    assert lines(40) == lines(90)


def test_one_selected_element_beside_several_is_refused_when_it_happens():
    def f(x, i, j):
        return sum([(x[t : i + t] * x[t : j + t]).sum() for t in range(2)])

    staged = pystage.compile(f)
    bounds = np.array([3, 3, 1])
    g = lambda x, b: (x[: b[0]] * x[: b[1]]).sum()  # noqa: E731
    assert staged(V, 2, 2) == pytest.approx(f(V, 2, 2))
    assert pystage.compile(g)(V, bounds[:2]) == pytest.approx(g(V, bounds[:2]))
    with pytest.raises(pystage.StagingError, match="PS221"):
        pystage.compile(g)(V, bounds[1:])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int32])
@pytest.mark.parametrize("rows", [40, 511, 512, 700])
def test_sums_of_many_elements_in_loops_are_the_librarys(rows, dtype):
    def of_rows_that_change(x, n):
        for i in range(n):
            sums = x.sum(axis=1)
            x[i, 0] = x.max(axis=0)[i % 8] + x.dtype.type(sums[i] > 0)
        return x

    check(of_rows_that_change, (np.arange(rows * 8).reshape(rows, 8) % 5).astype(dtype), 20)
