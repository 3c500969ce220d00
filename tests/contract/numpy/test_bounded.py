"""Arrays whose size only the run knows: found, kept, returned, indexed, stored into, combined."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.arange(10.0) - 4
NONE = -np.abs(X)
PLACES = np.array([3, 1, 1, 0, 7, 3])
M = np.arange(20.0).reshape(4, 5)
K = [np.array([k]) for k in (0, 1, 3, 10, -2, 99)]


@cases.each((X,), (NONE,), (X[:0],))
def selected(x):
    return x[x > 0]


@cases.each((X,), (NONE,))
def selected_twice(x):
    y = x[x > 0]
    return y, y, {"rest": y[1:]}


@cases.each((X,), (NONE,))
def selected_and_changed(x):
    y = x[x > 1]
    y[:2] = 7
    y *= 2
    return y, y.sum(), x


@cases.each((X, K[2]), (X, K[0]), (X, K[4]), (X, K[5]))
def prefix(x, k):
    y = x[: k[0]]
    y += 1
    return y, x


@cases.each((X, K[2]), (X, K[1]))
def shared_memory(x, k):
    y = x[: k[0]]
    z = y[::-1]
    z[0] = 99
    return y, z, x


@cases.each((M, K[2]), (M, K[1]))
@cases(M, K[3], raises=ValueError)
def two_axes(m, k):
    k = int(k[0])
    part = m[:k, :k]
    return part, part.sum(axis=0), part.T, part.mean(axis=1), part @ m[:k, 1]


@cases.each((PLACES - 2,), (-PLACES,), (PLACES,))
def powers_without_the_rest(i):
    y = i[i >= 0]
    z = np.array(i[i >= 0])
    z **= y
    return 2**y, y**y, z, np.power(3, y), i[i < 0] ** 2


@cases(PLACES - 2, raises=ValueError)
@cases(PLACES)
def negative_powers(i):
    return 2 ** i[i != 0], i[i < 0] ** -1


@cases.each((M, K[1]), (M, K[2]))
def rank_one_update(m, k):
    k = int(k[0])
    m[k + 1 :, k + 1 :] -= np.outer(m[k + 1 :, k], m[k, k + 1 :])
    return m


@cases.each((M,), (M - 30,))
def of_matrices(m):
    return m[m > 4], m[:, m[0] > 1], m[m[:, 0] > 4, 1:], m[m > 4].size


@cases.each((X,), (NONE,))
def places(x):
    return np.nonzero(x > 1), np.flatnonzero(x), np.argwhere(x > 0), np.where(x > 2)[0], (x < 0).nonzero()


@cases.each((M,))
def places_in_matrices(m):
    i, j = np.nonzero(m % 3 == 1)
    return i, j, np.argwhere(m > 12), m[i, j]


@cases.each((PLACES,), (PLACES * 1.5,), (PLACES[:0],), (PLACES > 1,), (np.array([np.nan, 1.0, np.nan]),))
def unique(x):
    return np.unique(x)


@cases.each((PLACES,), (PLACES[:1],))
def unique_and_more(x):
    return np.unique(x, return_index=True, return_inverse=True, return_counts=True)


@cases.each((PLACES, PLACES[:3] + 2), (PLACES, PLACES[:0]))
def sets(x, y):
    return np.union1d(x, y), np.intersect1d(x, y), np.setdiff1d(x, y), np.setxor1d(x, y)


@cases.each((X, K[2]), (X, K[0]))
def compressed(x, k):
    c = x > k[0] - 2
    return np.compress(c, x), np.extract(c, x), np.trim_zeros(x * c)


@cases.each((X, K[2]), (X, K[0]))
def made(x, k):
    n = max(min(int(k[0]), 8), 0)
    a = np.zeros(n)
    a[:1] = 3
    return a, np.ones((n, 2)), np.arange(n), np.arange(1, 2 * n, 2) * 1.5, np.full(n, 7), len(a)


@cases.each((X,), (NONE,))
def joined(x):
    y, z = x[x > 1], x[x < 0]
    return np.concatenate((y, z, x)), np.append(y, 5.0), np.hstack([z, y])


@cases.each((X,), (NONE,))
def side_by_side(x):
    m = x > 0
    return np.stack((x[m], x[::-1][m]), axis=1), np.column_stack((x[m], m[m])), np.vstack((x[m], x[m] * 2))


@cases(X)
def in_order(x):
    y = x[x != 0]
    ends = np.diff(y, prepend=-1), np.diff(y, 2, append=[5, 6])
    return ends, np.sort(y), np.argsort(y), np.cumsum(y), np.diff(y), y.cumprod(), np.sort(y[::-1])[:2]


@cases.each((X,))
def statistics(x):
    y = x[x > -2]
    return (
        np.median(y),
        np.percentile(y, 30),
        np.quantile(y, [0.1, 0.9]),
        y.std(),
        y.max(),
        y.argmin(),
        np.ptp(y),
    )


@cases.each((X,), (NONE,))
def in_other_shapes(x):
    y = x[x > -3]
    return (
        y.reshape(-1, 1),
        y[:, None] * y[None, :],
        np.atleast_2d(y),
        y[y.size // 2 :].reshape(1, -1),
        y.ravel(),
    )


@cases.each((X,))
def elementwise(x):
    y = x[x > -2]
    return (
        np.where(y > 0, y, -1),
        np.clip(y, 0, 2),
        np.round(y / 3, 1),
        y.astype(int),
        np.maximum(y, y[::-1]),
        abs(y),
    )


@cases.each((X, PLACES), (NONE, PLACES))
def by_places(x, i):
    y = x[x > -9]
    j = i[i > 0]
    return y[i], x[j], y[j[j < 3]], y[[0, -1]]


@cases.each((X, np.arange(6.0)), (X, np.arange(1.0)))
@cases(X, np.arange(5.0), raises=ValueError)
def stored(x, v):
    x[x > -1] = v
    return x


@cases.each((X, np.arange(3.0), K[2]), (X, np.arange(1.0), K[2]))
@cases(X, np.arange(3.0), K[1], raises=ValueError)
def stored_into_slices(x, v, k):
    x[: k[0]] = v
    return x


@cases(X, K[2])
@cases(X, K[0], raises=ValueError)
def sizes_that_may_differ(x, k):
    return x[: k[0]] + x[x > 2]


@cases.each((X,), (NONE,))
def folded(x):
    t = 0.0
    for v in x[x > 0]:
        t = t * 2 + v
    for i, v in enumerate(x[x < 0]):
        t += i * v
    return t


@cases.each((0, 2.0), (3, 2.0))
@cases(5000, 0.5, interpreted=False)
def sizes_up_to_an_argument(n, x):
    """The loop is not written out: what `i` may be follows from `n`, which is asked for."""
    t = 0.0
    for i in range(n - 1, -1, -1):
        t += (np.arange(i + 1) * x).sum() + len(np.zeros(i))
    return t


@cases.each((X,), (X + 9,))
def as_iterables(x):
    """What Python's own functions do with the elements one by one."""
    y = x[x > -2]
    found = list(y), y.tolist(), sorted(y), max(y), min(y, key=abs), sum(y), list(reversed(y))
    return (
        *found,
        any(y > 3),
        any(y),
        all(y),
        2.0 in y,
        -3.0 in y,
        list(range(len(y))),
        isinstance(y, np.ndarray),
    )


