"""Slices that are short beside their axes: what is done with them costs what they have, and is seen by all names."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(40.0) ** 1.5
M = np.arange(600.0).reshape(20, 30) % 17
PLACES = [
    (X.copy(), i) for i in map(np.array, (0, 1, 2, 3, 20, 36, 37, 38, 39, 40, -1, -2, -3, -40, -41, 70))
]


SORTED = np.sort(np.random.default_rng(5).integers(0, 1000, 3000)).astype(float)


@cases(SORTED, np.array([0.0, 10.0, 10.0, 900.0, 990.0, 2000.0]))
@cases(SORTED, np.array([0.0, 1.0, 2.0]))
@cases(SORTED[:5], np.array([0.0, 500.0, 2000.0]))
def between_found_places(x, ends):
    at = np.searchsorted(x, ends)
    out = np.zeros((len(at) - 1, 2))
    for i in range(len(at) - 1):
        part = x[at[i] : at[i + 1]]
        out[i] = part.sum(), len(part)
    return out


@cases.each((X,), (X[:12],))
def running_means(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        part = x[max(i - 2, 0) : min(i + 3, len(x))]
        out[i] = part.mean() + part.max() - part[0] + part[-1] + len(part)
    return out


@cases.each((X,))
def running_medians(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.median(x[max(i - 3, 0) : i + 4])
    return out


@cases.each((X, np.arange(-3, 37)), (X, np.arange(40, dtype=np.int8)[::-1].copy()))
def windows_of_computed_length(x, widths):
    out = np.zeros(len(x))
    for i in range(len(x)):
        w = min(max(widths[i], 1), 4)
        out[i] = x[max(i - w, 0) : min(i + w + 1, len(x))].sum() + x[i - w : i].size
        out[i] += x[widths[i] : i].sum()
    return out


@cases.each((M,))
def boxes_of_images(img):
    out = np.zeros_like(img)
    rows, columns = img.shape
    for r in range(rows):
        for c in range(columns):
            out[r, c] = img[max(0, r - 1) : r + 2, max(0, c - 1) : c + 2].sum()
    return out


@cases.each(*PLACES)
def clipped_at_both_ends(x, i):
    i = int(i)
    a = x[i - 2 : i + 3]
    b = x[i : i + 4]
    return a.sum(), a, b.copy() * 2, len(a) + len(b), x[i - 5 : i - 1].size


@cases.each(*PLACES)
def stores_at_both_ends(x, i):
    i = int(i)
    x[i - 2 : i + 3] = -1.0
    x[i : i + 4] += 10
    x[i + 2 : i - 2 : -1] *= 2
    x[i - 3 : i + 4 : 2] -= 100
    return x


@cases.each(*PLACES)
def stores_of_what_other_slices_hold(x, i):
    i = int(i)
    k = max(min(i, 35), 3)
    x[k - 2 : k + 2] = x[k + 1 : k - 3 : -1]
    x[k - 3 : k + 4 : 2] += x[k - 3 : k + 1] * np.arange(4)
    return x


@cases.each(*PLACES)
def shared_memory(x, i):
    i = int(i)
    part = x[i - 2 : i + 3]
    x[i : i + 2] = 5
    inner = part[1:]
    inner += 1
    part[::-1][:2] *= 3
    x[:] += 0.5
    return part, inner, x


@cases.each(*[(X.copy(), i, j) for i in map(np.array, (0, 3, 20, 39)) for j in map(np.array, (0, 2, 4, 30))])
def slices_of_slices(x, i, j):
    i, j = int(i), int(j)
    part = x[i:]
    total = 0.0
    for k in range(j):
        inner = part[max(k - 1, 0) : k + 2]
        inner *= 2
        total += inner.sum() + part[k + 1 : k + 3][::-1].sum()
        part[k : k + 2] = 7.0
    return total, x, part[j : j + 2]


@cases.each(*[(M.copy(), np.array(ij)) for ij in ((0, 0), (1, 29), (19, 5), (10, 14), (25, 3))])
def parts_of_matrices(m, ij):
    i, j = int(ij[0]), int(ij[1])
    m[i : i + 2, j : j + 3] = 100
    m[j % 20 : j % 20 + 1] += m[i % 20 : i % 20 + 1]
    block = m[i - 1 : i + 2, 3:5]
    block -= block.mean() if block.size else 0
    return m, block.T, m[i : i + 2][:, j : j + 2], m.T[j : j + 3, 2]


@cases.each(*[(X.copy(), np.array(i)) for i in (0, 37, 39)])
def kept_in_branches_and_loops(x, i):
    i = int(i)
    part = x[i : i + 3]
    for _ in range(3):
        if x[0] > 2:
            part = x[i + 1 : i + 4]
        part += 1
        x[0] += 1
    return part, x


@cases.each(
    *[(np.zeros(40, np.int32), np.array(b)) for b in ((0, 40, 3), (-1, 0, -9), (9, 30, 8), (5, 5, 2))]
)
@cases.each(*[(np.zeros(40, np.int32), np.array(b)) for b in ((30, -99, -1), (-50, 99, 1), (3, 2, 7))])
@cases(np.zeros(40, np.int32), np.array((3, 30, 0)), raises=ValueError)
def stores_in_wide_steps(x, b):
    i, j, k = b
    for t in range(3):
        x[i : j + t : k] = 2 * t
        x[i + t :: 9] = 7
        x[i:t:-k] = t
    return x, x[i:j:k].sum()


@cases.each(*[(np.zeros(40, np.bool_), np.array(n)) for n in (0, 3, 5)])
def sieve(prime, n):
    prime[2:] = True
    for p in range(2, int(n)):
        if prime[p]:
            prime[p * p :: p] = False
    return np.nonzero(prime)[0], prime


@cases.each(*[(jnp.asarray(X), np.array(i)) for i in (0, 38)])
def of_jax(x, i):
    i = int(i)
    part = x[i - 1 : i + 2]
    return part, part.sum(), x.at[i : i + 3].add(1.0), x.at[i - 2 : i + 1].set(part[0] if len(part) else 0.0)


LONG = np.arange(900.0)
ENDS = np.array([0, 3, 200, 199, 840, 897] * 4), np.array([5, 3, 260, 700, 2000, 898] * 4)


@cases(LONG, *ENDS)
@cases(LONG, ENDS[0], ENDS[0] + 7)
def parts_of_a_selection(x, starts, ends):
    y, found, total = x[x > 9], [], 0.0
    for a, b in zip(starts, ends):
        part = y[a:b]
        part[:1] = -1
        total += part.sum() + part[::-1][:2].sum()
        found.append(len(part))
    return y, found, total


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


@pytest.mark.parametrize("function", [running_means, running_medians, boxes_of_images, stores_at_both_ends])
def test_what_is_computed_of_a_short_slice_is_as_short(function):
    wide = np.zeros((100, 100) if function is boxes_of_images else 10_000)
    args = (wide, np.array([5])) if function is stores_at_both_ends else (wide,)
    made = [line for line in str(pystage.code_hlo(function, *args)).splitlines() if "10000" in line]
    elementwise = [line for line in made if "select" in line or "compare" in line or "iota" in line]
    assert not elementwise
