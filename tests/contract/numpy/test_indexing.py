"""NumPy: reading by index. Basic indices, integer arrays, masks that are reduced at once.

What is a view in the plain run is used at once (`+ 0`), except in the last section, where it is returned.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

V = np.array([10.0, 20.0, 30.0, 40.0, 50.0])
M = np.arange(12.0).reshape(3, 4)
T = np.arange(24.0).reshape(2, 3, 4)
ORDER = np.array([2, 0, -1])


# ---------------------------------------------------------------- basic


@cases(V)
def items_and_slices(x):
    return (
        x[0],
        x[-1],
        x[1:3] + 0,
        x[:-1] + 0,
        x[::2] + 0,
        x[::-1] + 0,
        x[3:1:-1] + 0,
        x[10:] + 0,
        x[-2:] + 0,
        x[:] + 0,
    )


@cases.each((V, 2), (V, -1), (V, 0))
def dynamic_item(x, i):
    return x[i], x[i] * 2, x[i - 1]


@cases.each((M, 1, 2), (M, -1, -1), (M, 0, 0))
def dynamic_items_of_a_matrix(x, i, j):
    return (
        x[i, j],
        x[i][j],
        x[i] + 0,
        x[:, j] + 0,
        x[i, 1:] + 0,
        x[0:2, j] + 0,
    )


@cases(M)
def slices_of_a_matrix(x):
    return x[1] + 0, x[:, 1] + 0, x[1:, :2] + 0, x[::2, ::-1] + 0, x[1, 2], x[-1, 1:3] + 0, x[2][1]


@cases(T)
def ellipsis_and_new_axes(x):
    return (
        x[..., 0] + 0,
        x[0, ...] + 0,
        x[..., 1:, 0] + 0,
        x[None] + 0,
        x[:, None, 0] + 0,
        x[..., None, 0] + 0,
        x[1, ..., 2] + 0,
    )


@cases(M)
def slice_objects(x):
    rows, columns = slice(0, 2), slice(None, None, 2)
    index = (rows, columns)
    return x[rows] + 0, x[index] + 0, x[rows, 1] + 0, x[(1, 2)]


@cases(np.array([3, 1, 2]), V)
def item_by_a_value_of_an_array(order, x):
    total = 0.0
    for i in range(len(order)):
        total += x[order[i]] * i
    return total, x[order[0]], x[order.argmax()]


@cases(V, np.int32(2), np.uint8(1))
def item_by_a_numpy_scalar(x, i, j):
    return x[i], x[j], x[i - 1], x[i - j]


@cases(M)
def rows_in_a_loop(x):
    total = np.zeros(4)
    for i in range(len(x)):
        total = total + x[i] * i
        for j in range(i, x.shape[1]):
            total = total + x[i, j]
    return total


@cases(V, 3)
def neighbours_in_a_loop(x, n):
    total = 0.0
    for i in range(1, n):
        total += (x[i + 1] - x[i - 1]) / 2
    return total


@cases.each((V, 1), (V, 3))
def slice_of_known_length_at_a_dynamic_start(x, i):
    return x[i : i + 2].sum()


@cases([1.0, 2.0, 3.0], 1)
def constant_index_of_structure(items, x):
    index = len(items) - 1
    return items[index] + x


# ---------------------------------------------------------------- integer arrays


@cases(V, ORDER)
def gather(x, i):
    return x[i], x[np.array([0, 0, 4])], x[[1, 2]], np.take(x, i), x.take([0, 1]), x[i[:2]], x[i][0]


@cases(V, np.array([[0, 1], [4, -5]]))
def gather_with_a_matrix(x, i):
    return x[i], x[i].sum(axis=0), x[i[0]], x[i, None]


@cases(M, np.array([2, 0]), np.array([1, -1]))
def gather_rows_and_columns(x, i, j):
    return x[i], x[:, j], x[i, j], x[i][:, j], x[i, 1], x[0, j], x[i[:, None], j], x[i, ...], x[..., j]


@cases(T, np.array([1, 0, 1]), np.array([2, 1, 0]))
def gather_in_three_dimensions(x, i, j):
    return (
        x[i],
        x[:, j],
        x[i, j],
        x[i, :, j],
        x[:, j, 1:3],
        x[i, 1],
        x[0, :, j],
        x[i, None, j],
        x[..., i, 0],
        x[:, i % 2, j % 2],
    )


@cases(M, np.array([0, 2]))
def gather_mixed_with_slices(x, i):
    return x[i, 1:3], x[1:, i], x[i, ::-1], x[None, i], x[i, None, :], x[:, i, None]


@cases(M, np.array([[0], [2]]), np.array([[1, 3]]))
def gather_broadcast(x, i, j):
    return x[i, j], x[np.ix_([0, 2], [1, 3])]


@cases(M, np.array([1, 0, 3]))
def take_along(x, j):
    return np.take(x, j, axis=1), np.take_along_axis(x, j[:, None], axis=1), np.choose(j % 2, [j, -j])


@cases(np.array([5, 6, 7], np.int8), np.array([2, 0], np.uint8), np.array([True, False]))
def gather_of_other_dtypes(x, i, flags):
    return x[i], flags[i % 2], x.astype(np.complex64)[i]


@cases(np.array([0, 1, 1, 3]))
def counting(labels):
    return np.bincount(labels, minlength=4)


# ---------------------------------------------------------------- masks, reduced at once


@cases(V, np.array([True, False, True, True, False]))
def masked_reductions(x, mask):
    return x[mask].sum(), x[mask].max(), x[mask].min(), x[mask].mean(), x[x > 15].sum(), (x > 15).sum()


@cases(M)
def masked_reductions_of_a_matrix(x):
    return x[x > 3].sum(), x[x % 2 == 0].max(), np.sum(x[x > 3]), np.mean(x[x < 5]), x[x > 100].sum()


@cases(V)
def masked_reductions_more(x):
    return x[x > 15].prod(), (x[x > 15] > 30).any(), (x[x > 15] > 0).all(), len(x[1:]), x[x > 15].std()


# ---------------------------------------------------------------- indexing jax.Arrays


@cases(jnp.asarray(M, jnp.float32), jnp.array([2, 0]))
def jax_indexing(x, i):
    return x[0], x[1, 2], x[:, 1], x[i], x[i, 1], x[i, i], x[..., None], x[::-1], x[-1, -1], x[i][:, 1:]


@cases.each((jnp.array([1.0, 2.0, 3.0]), 1), (jnp.array([1.0, 2.0, 3.0]), -1))
def jax_dynamic_item(x, i):
    return x[i], x[jnp.argmax(x)], jnp.take(x, i)


@cases(jnp.array([1.0, 2.0, 3.0]), np.array([0, 2]))
def jax_indexed_updates(x, i):
    return (
        x.at[0].set(9.0),
        x.at[i].add(1.0),
        x.at[1:].multiply(2.0),
        x.at[i].set(jnp.array([5.0, 6.0])),
        x.at[-1].max(10.0),
        x,
    )


# ---------------------------------------------------------------- unsigned indices

LINE = np.arange(5.0)


def unsigned(*places):
    return np.array(places, np.uint64)


@cases.each((LINE, unsigned(2, 1)), (LINE, unsigned(2**64 - 1, 2**64 - 5)))
@cases.each(
    (LINE, unsigned(1, 5)), (LINE, unsigned(2**64 - 6, 1)), (LINE, unsigned(2**63, 1)), raises=IndexError
)
def large_unsigned_places_count_from_the_end(x, places):
    x[places] = 7.0
    return x[places], np.take(x, places), np.take_along_axis(x, places, 0), np.take(x, places[0])


@cases.each((LINE, unsigned(2**63)), (LINE, unsigned(2**64 - 1)), raises=OverflowError)
def a_large_unsigned_place(x, places):
    x[1] = 7.0
    return x[places[0]]


@cases(LINE, unsigned(1, 2), raises=TypeError)
def put_takes_no_uint64(x, places):
    x[1] = 7.0
    np.put(x, places, 1.0)


# ---------------------------------------------------------------- views as results


@cases(V)
def view_of_an_argument(x):
    return x[1:3]


@cases(M)
def views_of_an_argument(x):
    return x.T, x[0], x.reshape(4, 3), x[:, None]


@cases(3.0)
def views_of_one_new_array(x):
    y = np.arange(4.0) * x
    return y, y[1:]


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