@cases(NONE)
def as_empty_iterables(x):
    y = x[x > 0]
    return list(y), y.tolist(), sorted(y), max(y, default=7.0), sum(y), list(reversed(y)), 0.0 in y


@cases(NONE, raises=ValueError)
def greatest_of_none(x):
    return max(x[x > 0])


@cases(np.arange(300), K[2], runs=1, interpreted=False)
@cases(np.arange(300) % 3 > 1, K[2], runs=1, interpreted=False)
@cases(np.arange(300.0, dtype=np.float32), K[1], runs=1, interpreted=False)
@cases(jnp.arange(300), K[3], runs=1, interpreted=False)
def lists_of_many(x, k):
    """Of many elements a list has rows, not one value for each."""
    y, z = list(x), x.tolist()
    y[k[0]] = y[0]
    z.append(z[k[0]])
    return y, z, max(x), sorted(z)[:3], len(y)


class Box:
    def __init__(self, x):
        self.kept = x[x > 0]

    def total(self):
        return self.kept.sum() + len(self.kept)


@cases.each((X,))
def in_attributes(x):
    box = Box(x)
    box.kept -= 1
    return box.total(), box.kept


@cases.each((jnp.asarray(X),))
def of_jax(x):
    y = x[x > 0]
    return y, y.sum(), y[1:], jnp.where(y > 2, y, 0.0)


NUMBERS = np.array([4, 0, 2, 4])


