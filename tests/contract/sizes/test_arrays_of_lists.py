"""Arrays of lists whose length, or that of whose elements, only the run knows: windows, blocks, pairs."""

from __future__ import annotations

import heapq

import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([0.5, -1.0, 2.0, 0.25, -0.5, 3.0, 1.0, 1.5, 4.0])
SIZES = [(X[:1],), (X[:3],), (X,)]
ALIKE = [(X[:1], 1), (X[:1], 3), (X, 1)]
RAGGED = [(X, 2), (X, 3)]
NONE = (-np.abs(X), 2)


def rows_of_pairs(x):
    return [[v, 2.0 * v] for v in x if v > 0]


def windows(x, k):
    """Of the elements before each positive one; as many as its place modulo `k` says, and one more."""
    return [x[: i % k + 1] for i in range(len(x)) if x[i] > 0]


def blocks(x, k):
    both = np.stack([x, 2 * x], axis=1)
    return [both[: i % k + 1] for i in range(len(x)) if x[i] > 0]


# ---------------------------------------------------------------- of one length


@cases.each(*SIZES)
def pairs(x):
    return np.array(rows_of_pairs(x)), np.array(rows_of_pairs(x)).reshape(-1, 2).shape


@cases.each(*SIZES)
def pairs_of_integers(x):
    return np.array([[i, 2 * i] for i in range(len(x)) if x[i] > 0])


@cases.each(*SIZES)
def matrices(x):
    return np.array([[[v, 1.0], [2.0, v]] for v in x if v > 0])


@cases.each((X, 2), (X, np.int64(3)))
def windows_of_a_computed_length(x, k):
    rows = [x[i - k : i] for i in range(k, len(x)) if x[i] > 0]
    return np.array(rows), np.vstack(rows), np.stack(rows), np.mean(rows, axis=0), np.array(rows).shape


@cases.each((X, 2), (X[:5], 3))
def of_a_known_number(x, k):
    rows = [x[i : i + int(x[0] * 2 * k)] for i in range(len(x) - 3)]
    return np.array(rows).shape


@cases.each((np.array([2, 2, 1, 0, 4]),), (np.array([1]),))
def counts(levels):
    out = []
    while levels.sum() > 0:
        out.append(np.bincount(levels, minlength=5))
        levels = levels // 2
    return np.array(out)


@cases.each(*SIZES)
def stored_into(x):
    rows = [x[: i // len(x) + 1] for i in range(len(x)) if x[i] > 0]
    made = np.array(rows)
    made[0, 0] = 99.0
    return made, x, [row.sum() for row in rows]


# ---------------------------------------------------------------- of several lengths


@cases.each(*ALIKE)
@cases.each(*RAGGED, raises=ValueError)
def an_array(x, k):
    return np.array(windows(x, k))


@cases.each(*ALIKE)
@cases.each(*RAGGED, raises=ValueError)
def an_array_of_lists(x, k):
    return np.array([[float(j) for j in range(i % k + 1)] for i in range(len(x)) if x[i] > 0])


@cases.each(*ALIKE)
@cases.each(*RAGGED, raises=ValueError)
def stacked(x, k):
    return np.stack(windows(x, k))


@cases.each(*ALIKE)
@cases.each(*RAGGED, raises=ValueError)
def one_below_the_other(x, k):
    return np.vstack(windows(x, k))


@cases.each(*ALIKE, *RAGGED)
@cases.each(NONE, raises=ValueError)
def one_after_another(x, k):
    rows = windows(x, k)
    return np.concatenate(rows), np.hstack(rows), np.concatenate(rows, axis=None), np.concatenate(rows).sum()


@cases.each(*ALIKE, *RAGGED)
@cases.each(NONE, raises=ValueError)
def blocks_one_below_the_other(x, k):
    rows = blocks(x, k)
    return (
        np.concatenate(rows),
        np.vstack(rows),
        np.concatenate(rows, axis=-2),
        np.concatenate(rows, axis=None),
    )


@cases.each((X[:0],), (X,), raises=ValueError)
def none_to_concatenate(x):
    return np.concatenate([x[:i] for i in range(len(x)) if x[i] > 10])


@cases.each((X,), (-X,), (X[:0],))
def members_of_a_list_that_may_be_empty(x):
    large = [int(v) for v in x if v > 2]
    return np.isin(np.arange(5), large), np.isin(3, large), x[np.ix_([i for i in range(len(x)) if x[i] > 2])]


@cases.each((np.array([5, 3, 8, 1, 9, 2]),), (np.array([4]),))
def lists_in_a_heap(counts):
    heap = [(int(n), i, [int(n) * 2]) for i, n in enumerate(counts)]
    heapq.heapify(heap)
    while len(heap) > 1:
        n, _, first = heapq.heappop(heap)
        m, i, second = heapq.heappop(heap)
        heapq.heappush(heap, (n + m, i + 10, first + second))
    return heap


@cases.each(*SIZES, (-np.abs(X),))
def of_a_given_type(x):
    places = [i for i in range(len(x)) if x[i] > 0]
    by_keyword = np.asarray(places, dtype=np.float32)
    return np.array(places, float), by_keyword, np.array(places, bool).all(), np.array(places, int) * 2


@cases(np.arange(4000.0), [3, 0])
def long_ones_in_dicts(x, k):
    found = []
    for i in range(k[0]):
        some = x[x > 1000 * i]
        found.append({"n": len(some), "last": np.sort(some)})
    return found


@cases.each(*SIZES)
def folded_and_stored_at(x):
    places = [i for i in range(len(x)) if x[i] > 0]
    counts = np.zeros(len(x) + 1, int)
    np.add.at(counts, places, 1)
    signs = np.concatenate([np.ones(len(places), int), -np.ones(len(places), int)])
    np.add.at(counts, np.arange(len(signs)) % 2, signs * 3)
    return counts, np.maximum.accumulate(places), np.subtract.outer(places, x)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def of_all_windows(x: np.ndarray, k: int) -> float:
    return np.concatenate(windows(x, k)).sum() + (np.array(rows_of_pairs(x)) ** 2).sum()


def test_gradient() -> None:
    step = 1e-6
    numeric = [
        (of_all_windows(X + step * e, 3) - of_all_windows(X - step * e, 3)) / (2 * step) for e in np.eye(9)
    ]
    np.testing.assert_allclose(pystage.grad(of_all_windows)(X, 3), numeric, rtol=1e-6)
