"""`jax.Array`s whose size only the run knows, in functions of `jax.numpy` and in updates of others."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = jnp.asarray([2.0, -1.0, 0.5, 3.0, 0.25, 4.0])
NONE = -jnp.abs(X)
NAN = jnp.asarray([jnp.nan, 1.0, 0.0, -0.0, jnp.nan, 1.0])
WHOLE = jnp.asarray([3, 0, 1, 0, 3, 2])
M = jnp.arange(12.0).reshape(4, 3) - 5.0


# ---------------------------------------------------------------- results of as many elements as the values say


@cases.each((X > 1,), (WHOLE,), (M > 0,), (NONE > 0,))
def places(x):
    return jnp.nonzero(x), jnp.flatnonzero(x), jnp.argwhere(x), jnp.where(x), x.nonzero(), np.nonzero(x)


@cases.each((X,), (WHOLE,), (NAN,), (M,), (X[:0],))
def different(x):
    return jnp.unique(x), jnp.unique(x, return_counts=True)


@cases.each((X,), (WHOLE,), (NAN,), (M,))
def numbered(x):
    return jnp.unique(x, return_index=True, return_inverse=True, return_counts=True)


@cases.each((X, X > 0), (M, WHOLE[:4] > 0), (NONE, NONE > 0))
def chosen(x, where):
    return jnp.compress(where, x, axis=0), jnp.extract(x > 0, x), jnp.union1d(x, X)


@cases(X, X > 0)
@cases(X[:4], X > -1, raises=ValueError)
def longer_than_the_axis(x, where):
    return jnp.compress(where, x)


@cases(X)
def of_a_known_size(x):
    return jnp.where(x > 1, size=3), jnp.nonzero(x > 1, size=5, fill_value=-1), jnp.unique(x, size=4)


@cases.each((X,), (NONE,))
def used_further(x):
    (at,) = jnp.nonzero(x > 0)
    return x[at] * 2, at.shape[0], x[at].sum(), jnp.zeros(len(at)), jnp.arange(at.size)


@cases.each((X,), (NAN,), (X[:2],))
def joined_and_moved(x):
    y = x[x > 0.4]
    return (
        jnp.hstack((y, x)),
        jnp.column_stack((y, y)),
        jnp.dstack((y, y)),
        jnp.roll(y, 1),
        jnp.diff(y, append=1.0),
        jnp.array_split(y, 2),
        jnp.lexsort((y,)),
    )


@cases([1.0, 0.0], refused="PS651")
def of_a_list(x):
    return jnp.nonzero(x)


# ---------------------------------------------------------------- what functions make of them


@cases.each((X,), (NONE,))
def joined(x):
    y = x[x > 0]
    ends = jnp.concatenate([y, x]), jnp.concatenate([x, y, y]), jnp.append(y, 1.0), jnp.hstack([y, y])
    return ends, jnp.stack([y, y]), jnp.stack([y, y], 1), jnp.vstack([y, y]), jnp.column_stack([y, y])


@cases.each((X,), (NONE,))
def copied(x):
    y = x[x > 0]
    return jnp.array(y), jnp.asarray(y), jnp.copy(y), jnp.array([y, y]), jnp.asarray(y, jnp.int32)


@cases.each((X,), (NONE,))
def alike(x):
    y = x[x > 0]
    return jnp.zeros_like(y), jnp.ones_like(y), jnp.full_like(y, 2.0), jnp.shape(y), jnp.size(y), jnp.ndim(y)


@cases.each((M, WHOLE[:4] > 0), (M, WHOLE[:4] > 7))
def turned(m, rows):
    part = m[rows]
    turned = jnp.transpose(part), jnp.moveaxis(part, 0, 1), jnp.swapaxes(part, 0, 1)
    return turned, jnp.ravel(part), part.ravel(), jnp.reshape(part, (-1,)), jnp.expand_dims(part, 0)


@cases.each((X,), (NONE,))
def in_order(x):
    y = x[x > 0]
    return jnp.sort(y), jnp.argsort(y), y.sort(), y.argsort(), jnp.cumsum(y), jnp.cumprod(y), jnp.diff(y)


@cases(X)
def shapes_that_differ(x):
    return jnp.concatenate([jnp.outer(x[x > 0], x), jnp.outer(x, x)])


# ---------------------------------------------------------------- updates


@cases.each((X,), (NONE,))
def updated_at_places(x):
    (at,) = jnp.nonzero(x > 0)
    kept = x.at[at].set(0.0), x.at[at].add(x[at]), x.at[at].multiply(2.0), x.at[at].min(jnp.float32(1.0))
    return kept, jnp.outer(x, x).at[at].set(x), jnp.outer(x, x).at[:, at].add(1.0)


@cases.each((X,), (NONE,))
def updated_by_a_mask(x):
    return x.at[x > 0].set(x[x > 0] * 2), x.at[x > 0].add(jnp.sort(x[x > 0])), x.at[x > 0].max(1.0)


@cases(X, WHOLE)
def updated_with_as_many(x, order):
    return jnp.zeros(6).at[order].set(x[x > -2]), jnp.zeros(6).at[order].add(x[x > -2])


@cases.each((X, X[:2]), (X, X[:4]), raises=ValueError)
def updated_with_others(x, y):
    (at,) = jnp.nonzero(x > 0)
    return x.at[at].set(y[y > -2][: len(at)]), x.at[at].set(y[y > -2])


@cases(jnp.outer(X, X), jax.random.normal(jax.random.key(0), (6, 3)), jnp.ones((3, 6, 6)))
def experts(x, gate, weights):
    which = jnp.argmax(x @ gate, axis=-1)
    out = jnp.zeros_like(x)
    counts = []
    for e in range(weights.shape[0]):
        (at,) = jnp.nonzero(which == e)
        counts.append(len(at))
        out = out.at[at].set(x[at] @ weights[e])
    return out, counts


# ---------------------------------------------------------------- arrays of lists


@cases.each((X, 20, 1.0), (X, 20, -1.0), (X, 3, 1.0))
def stopped_early(x, steps, limit):
    losses = []
    for _ in range(steps):
        x = x * 0.9
        losses.append(jnp.max(x))
        if losses[-1] < limit:
            break
    return jnp.stack(losses), jnp.array(losses), jnp.asarray(losses).mean(), len(losses)


@cases.each((X, 20, 1.0), (X, 3, 1.0))
def vectors_stopped_early(x, steps, limit):
    seen = []
    for _ in range(steps):
        x = x * 0.9
        seen.append(x)
        if jnp.max(x) < limit:
            break
    return jnp.stack(seen), jnp.stack(seen, axis=1), jnp.vstack(seen), jnp.concatenate(seen), jnp.array(seen)


@cases(X, 9.0)
@cases(X, 0.0, raises=ValueError)
def perhaps_none(x, limit):
    seen = []
    while jnp.max(x) < limit:
        seen.append(x)
        x = x * 2
    return jnp.stack(seen)


@cases(X, 9.0)
@cases(X, 0.0)
def an_array_of_perhaps_none(x, limit):
    seen = []
    while x[0] < limit:
        seen.append(x[0])
        x = x * 2
    return jnp.array(seen), jnp.array(seen, jnp.float16)


@cases.each((jnp.arange(8.0),), (jnp.arange(16.0),), (jnp.arange(40.0),))
def filled(x):
    out, rows, acc = [0.0] * len(x), [None] * len(x), 0.0
    for t in range(len(x)):
        acc = 0.9 * acc + x[t]
        out[t] = acc
        rows[t] = acc * X
    return jnp.array(out), jnp.stack(rows)


@cases(jnp.arange(40.0), refused="PS208")
def weak_or_not(x):
    out = [0.0] * len(x)
    for t in range(len(x)):
        out[t] = x[t]
    return jnp.stack(out)


# ---------------------------------------------------------------- arrays that get longer or shorter in loops


@cases.each((X,), (NONE,), (jnp.arange(40.0) - 20.0,))
def appended_to(x):
    found = jnp.zeros(0)
    for v in x:
        if v > 0:
            found = jnp.append(found, v)
    return found, len(found), found.sum()


@cases.each((X, 0.1), (X, 9.0))
def until(x, tolerance):
    history = jnp.zeros((0, 6))
    while x[0] > tolerance:
        x = x * 0.7
        history = jnp.concatenate([history, x[None]])
    return history, history.mean()


@cases.each((M, 3), (M, 0))
def by_so_many(m, n):
    history = m[:1]
    for i in range(n):
        history = jnp.concatenate([history, m[i][None] + history[-1]])
    return history, history.shape


@cases.each((X, 4), (X, 30))
def by_a_known_number(x, n):
    seen = x[:1]
    for _ in range(4):
        seen = jnp.append(seen, seen[-1] * 2)
    return jax.vmap(lambda v: v + 1)(seen), n


@cases(X)
def shorter(x):
    while x.shape[0] > 1 and jnp.sum(x) > 1.0:
        x = x[1:]
    return x


@cases.each((X, True), (X, False))
def by_its_weak_type(x, longer):
    found = jnp.array([1.0, 2.0]) * 1.0
    for v in x:
        if longer and v > 0:
            found = jnp.append(found, 1.0)
    return found


# ---------------------------------------------------------------- ndarrays in functions of jax.numpy

INTEGERS = np.array([1, 5, -3, 7, 2, 5])
FLOATS = np.array([1.5, -2.0, 3.25, 0.5, 7.0, 3.0])


@cases.each((INTEGERS,), (FLOATS,))
def reduced_in_jax(i):
    y = i[i > 1]
    sums = jnp.sum(y), jnp.sum(a=y), jnp.prod(y), jnp.mean(y), jnp.std(y), jnp.var(y), jnp.average(y)
    counts = jnp.argmax(y), jnp.argmin(y), jnp.count_nonzero(y), jnp.any(y > 2), jnp.all(y > 2)
    return sums, counts, jnp.max(y), jnp.min(y), jnp.ptp(y), jnp.nansum(y), jnp.max(y, initial=0)


@cases.each((INTEGERS,), (FLOATS,))
def ordered_in_jax(i):
    y = i[i > 1]
    numbers = jnp.unique(y, return_index=True, return_counts=True)
    return jnp.sort(y), jnp.argsort(y), jnp.unique(y), numbers, jnp.diff(y), jnp.flip(y), jnp.sort(i[i > 100])


@cases.each((INTEGERS,), (FLOATS,))
def in_other_shapes_in_jax(i):
    y = i[i > 1]
    views = jnp.ravel(y), jnp.transpose(y), jnp.expand_dims(y, 0), jnp.squeeze(y), jnp.atleast_1d(y)
    copies = jnp.asarray(y), jnp.array(y), jnp.array([y, y]), jnp.shape(y), jnp.size(y)
    return (
        views,
        copies,
        jnp.extract(y > 2, y),
        jnp.compress(y > 2, y),
        jnp.nonzero(y),
        jnp.where(y > 2, y, 0),
    )


@cases.each((INTEGERS,), (FLOATS,))
def joined_in_jax(i):
    y = i[i > 1]
    ends = jnp.concatenate([i, y]), jnp.append(y, 1), jnp.hstack((y, i)), jnp.stack([y, y], axis=1)
    return ends, jnp.concatenate([X, y]), jnp.union1d(y, i)


@cases.each((INTEGERS, X[:4]), (FLOATS, X[:4]))
def products_in_jax(i, x):
    y = i[i > 1]
    same = jnp.dot(y, y), jnp.matmul(y, y), jnp.inner(y, y), jnp.vdot(y, y), jnp.outer(y, y)
    return same, jnp.dot(x, y), jnp.matmul(y, x), jnp.dot(x[x > -5], i[: len(y)])


@cases(INTEGERS)
def slices_in_jax(i):
    y = i[: i.argmax()]
    y[0] = 9
    made = jnp.asarray(y)
    y[1] = 8
    return made, jnp.sum(y), jnp.sort(y), i


@pytest.mark.parametrize(
    "index, update", [(0, X[:1]), (slice(2), X[None, :2]), (np.array([0, 2]), X[None, :2])]
)
def test_updates_with_more_axes_than_their_places_are_refused(index, update):
    def call(x):
        return x.at[index].set(update)

    with pytest.raises(ValueError):
        call(X)
    check(call, X, refused="PS206")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: jnp.append(x, [1.5]),
        lambda x: jnp.append(x[x > 1], [1.5]),
        lambda x: jnp.concatenate([x, [1, 2]]),
        lambda x: jnp.concatenate([x[x > 1], (1, 2)]),
        lambda x: jnp.stack([x[:2], [1, 2]]),
        lambda x: jnp.column_stack([x[x > 1], [1, 2, 3]]),
        lambda x: jnp.diff(x, append=[1.0]),
        lambda x: jnp.diff(x[x > 1], append=[1.0]),
        lambda x: jnp.dot(x[x > 1], [1, 2, 3]),
        lambda x: jnp.broadcast_to([1.0, 2.0], (2, 2)),
        lambda x: jnp.diag([x[0], x[1]]),
        lambda x: jnp.diagflat((1.0, 2.0)),
        lambda x: jnp.full_like(x, [1.0]),
        lambda x: jnp.repeat([1.0, 2.0], 2),
        lambda x: jnp.repeat(x[:2], [1, 2]),
        lambda x: jnp.tril([x, x]),
        lambda x: jnp.triu([[1.0, 2.0]]),
        lambda x: jnp.isneginf([1.0, 2.0]),
        lambda x: jnp.isclose(x[:1], 1.0, rtol=[1.0]),
        lambda x: jnp.allclose(x[:1], 1.0, atol=(1.0,)),
    ],
)
def test_lists_that_jax_takes_for_no_arrays_are_refused(call):
    with pytest.raises(TypeError):
        call(X)
    check(call, X, refused="PS204")


def mapped_over_longer_and_longer_rows(x, n):
    out = jnp.zeros((3, 4))
    for i in range(n):
        out = out.at[:, :i].set(jax.vmap(lambda row: row * 2)(x[:, :i]))
    return out


def test_vmap_of_rows_whose_length_each_trip_knows():
    check(mapped_over_longer_and_longer_rows, jnp.arange(12.0).reshape(3, 4), 3)


def test_vmap_of_rows_of_computed_length_is_refused_with_their_reason():
    check(
        lambda x: jax.vmap(lambda row: row * 2)(x[:, : x[0, 1].astype(int)]), X.reshape(2, 3), refused="PS221"
    )


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