@cases.each((NUMBERS,), (NUMBERS[:0],), (NUMBERS + 200,), (NUMBERS.astype(np.int8),))
@cases(NUMBERS - 1, raises=ValueError)
@cases(NUMBERS.astype(float), raises=TypeError)
def counts(x):
    return (
        np.bincount(x),
        np.bincount(x, minlength=3),
        np.bincount(x, np.arange(len(x)) / 2, 300),
        np.bincount(x[x > 1]),
    )


@cases.each((X, NUMBERS), (X, NUMBERS[:0]))
@cases(X, NUMBERS - 1, raises=ValueError)
def repeated(x, n):
    first = n[:1].sum()
    return (
        np.repeat(x[: len(n)], n),
        np.repeat(x, first),
        np.tile(x[x > 0], first),
        np.zeros(n.sum()),
        np.resize(x, first),
    )


@cases(X, NUMBERS * 40, runs=1, interpreted=False)
def repeated_often(x, n):
    return np.repeat(x[: len(n)], n)


@cases.each((X, PLACES), (X, PLACES[:0]))
@cases(X, PLACES + 9, raises=IndexError)
def without(x, i):
    return (
        np.delete(x, i),
        np.delete(x[x > -3], i[:1]),
        np.delete(x, x > i.sum()),
        np.delete(M, i[i < 4], axis=0),
    )


@cases.each((X, PLACES), (X, PLACES[3:4]))
def with_more(x, i):
    y = x[x > 1]
    return (
        np.insert(x, i, 7),
        np.insert(y, 1, y),
        np.insert(x, i[i > 1], x[: len(i[i > 1])]),
        np.insert(y, [0, 2], [8, 9]),
    )


@cases.each((X, K[2]), (X, K[0]), (X, K[3]), (X, K[4]))
def in_parts(x, k):
    a, b, c = np.split(x, [k[0], 7])
    b += 1
    return a, b, c, x, np.array_split(x[x > 0], 3)


@cases.each((M % 3,), (M[:1],))
def different_lines(m):
    return np.unique(m % 2, axis=0, return_index=True, return_inverse=True, return_counts=True), np.unique(
        m % 2, axis=1
    )


@cases.each((X,), (X[::-1],))
@cases(X + 1, raises=ValueError)
@cases(NONE, raises=ValueError)
def truth(x):
    y = x[x > 4]
    if y:
        return y.item() + y.item(0)
    return not y


@cases.each((X, PLACES), (X, PLACES[:0]))
def added_at(x, i):
    y = x[x > -4]
    np.add.at(y, i[i > 0], 0.5)
    np.add.at(x, i[i > 0], x[: len(i[i > 0])])
    y[i[i < 3]] = 7
    return y, x


@cases(X, K[2])
@cases(X, np.array([2]))
@cases(X, np.array([9]))
def a_name_of_what_a_loop_made_shorter_before_another(x, k):
    n, m = k[0], k[0] - 1
    y = (x + 0)[-3:]
    while len(y) > n:
        y = y[1:]
    before = y
    while len(y) > m:
        y = y[y > y.min()]
    y[:1] = 9
    return y, before


@cases.each((X, K[5]), (X, K[1]))
def maybe_shorter(x, k):
    y = x[x > 0]
    z = y
    while len(z) > k[0]:
        z = z[1:]
    return y, [z]


@cases.each((X, K[3]), (X, K[1]))
def maybe_another(x, k):
    y = x[x > 0]
    z = y
    if k[0] > 3:
        z = y[1:]
    return {"y": y}, z


@cases.each((X, K[1]), (NONE, K[3]), (X, K[3]))
def maybe_a_copy(x, k):
    y = x[x > -9]
    z = y.copy()
    if k[0] > 3:
        z = x[x > 0]
    return y, z


@cases.each((M, K[0]), (M, K[2]), (M, K[4]))
@cases(M, K[1], refused="PS221")
@cases(M, K[3], refused="PS221")
def flat_part(m, k):
    return m[:, : k[0]].ravel()


@cases.each((M, K[0]), (M, K[2]), (M, K[3]))
@cases(M, K[1], refused="PS221")
def flat_part_of_columns(m, k):
    return m.T[: k[0], ::2].reshape(-1)


