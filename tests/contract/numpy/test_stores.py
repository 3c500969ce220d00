"""In-place stores: on arrays made inside and passed in, whole, by index, under branches and in loops."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

V = np.array([1.0, 2.0, 3.0, 4.0])
M = np.arange(12.0).reshape(3, 4)
N = np.array([5, 3, 8, 1])


# ---------------------------------------------------------------- places


@cases(V)
def store_items(x):
    x[0] = 10.0
    x[-1] = x[0] + x[1]
    x[1] += 5
    return x


@cases.each((V, 2, 9.0), (V, -1, 9.0))
def store_dynamic_item(x, i, value):
    x[i] = value
    x[i - 1] *= 2.0


@cases(M)
def store_in_a_matrix(x):
    x[0, 1] = 100.0
    x[1] = 7.0
    x[:, 2] = np.array([1.0, 2.0, 3.0])
    x[2, 1:3] = x[0, :2]
    x[-1, 0] = 55.0


@cases(V)
def store_slices(x):
    x[1:3] = 0.0
    x[::2] += 10.0
    x[2:] = x[:2]
    x[:] = x * 2


@cases(V)
def store_overlapping(x):
    x[1:] = x[:-1]
    x[::-1] = x


@cases(V)
def store_everything(x):
    x[...] = 3.0
    x[:] += np.arange(4.0)


@cases(V, np.array([2, 0]), np.array([9.0, 8.0]))
def store_by_integer_array(x, i, values):
    x[i] = values
    x[i] += 1.0
    x[[1, 3]] = 0.5


@cases(V)
def store_by_repeated_index(x):
    x[np.array([1, 1, 2])] += 1.0


@cases(M, np.array([0, 2]), np.array([1, 3]))
def store_by_integer_arrays(x, i, j):
    x[i, j] = -1.0
    x[i] *= 2.0
    x[:, j] += 0.5
    x[1, j] = np.array([70.0, 80.0])


@cases(np.zeros(3), np.array([0, 2, 2, 2, 1]))
def accumulate_at(x, labels):
    np.add.at(x, labels, 1.0)
    for i in range(len(labels)):
        x[labels[i]] += 10.0


@cases(np.array([1.0, -2.0, 3.0, -4.0]))
def store_by_mask(x):
    x[x < 0] = 0.0
    x[x > 2] += 10.0


@cases(M, np.array([True, False, True]))
def store_by_mask_of_rows(x, rows):
    x[rows] = 0.0
    x[x == 5.0] = -5.0


@cases(np.array([1.0, 2.0, 3.0]), np.array([False, True, True]))
def store_by_mask_from_an_array(x, mask):
    x[mask] *= -1.0
    x[~mask] = 100.0
    return x.sum()


# ---------------------------------------------------------------- augmented assignment


@cases(V, np.ones(4))
def augmented_in_place(x, y):
    x += y
    x *= 2
    x -= 1.5
    x /= y + 1
    x **= 2
    return x is y


@cases(N)
def augmented_integers(n):
    n += 1
    n *= 2
    n //= 3
    n %= 5
    n <<= 2
    n |= 1
    n ^= 3


@cases(np.array([1.0, 2.0], np.float32), np.array([0.5, 0.25]))
def augmented_keeps_the_dtype(x, y):
    x += y
    x *= 2.0
    return x


@cases(np.array([1.0, 2.0]))
def augmented_rebinds_scalars(x):
    s = x[0]
    s += 10.0
    n = 5
    n += 1
    return s, n, x


@cases(V)
def augmented_by_itself(x):
    x += x
    x *= x[0]
    return x


# ---------------------------------------------------------------- dtype of the stored value


@cases(np.array([1, 2, 3]), np.array([1.0, 2.0], np.float32), np.array([1, 2], np.int8))
def store_converts(n, x, small):
    n[0] = 7.9
    n[1] = True
    x[0] = 1
    x[1] = np.float64(0.1)
    small[0] = np.int64(300 - 256)


@cases(np.zeros(3, np.complex64), np.zeros(2, bool))
def store_into_other_dtypes(z, flags):
    z[0] = 1 + 2j
    z[1] = 3
    flags[0] = 5
    flags[1] = 0.0


# ---------------------------------------------------------------- whose array it is


@cases(3.0)
def store_into_a_new_array(x):
    y = np.zeros(4)
    y[0] = x
    y[1:] = y[0] * 2
    y[2] += 1
    return y


@cases(V)
def copies_are_separate(x):
    y = x.copy()
    z = x + 0
    y[0] = 100.0
    z[1] = 200.0
    return y, z


@cases(V)
def names_are_not_copies(x):
    y = x
    y[0] = 100.0
    x[1] = 200.0
    return y, y is x


@cases(V, V[::-1].copy())
def arguments_swapped(x, y):
    x, y = y, x
    x[0] = 50.0
    return y


@cases([np.zeros(2), np.zeros(3)], {"a": np.ones(2)})
def stores_through_structure(items, table):
    items[0][1] = 5.0
    table["a"] += 2.0
    for item in items:
        item[0] = 9.0
    first, *rest = items
    first[0] = 1.0


class Counter:
    def __init__(self):
        self.hits = np.zeros(3)
        self.total = 0

    def hit(self, i):
        self.hits[i] += 1.0
        self.total += 1
        return self


@cases(Counter(), 2)
def stores_through_an_object(counter, i):
    counter.hit(i).hit(0)
    counter.hits *= 2
    return counter.total


@cases(V)
def fancy_indexing_copies(x):
    y = x[np.array([0, 1])]
    y[0] = 100.0
    return y


@cases(V)
def stores_in_a_closure(x):
    def bump(i):
        x[i] += 1.0

    for i in range(4):
        bump(i)
    bump(0)


# ---------------------------------------------------------------- control flow


@cases.each((V, 1.0), (V, -1.0))
def store_under_a_branch(x, c):
    if c > 0:
        x[0] = c
    else:
        x[1] = c
    return x.sum()


@cases.each((V, 0.5), (V, 2.5))
def store_then_return_early(x, limit):
    for i in range(4):
        if x[i] > limit:
            x[i] = -1.0
            return i
        x[i] = 0.0
    return -1


@cases(np.arange(6.0))
def prefix_sum(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]


@cases(N)
def bubble_sort(x):
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


@cases(np.array([5.0, 2.0, 4.0, 6.0, 1.0, 3.0]))
def insertion_sort(x):
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key


@cases(V)
def swap_items(x):
    x[0], x[3] = x[3], x[0]
    t = x[1]
    x[1] = x[2]
    x[2] = t


@cases(30)
def sieve(n):
    prime = np.ones(31, dtype=bool)
    prime[:2] = False
    for i in range(2, n + 1):
        if prime[i]:
            j = i * i
            while j <= n:
                prime[j] = False
                j += i
    return prime


@cases(np.array([[1, 3, 1], [1, 5, 1], [4, 2, 1]]))
def dynamic_programming(cost):
    n, m = cost.shape
    best = np.zeros((n, m), dtype=cost.dtype)
    best[0, 0] = cost[0, 0]
    for i in range(1, n):
        best[i, 0] = best[i - 1, 0] + cost[i, 0]
    for j in range(1, m):
        best[0, j] = best[0, j - 1] + cost[0, j]
    for i in range(1, n):
        for j in range(1, m):
            best[i, j] = min(best[i - 1, j], best[i, j - 1]) + cost[i, j]
    return best[n - 1, m - 1], best


@cases(np.array([[4.0, 3.0], [6.0, 3.0]]))
def gaussian_elimination(a):
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k] = factor
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]


@cases(np.zeros((5, 5)), 3)
def heat_with_two_buffers(u, steps):
    u[2, 2] = 1.0
    for _ in range(steps):
        v = u.copy()
        for i in range(1, 4):
            for j in range(1, 4):
                u[i, j] = (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1]) / 4
    return u.sum()


@cases(np.zeros(3), np.zeros(3), 4)
def two_arrays_in_one_loop(x, y, n):
    for i in range(n):
        x[i % 3] += i
        y[i % 3] = x[i % 3] * 2
        x[0] -= y[2]


@cases(M)
def rows_stored_in_a_loop(x):
    for i in range(1, len(x)):
        x[i] = x[i] + x[i - 1]
        x[i, 0] = 0.0


# ---------------------------------------------------------------- jax.Arrays cannot be stored into


@cases(jnp.array([1.0, 2.0]), raises=TypeError)
def storing_into_a_jax_array(x):
    x[0] = 5.0
    return x


@cases(jnp.array([1.0, 2.0]), raises=TypeError)
def adding_to_a_jax_array_item(x):
    x[0] += 5.0
    return x


@cases(jnp.array([1.0, 2.0]), [jnp.array([3.0])])
def augmented_assignment_of_jax_arrays_rebinds(x, items):
    y = x
    x += 1.0
    items[0] *= 2.0
    return x, y, y is y


@cases(jnp.array([1.0, 2.0]), refused="PS210")
def identity_of_two_jax_arrays(x):
    y = x + 1.0
    return x is y


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
