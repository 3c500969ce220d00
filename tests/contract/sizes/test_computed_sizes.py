"""What needs sizes, lengths or choices that only the run knows, as programs write it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()


@cases(np.arange(3.0))
def argwhere(x):
    return np.argwhere(x > 0)


@cases(np.arange(3.0))
def flatnonzero(x):
    return np.flatnonzero(x > 0)


@cases(np.arange(3.0), np.arange(2.0, 5.0))
def intersect(x, y):
    return np.intersect1d(x, y)


@cases(np.arange(3.0), np.arange(2.0, 5.0))
def setdiff(x, y):
    return np.setdiff1d(x, y)


@cases(np.array([3, 1, 3]))
def unique_values(x):
    return np.unique(x)


@cases(np.array([0.0, 1.0, 0.0]))
def trim_zeros(x):
    return np.trim_zeros(x)


@cases(np.array([3, 1, 3]))
def unique_counts(x):
    values, counts = np.unique(x, return_counts=True)
    return values[np.argmax(counts)]


@cases(np.array([-1.0, 2.0, 3.0]))
def first_of_a_mask(x):
    positive = x[x > 0]
    return positive[0]


@cases(np.array([-1.0, 2.0, 3.0, 4.0]))
def places_as_arrays_without_axes(x):
    positive = x[x > 0]
    positive[0, ...] = 9.0
    part, last = positive[1, ...], positive[..., -1]
    part += 1.0
    return positive, part, last, x[: len(positive)][1, ...]


@cases(np.ones(4))
def mask_outer(x):
    return np.outer(x[x > 0], x)


@cases(np.ones(4))
def mask_reshape_pairs(x):
    return x[x != 0].reshape(-1, 2)


@cases(np.ones(4))
def mask_stack(x):
    return np.stack([x[x > 0], x[x > 0]])


@cases(np.array([1.0, -1.0, 2.0]))
def masked_use(x):
    positive = x[x > 0]
    return positive.reshape(-1, 1)


@cases(np.arange(8.0))
def shrinking(x):
    while len(x) > 1:
        x = x[x > x.mean()]
    return x


@cases(np.ones(5_000), runs=1, interpreted=False)
def prefixes_of_many_lengths(x):
    total = 0.0
    for i in range(1, 5_000):
        total += x[:i].reshape(1, -1).sum()
    return total


@cases(np.array([1.5, 2.0, 0.5]))
def list_and_break(x):
    times = [0.0]
    while times[-1] < 10.0:
        step = x[len(times) % 3]
        if step == 0:
            break
        times.append(times[-1] + step)
    return np.array(times)


@cases(1.0)
def star_arguments(x):
    args = [x]
    if x > 0:
        args.append(x)
    return max(0.0, *args)


def no_negative(x):
    if x.min() < 0:
        raise ValueError(x[x < 0])
    return np.sqrt(x)


@cases(np.ones(3))
def raises_with_a_selection(x):
    return no_negative(x).sum()


@cases(5.0)
def list_in_while(x):
    path = [x]
    while x > 1.0:
        x = x / 2
        path.append(x)
    return np.array(path)


@cases(np.ones(4))
def enumerate_of_a_mask(x):
    total = 0.0
    for k, value in enumerate(x[x > 0]):
        total += k * value
    return total


@cases(np.ones(4))
def mask_list(x):
    return [2 * v for v in x[x > 0]]


ACTIVATIONS = [np.tanh, np.sin, np.cos]


@cases(np.array([1.0, 2.0]))
def functions_in_a_list(x):
    return ACTIVATIONS[int(x[0])](x)


@cases(np.array([1.0, 2.0]))
def index_of_a_list(x):
    choices = [x, x.sum(), "none"]
    return choices[int(x[0])]


@cases(np.array([1.0, 2.0]))
def trips_of_a_tuple_index(x):
    units = ("m", 1, 2.5)
    n = int(x[0])
    return units[n % 3], x


@cases(np.ones(3), 0.5)
def two_arguments(x, level):
    return np.zeros(int(x.max() > level) + 2)


@cases(1.0, runs=1, interpreted=False)
def list_of_steps(x):
    t, path = 0.0, [x]
    while t < 1.0:
        t = t + 0.001
        x = x * 0.999
        path.append(x)
    return path


@cases(np.ones(3), runs=1, interpreted=False)
def scales_of_a_tuple_in_many_trips(x):
    scales = (0.5, 1, 2.0)
    for i in range(6_000):
        x = x * scales[i % 3]
    return x


@cases(np.array([1.0, 2.0, 0.5]), runs=1, interpreted=False)
def breaks_of_an_inner_loop(x):
    found = []
    for i in range(60):
        for j in range(60):
            if i == j:
                continue
            if x[i % 3] > j:
                break
            found.append(j)
    return found


SCALES = (0.5, 1, 2.0)


@cases(np.ones(1_000), runs=1, interpreted=False)
def scales_of_a_tuple(x):
    for i in range(1_000):
        x[i] = x[i - 1] * SCALES[i % 3] + 1.0
    return x.sum()


@cases(jnp.arange(3.0))
def jax_mask(x):
    return x[x > 0]


@cases(np.array([1.0, 3.0]))
def range_to_a_value(x):
    return np.arange(int(x.max()))


@cases(np.ones(2))
def identity_of_a_computed_size(x):
    return np.eye(int(x.sum()))


@cases(np.array([2.0, 1.0]))
def bins_of_a_computed_number(x):
    return np.histogram(x, bins=int(x[0]))[0]


@cases(np.ones(2))
def zeros_of_a_computed_length(x):
    n = int(x.sum())
    return np.zeros(n)


@cases(np.array([2.0, 1.0]))
def linspace_of_a_computed_length(x):
    return np.linspace(0.0, 1.0, int(x[0]))


@cases(np.array([1.0, 2.0]))
def padded_to_a_value(x):
    return np.concatenate([x, np.zeros(int(x.max()))])


@cases(np.array([2, 1, 0]))
def one_hot(labels):
    classes = labels.max() + 1
    return np.eye(classes)[labels]


@cases(np.array([2, 0]), raises=ValueError)
def identity_of_negative_size(labels):
    return np.eye(labels[1] - 3)


@cases(raises=ValueError)
def identity_of_known_negative_size():
    return np.eye(-1)


@cases(np.arange(2.0), np.array([2, 2]))
def repeat_by_counts(x, counts):
    return np.repeat(x, counts)


@cases(np.ones(2))
def tile_by_a_value(x):
    return np.tile(x, int(x[-1]))


@cases(np.array([2.0, 1.0]), refused="PS504")
def split_into_a_computed_number(x):
    return np.split(x, int(x[0]))


@cases(np.array([3, 1, 3]))
def bincount(labels):
    return np.bincount(labels)


@cases(np.array([[2.0, 1.0], [0.0, 3.0], [2.0, 1.0]]))
def unique_rows(x):
    return np.unique(x, axis=0)


@cases(np.arange(12.0).reshape(4, 3), np.array([1, 3, 4]))
def einsum_of_parts(x, sizes):
    weights = [np.einsum("ij,j->i", x[:n], x[n - 1]).sum() for n in sizes]
    return weights, np.einsum("ij,ik->jk", x[: sizes[1]], x[: sizes[1]])


@cases(np.ones(4), np.ones(3), np.array([2, 3]), raises=ValueError)
def einsum_of_parts_of_different_sizes(x, y, sizes):
    return np.einsum("i,i->", x[: sizes[0]], y[: sizes[1]])


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


def attention(cache, query):
    """What a token sees of those before it, as in decoding with a cache of keys and values."""
    total = jnp.zeros(3)
    for t in range(len(cache)):
        shares = jax.nn.softmax(jnp.einsum("d,td->t", query, cache[: t + 1]))
        total = total + jnp.einsum("t,td->d", shares, cache[: t + 1])
    return total


def test_a_loop_over_growing_parts_of_a_cache_rolls():
    sizes = [
        pystage.compile(attention, fallback="error")
        .lower(jnp.ones((n, 3)), jnp.ones(3))
        .instruction_counts()
        .total
        for n in (10, 40)
    ]
    assert sizes[0] == sizes[1]
    check(attention, jnp.arange(30.0).reshape(10, 3) / 30, jnp.ones(3))