@cases.each((M, K[2]), (M, K[0]), (M, K[5]))
def diagonals(m, k):
    square = np.zeros((abs(k[0]), abs(k[0])), int)
    square += 3
    diagonal, beside = np.diag(square), square.diagonal(1)
    square[:1, :] = 7
    rows, turned = m[m[:, 0] > 4], square[::-1, ::-1]
    square[1:2, 2:] = 5
    return (
        square,
        turned.diagonal(1),
        turned.diagonal(-1),
        diagonal,
        beside,
        np.diag(rows),
        np.diag(m[0, : k[0]], -1),
        np.trace(m[k[0] :, 1:]),
    )


@cases(M, K[2], raises=ValueError)
def stored_into_a_diagonal(m, k):
    np.diag(m[: k[0], : k[0]])[0] = 1


@cases.each((M, K[2]), (M, K[0]), (M, K[3]))
def lists_of_rows(m, k):
    pairs = [(a, b) for a, b in m[: k[0], :2].tolist()]
    return m[: k[0]].tolist(), m[:, : k[0]].tolist(), pairs


@cases.each((M, K[2]), (M, K[1]))
def padded(m, k):
    part = m[: k[0], 1:] > 3
    wide = np.pad(part, 1)
    return wide, wide[:-2, 1:-1] & part, np.pad(m[: k[0]], ((1, 2), (0, k[0])), mode="edge")


@cases.each((X, K[0]), (X, K[3]))
def positions_in_nothing(x, k):
    y = x[:0] * 2
    found = y[np.flatnonzero(y < k[0])]
    return found, np.append(found, x), len(found)


@cases(X, K[5])
@cases.each((X, K[0]), (X, K[3]), raises=IndexError)
def positions_outside_of_nothing(x, k):
    return (x[:0] * 2)[np.flatnonzero(x > k[0] - 9)]


@cases(X, K[5])
@cases.each((X, K[0]), (X, K[3]), raises=IndexError)
def stored_into_nothing(x, k):
    a, at = np.zeros((0, 3)), np.flatnonzero(x > k[0] - 9)
    a[at] = 5
    a[at] += 1
    return a, a[at, 1:]


@cases(X, K[5])
@cases.each((X, K[0]), (X, K[1]), raises=IndexError)
def masks_of_nothing(x, k):
    a, mask = np.zeros((0, 3)), x[x > k[0]] > 2
    a[mask] = 3
    return a[mask], len(a[mask])


@cases(X, K[1])
@cases(X, K[2], refused="PS221")
def one_beside_several_where_errors_are_caught(x, k):
    y, z = x[x > 4], x[x > 5 - k[0]]
    try:
        return np.minimum(y, z)
    except ValueError:
        return z


@cases.each((X, K[5]), (X, K[0]), (X, K[1]))
def rows_of_nothing_or_of_some(x, k):
    rows = [x[i : i + 2] for i in range(len(x) - 1) if x[i] > k[0]]
    a = np.vstack(rows) if rows else np.zeros((0, 2))
    sums = np.array([row.sum() for row in a])
    return a[sums > 3], a.shape


@cases.each((M, K[0]), (M, K[1]), (M, K[2]), (M, K[4]))
def flat_products(m, k):
    y = m[0, : k[0]]
    flat = (y[:, None] * y).T.ravel()
    flat[:1] = 99.0
    return flat, (m[: k[0], : k[0]] * 2).T.ravel()


@cases(M, K[2], refused="PS606")
@cases(M, K[1], refused="PS606")
def flattened_as_a_view_or_a_copy(m, k):
    flat = m[: k[0], : k[0]].reshape(-1)
    flat[0] = 99.0
    return m


@cases.each((M, K[2]), (M, K[1]))
def flattened_as_a_view(m, k):
    flat = m[: k[0]].ravel()
    flat[0] = 99.0
    return m, flat.sum()


@cases.each((X, K[2]), (X, K[3]))
def made_arrays(x, k):
    y, z = x[x > 1], x[: k[0]]
    rows = np.array([y, y], np.float32), np.array(y, ndmin=2), np.ascontiguousarray(z[::2])
    own, same, kept = np.asarray(z, copy=True), np.array(z, copy=False), z.astype(float, copy=False)
    own[:1], same[1:2], kept[2:3] = 50.0, 60.0, 70.0
    return rows, own, same, kept, x


@cases(X, K[2], refused="PS606")
def copied_if_it_is_not_contiguous(x, k):
    packed = np.ascontiguousarray(x[: k[0] : 2])
    packed[:1] = 80.0
    return x


@cases(M, K[2], refused="PS221")
def reshaped_with_a_copy(m, k):
    made = np.reshape(m[: k[0]], -1, copy=True)
    made[:1] = 90.0
    return m


