"""Functions that store into a copy of a bounded array, and loops over one."""

from __future__ import annotations

from typing import Any

import numpy as np


def copied(y: Any, z: Any) -> Any:
    a = y.copy()
    np.copyto(a, z)
    return a


def put(y: Any) -> Any:
    a = y.copy()
    np.put(a, np.argsort(a)[:1], 7.0)
    return a


def diagonal_filled(m: Any, value: Any) -> Any:
    a = m.copy()
    np.fill_diagonal(a, value)
    return a


def placed(y: Any) -> Any:
    a = y.copy()
    np.place(a, a > 1, [7.0, 8.0])
    return a


def put_masked(y: Any) -> Any:
    a = y.copy()
    np.putmask(a, a > 1, 7.0)
    return a


def added_at(x: Any, i: Any) -> Any:
    a = x.copy()
    np.add.at(a, i, 1.0)
    np.subtract.at(a, i, a[i])
    return a


def added_at_places(y: Any, z: Any) -> Any:
    a = y.copy()
    np.add.at(a, np.arange(len(y)), z)
    np.maximum.at(a, slice(0, 2), 1.0)
    return a


def filled(y: Any) -> Any:
    a = y.copy()
    a.fill(3.0)
    return a


def sorted_in_place(y: Any) -> Any:
    a = y.copy()
    a.sort()
    return a


def changed(y: Any, z: Any) -> Any:
    a = y.copy()
    a += z
    a[:1] = 5
    a[a > 4] = 0
    a[np.argsort(z)[:2]] *= 2
    return a


def enumerated(y: Any) -> Any:
    s = 0.0
    for n, v in enumerate(y):
        s += n * v
    return s


def zipped(y: Any, z: Any) -> Any:
    s = 0.0
    for v, w in zip(y, z):
        s = s * 2 + v * w
    return s


def backwards(y: Any) -> Any:
    s = 0.0
    for v in reversed(y):
        s = s * 2 + v
    return s


def chosen(y: Any) -> Any:
    if len(y) > 2:
        return y.sum()
    return y.size * 1.0


def stored_at_pairs(y: Any) -> Any:
    a = np.outer(y, y)
    a[np.arange(len(y)), np.arange(len(y))] = 0
    a[np.triu_indices(len(y), 1)] += 1
    return a


def stored_in_columns(r: Any) -> Any:
    a = r.copy()
    a[np.arange(len(r)), np.arange(len(r)) % 3] -= 1
    return a


def stored_on_a_grid(m: Any, x: Any, t: Any) -> Any:
    a = m.copy()
    a[np.ix_(x > t, m[0] > 1)] = 3
    a[np.ix_(x > t, [0, 1])] += m[x > t, :2]
    return a


def stored_masked(r: Any) -> Any:
    a = r.copy()
    a[a > 1] *= 2
    a[a < 0] = np.sort(a[a < 0])
    return a


def into_itself(y: Any, z: Any) -> Any:
    a, b = y.copy(), np.arange(len(y))
    np.maximum(a, 1, out=a)
    np.add(a, z, a)
    np.multiply(b, 2, out=(b,))
    np.add(1, 2, out=b[1:])
    return a, b


def at_a_list(x: Any, y: Any, t: Any) -> Any:
    found = [n for n in range(6) if x[n] > t]
    a, b = x.copy(), y.copy()
    a[found] = 0
    b[[n % 1 for n in found]] += 1
    return x[found], y[[n % 1 for n in found]], a, b