@cases.each((M, K[2]), (M, K[1]))
def options_of_arrays_without_bounded_axes(m, k):
    r, y = m[: k[0]], m[m[:, 0] > 1][:, 1]
    norms = np.linalg.norm(r, axis=1, keepdims=True), np.linalg.vector_norm(y, keepdims=True)
    products = np.tensordot(r, m, ([1], [1])), np.tensordot(m[:, :1], r[:, 0], 0), np.vecdot(r, m[0])
    order = np.partition(y, 0, kind="introselect"), np.nanquantile(y, [0.2, 0.5], method="lower")
    shapes = np.moveaxis(r, (0, 1), (1, 0)), np.diagflat(y), np.trace(r, 1, dtype=np.float32)
    of_jax = jnp.trace(jnp.asarray(r)), jnp.tril(r), jnp.diag(y), jnp.select([jnp.asarray(y) > 3], [y], 0)
    return norms, products, order, shapes, of_jax


@cases.each((M, K[2]), (M, K[1]))
def einsum_with_options(m, k):
    r = m[: k[0]]
    across = np.einsum("ij->ji", r)
    across[0, 0] = 7.0
    sums = np.einsum("ij,ij->i", r, r, optimize=True), np.einsum("ij->", r, dtype=np.float32)
    products = np.einsum("ij,kj->ik", r, m), jnp.einsum("ij,j->i", jnp.asarray(r), m[0])
    return m, across, sums, products


@cases(M, K[2])
def tensordot_of_sizes_that_differ(m, k):
    try:
        return np.tensordot(m[: k[0]], m[: k[0] + 1], ([0], [0]))
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def test_a_result_does_not_keep_the_memory_of_its_bound() -> None:
    result = pystage.compile(selected)(X)
    assert result.flags.owndata
    assert np.array_equal(result, selected(X))


def padded_by_some(x, p):
    y = x[x[:, 0] > 0]
    n = int(abs(y.sum())) % 3
    return np.pad(y, ((0, p), (n, 1))), np.pad(y, (1, n)), np.pad(y, ((1, n),)), np.pad(y, [[1, 0], [0, n]])


def test_widths_that_are_known_stay_so_beside_others() -> None:
    check(padded_by_some, np.random.default_rng(0).standard_normal((5, 3)), 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda y, k: np.roll(y[:k], (1, 2), axis=None),
        lambda y, k: np.polyval([], y[:k].astype(np.int64)),
        lambda y, k: np.polyval([], y.astype(np.int64)),
        lambda y, k: np.kaiser(k, y.astype(np.float32)[0]),
        lambda y, k: np.linspace(y[0], 1.0, 1, retstep=True),
        lambda y, k: (np.delete(y, []), np.delete(y[:k], [])),
    ],
    ids=["roll", "polyval", "polyval-known", "kaiser", "linspace", "delete"],
)
def test_rare_options(function):
    check(function, np.arange(6.0) + 1.5, 3)


def test_the_type_of_a_greatest_element_is_refused() -> None:
    check(lambda x: np.maximum.reduce(x, dtype=int), X, refused="PS203")


def test_an_array_of_shifts_is_refused() -> None:
    check(lambda x: np.roll(x, np.arange(2)), X, refused="PS203")


def test_the_order_in_memory_of_what_is_selected_is_not_known() -> None:
    check(lambda x: x[:, x[0] > 0].reshape(-1, order="A"), X.reshape(2, -1), refused="PS203")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.clip(x[x > 1], 0.0, 1.0),
        lambda x: x[x > 1].clip(0.0, 1.0),
        lambda x: np.nansum(x[x > 1]),
        lambda x: np.linalg.norm(x[x > 1]),
        lambda x: np.einsum("i,i", x[x > 1], x[x > 1]),
        lambda x: np.fft.fft(x[x > 1]),
    ],
    ids=["clip", "method", "nansum", "norm", "einsum", "fft"],
)
def test_what_treats_bfloat16_as_no_float_refuses_selected_elements(function):
    check(function, np.arange(4.0).astype(jnp.bfloat16), refused="PS203")


@pytest.mark.parametrize("sections", [2.0, 2.7, True, [True], 3])
def test_parts_of_an_array(sections):
    check(lambda x: (np.array_split(x, sections), jnp.array_split(x, sections)), X)


def test_nothing_repeated_less_than_never_is_refused() -> None:
    check(lambda x, k: np.tile(x[:k], -1), X, 0, refused="PS203")
