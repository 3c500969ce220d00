"""Arrays that a loop or a branch makes longer or shorter: they have capacities, and come back in their exact size."""

from __future__ import annotations

import threading

import jax
import numpy as np
import pystage
import pytest
from checking import Cases, check

cases = Cases()

X = np.random.default_rng(0).standard_normal(24)
FEW = [(X,), (-np.abs(X),), (X[:1],), (X[:0],)]
COUNTS = [(0,), (1,), (7,)]


# ---------------------------------------------------------------- arrays that grow


@cases(600, interpreted=False)
@cases.each(*COUNTS)
def grow_append(n):
    out = np.array([])
    i = 0
    while i < n:
        out = np.append(out, i * 0.5)
        i += 1
    return out


@cases.each(())
def grow_known():
    out = np.array([])
    for i in range(1000):
        out = np.append(out, i * 0.5)
    return out


@cases.each(*FEW)
def grow_for(x):
    out = np.zeros(0)
    for v in x:
        if v > 0:
            out = np.append(out, v)
    return out


@cases(X)
def grow_concat(x):
    out = np.array([1.0])
    while out.sum() < 100:
        out = np.concatenate([out, out[-1:] * 1.5])
    return out


@cases.each(*FEW)
def grow_concat_part(x):
    out = np.zeros(0)
    for i in range(len(x)):
        part = x[:i]
        out = np.concatenate((out, part))
    return out


@cases.each(*FEW)
def grow_vstack(x):
    rows = np.empty((0, 3))
    for i in range(len(x)):
        if x[i] > 0:
            rows = np.vstack([rows, np.array([x[i], i, 1.0])])
    return rows


@cases(1.0)
@cases(0.001)
def a_trajectory(y):
    t = 0.0
    traj = np.array([[t, y]])
    while y > 0.01:
        y = y * 0.9
        t += 0.1
        traj = np.vstack((traj, [t, y]))
    return traj


@cases(X)
def grow_hstack(x):
    out = np.array([0.0])
    while len(out) < 30:
        out = np.hstack((out, out + 1))
    return out


@cases(X)
def grow_r(x):
    out = np.array([0.0])
    k = 1.0
    while out[-1] < 10:
        out = np.r_[out, out[-1] + k]
        k *= 1.1
    return out


@cases(X[:8])
def grow_insert(x):
    out = np.array([0.0])
    for v in x:
        i = np.searchsorted(out, v)
        out = np.insert(out, i, v)
    return out


@cases(4)
@cases(0)
def dtype_change(n):
    out = np.array([1, 2])
    i = 0
    while i < n:
        out = np.append(out, 0.5)
        i += 1
    return out


@cases(1.0)
def stepper(y):
    ts = np.array([0.0])
    ys = np.array([y])
    h = 0.1
    while ts[-1] < 2.0:
        k1 = -ys[-1]
        k2 = -(ys[-1] + h * k1)
        err = abs(k2 - k1) * h
        if err > 0.02:
            h = h / 2
            continue
        ys = np.append(ys, ys[-1] + h * (k1 + k2) / 2)
        ts = np.append(ts, ts[-1] + h)
        h = min(h * 1.2, 0.3)
    return ts, ys


@cases(3.0)
def while_true(x):
    out = np.array([x])
    while True:
        x = 0.5 * (x + 2 / x)
        out = np.append(out, x)
        if abs(out[-1] - out[-2]) < 1e-10:
            break
    return out, len(out)


@cases(50)
def repeat_tile(n):
    x = np.array([1.0, 2.0])
    while x.size < n:
        x = np.tile(x, 2)
    return x


@cases(50)
def resize_zeros(n):
    x = np.zeros(4)
    k = 0
    for i in range(n):
        if k == len(x):
            new = np.zeros(2 * len(x))
            new[:k] = x
            x = new
        x[k] = i
        k += 1
    return x[:k]


@cases(X[:3], X.reshape(4, 6))
def fromargs(x, parts):
    for p in parts:
        x = np.concatenate([x, p])
    return x


@cases(7)
def arange_grow(n):
    x = np.arange(1)
    while len(x) < n:
        x = np.arange(len(x) + 1) * 2
    return x


@cases(6)
@cases(0)
def pascal(n):
    row = np.array([1])
    for _ in range(n):
        row = np.concatenate(([1], row[1:] + row[:-1], [1]))
    return row


@cases(X[:5])
def poly(roots):
    c = np.array([1.0])
    for r in roots:
        c = np.convolve(c, np.array([1.0, -r]))
    return c


@cases(5)
@cases(600, interpreted=False)
def columns(n):
    m = np.zeros((3, 0))
    i = 0
    while i < n:
        m = np.hstack((m, np.full((3, 1), i * 1.0)))
        i += 1
    return m


# ---------------------------------------------------------------- arrays that get shorter


@cases(X)
def shrink_delete(x):
    while len(x) > 3:
        x = np.delete(x, np.argmax(x))
    return x


@cases(np.abs(X))
def shrink_mask(x):
    t = 0.0
    while len(x) > 5:
        x = x[x > t]
        t += 0.1
    return x


@cases(X)
def shrink_slice(x):
    s = 0.0
    while len(x) > 1:
        s += x[0]
        x = x[1:]
    return s, x


@cases(100)
def sieve(n):
    cand = np.arange(2, n)
    primes = np.array([], dtype=int)
    while len(cand) > 0:
        p = cand[0]
        primes = np.append(primes, p)
        cand = cand[cand % p != 0]
    return primes


@cases(X)
def halving(x):
    while x.size > 1:
        x = x[::2] + 0.5
    return x


@cases(X[:6])
def diffs(x):
    while len(x) > 1:
        x = np.diff(x)
    return x


@cases(np.array([7.0]))
def queue(x):
    q = np.array([x[0]])
    k = 0
    s = 0.0
    while len(q) > 0 and k < 30:
        v = q[0]
        q = q[1:]
        s += v
        if v > 0.5:
            q = np.append(q, [v / 2, v / 3])
        k += 1
    return s, q, k


@cases(X)
def window(x):
    w = np.array([])
    out = np.zeros(len(x))
    for i in range(len(x)):
        w = np.append(w, x[i])
        if len(w) > 5:
            w = w[1:]
        out[i] = w.mean()
    return out


# ---------------------------------------------------------------- under conditions


@cases(X)
def five_ifs(x):
    out = np.zeros(0)
    for v in x:
        if v > 0:
            out = np.append(out, v)
        if v > 0.5:
            out = np.append(out, v)
        if v > 0.6:
            out = np.append(out, [v, v])
        if v > 0.7:
            out = np.append(out, v)
        if v > 0.8:
            out = np.append(out, v)
        if v > 0.9:
            out = np.append(out, v)
    return out


@cases(X)
def straight_ifs(x):
    out = np.zeros(0)
    if x[0] > 0:
        out = np.append(out, x[0])
    if x[1] > 0:
        out = np.append(out, x[1])
    if x[2] > 0:
        out = np.append(out, x[2])
    if x[3] > 0:
        out = np.append(out, x[3])
    if x[4] > 0:
        out = np.append(out, x[4])
    if x[5] > 0:
        out = np.append(out, x[5])
    return out


@cases(X)
def reset(x):
    run = np.zeros(0)
    longest = 0
    for v in x:
        if v > 0:
            run = np.append(run, v)
        else:
            run = np.zeros(0)
        longest = max(longest, len(run))
    return longest, run


@cases(X)
def keep_longest(x):
    run = np.zeros(0)
    longest = np.zeros(0)
    for v in x:
        if v > 0:
            run = np.append(run, v)
        else:
            run = np.zeros(0)
        if len(run) > len(longest):
            longest = run.copy()
    return longest


@cases(X)
def uniq(x):
    seen = np.array([])
    for v in x:
        r = np.round(v)
        if not np.any(seen == r):
            seen = np.append(seen, r)
    return np.sort(seen)


@cases(X)
def isin(x):
    seen = np.array([])
    for v in x:
        r = np.round(v)
        if r not in seen:
            seen = np.append(seen, r)
    return seen


@cases(X)
def in_r(x):
    seen = np.array([0.0])
    for v in x:
        seen = np.r_[seen, v, v * 2]
        if seen.size > 20:
            seen = seen[5:]
    return seen


@cases.each(*FEW[:2])
def tries(x):
    out = np.zeros(0)
    try:
        for v in x:
            out = np.append(out, v)
            if v > 1:
                raise ValueError("big")
    except ValueError:
        out = np.append(out, -1)
    return out


@cases(X)
@cases(np.full(6, 0.95))
def five_inserts(x):
    out = np.zeros(1)
    for v in x:
        if v > 0:
            out = np.insert(out, 0, v)
        if v > 0.5:
            out = np.insert(out, 1, v)
        if v > 0.6:
            out = np.delete(out, 0)
    return out


@cases(X)
def none_first(x):
    rows = None
    for v in x:
        row = np.array([[v, 2 * v]])
        if rows is None:
            rows = row
        else:
            rows = np.vstack((rows, row))
    return rows


def helper_fn(out, v):
    if v > 0:
        return np.append(out, v)
    return out


@cases(X)
def via_helper(x):
    out = np.array([])
    for v in x:
        out = helper_fn(out, v)
    return out


# ---------------------------------------------------------------- where they are kept


class Log:
    def __init__(self):
        self.t = np.zeros(0)
        self.y = np.zeros((0, 2))

    def add(self, t, y):
        self.t = np.append(self.t, t)
        self.y = np.vstack([self.y, y])


@cases(5.0)
@cases(0.0)
@cases(300.0, interpreted=False)
def log_obj(n):
    log = Log()
    t = 0.0
    while t < n:
        log.add(t, np.array([t, t * t]))
        t += 0.5
    return log.t, log.y, len(log.t)


@cases(3.0)
def log_obj2(n):
    log = Log()
    t = 0.0
    while t < n:
        log.add(t, np.array([t, t * t]))
        t += 0.5
    return log


@cases(600, interpreted=False)
@cases.each(*COUNTS)
def tuple_state(n):
    s = (np.zeros(0), np.zeros(0, dtype=int))
    k = 0
    while k < n:
        a, b = s
        s = (np.append(a, k * 0.5), np.append(b, k))
        k += 1
    return s


@cases(600, interpreted=False)
@cases.each(*COUNTS)
def list_state(n):
    s = [np.zeros(0), np.zeros(0)]
    k = 0
    while k < n:
        s[0] = np.append(s[0], k * 0.5)
        s[1] = np.append(s[1], k * 2.0)
        k += 1
    return s


@cases(600, interpreted=False)
@cases.each(*COUNTS)
def dict_state(n):
    s = {"a": np.zeros(0), "b": np.zeros(0, dtype=int)}
    k = 0
    while k < n:
        s["a"] = np.append(s["a"], k * 0.5)
        s["b"] = np.append(s["b"], k)
        k += 1
    return s


@cases(np.array([3, 0, 2]))
def nested(x):
    out = np.zeros(0)
    for i in range(len(x)):
        j = 0
        while j < x[i]:
            out = np.append(out, i * j * 1.0)
            j += 1
    return out


@cases(np.array([3, 0, 2]))
def nested_reset(x):
    total = 0.0
    for i in range(len(x)):
        part = np.zeros(0)
        j = 0
        while j < x[i]:
            part = np.append(part, i * j * 1.0)
            j += 1
        total += part.sum() + len(part)
    return total


# ---------------------------------------------------------------- their names


@cases(X[:3].copy(), 4)
@cases(X[:3].copy(), 0)
def stored_alias(x, n):
    y = x
    i = 0
    while i < n:
        y[0] = i
        y = np.append(y, i)
        i += 1
    return x, y


@cases(X[:3].copy(), 0)
@cases(X[:3].copy(), 5)
def returns_arg(x, n):
    i = 0
    while i < n:
        x = np.append(x, 1.0 * i)
        i += 1
    return x


@cases(X[:9].copy(), 3)
@cases(X[:9].copy(), 20)
def shrinks_arg(x, t):
    while len(x) > t:
        x = x[1:]
        x[0] += 1
    return x


@cases(np.abs(X), 5.0)
@cases(np.abs(X), 500.0)
def shrink_view_kept(x, t):
    first = x
    while x.sum() > t:
        x = x[:-1]
    x *= 2
    return x, first


@cases(0)
@cases(4)
def prev(n):
    out = np.zeros(1)
    prev = out
    i = 0
    while i < n:
        prev = out
        out = np.append(out, i * 1.0)
        i += 1
    prev[0] = 7
    return prev, out


@cases(X)
def best(x):
    out = np.zeros(1)
    best = out
    for v in x:
        out = np.append(out, v)
        if v > 1:
            best = out
    return best, out


@cases(X)
def two_names(x):
    a = np.zeros(2)
    b = a
    for v in x:
        a = np.append(a, v)
        b[0] += 1
    return a, b


@cases(X)
def keep_longest_alias(x):
    run = np.zeros(0)
    longest = run
    for v in x:
        if v > 0:
            run = np.append(run, v)
        else:
            run = np.zeros(0)
        if len(run) > len(longest):
            longest = run
    return longest


@cases(X)
def by_another_name(x):
    out = np.zeros(0)
    for v in x:
        new = np.append(out, v)
        out = new
    return out


@cases(X)
def stored_by_another_name(x):
    out = np.zeros(1)
    i = 0
    while out[-1] < 5:
        new = np.append(out, out[-1] + np.abs(x[i]))
        new[0] += 1
        out = new
        i += 1
    return out, i


@cases(X)
def read_behind_the_loop(x):
    out = np.zeros(1)
    i = 0
    while i < 5:
        new = np.append(out, x[i])
        out = new
        i += 1
    new[0] = 4
    return out


@cases(X)
def read_in_the_next_trip(x):
    out = np.zeros(1)
    new = np.zeros(1)
    i = 0
    while i < 5:
        if i > 2:
            new[0] += 1  # noqa: F821
        new = np.append(out, x[i])
        out = new
        i += 1
    return out


@cases(np.arange(36.0).reshape(3, 6, 2), 2)
def refused_of_bounded_arrays(image, n):
    """A product of three axes is not staged of bounded arrays: the loop is written out."""
    total = 0.0
    for _ in range(n):
        total += (image @ np.array([1.0, 2.0])).sum()
        image = image[:, 1:]
    return image, total


# ---------------------------------------------------------------- slices of rows


@cases(np.ones(1200), np.arange(1200) % 20, np.array([0, 3, 3, 300, 1200]), X[:20])
def csr(data, indices, starts, x):
    out = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        lo, hi = starts[i], starts[i + 1]
        out[i] = np.sum(data[lo:hi] * x[indices[lo:hi]])
    return out


V = np.array([3, 1, 5, 4, 2, 3])


@cases.each((V, 0), (V, 2), (V, 9), (V[:0], 0))
def turned_and_shorter(v, n):
    y = v[v > n]
    while len(y) > 1:
        y = y[1:][::-1]
    return y


@cases.each((V,), (V[::-1].copy(),))
def turned_or_shorter(v):
    y = v.copy()
    for i in range(len(v)):
        while len(y) > v[i]:
            y = y[1:] if v[i] > 1 else y[::-1][:2]
            if len(y) < 3:
                break
    return y


@cases.each((V, 0), (V, 1), (V, 6))
def indices_of_what_became_empty(v, n):
    u = v
    while len(u) > n:
        u = u[1:]
    return u[np.where(u > u)[0]], u[np.where(u == u)[0]]


@cases.each((V, 0), (V, 1), (V, 6))
def one_mask_in_two_branches(v, n):
    u = v
    while len(u) > n:
        u = u[1:]
    while len(u) > 0:
        u = u[u > u.min()]
    return np.where(u > u)[0], u


@cases.each((V, 0), (V, 2), (V, 9))
def a_part_turned_and_shorter(v, n):
    y, z = np.clip(v, -1, 2)[1:], np.arange(len(v))[1:]
    if len(y) > n:
        while len(y) > n:
            y = y[1:][::-1]
    y[:1] = 7
    while len(z) > 1:
        z = z[1:][::-1]
    return y, z


A = np.array([[1.0, -1.0, 2.0], [0.0, 3.0, -2.0], [2.0, 1.0, 1.0], [-3.0, 0.0, 4.0]])


@cases.each((A,), (-A,))
def a_row_turned_and_shorter(a):
    y = a[a[:, 1] > 0][:, a[0] > 0][-1]
    while len(y) > 0:
        y = y[1:][::-1]
    last = a[a[:, 2] > 0][-1]
    while len(last) > 1:
        last = last[::-1][1:]
    return y, last


@cases.each(*[(np.arange(6.0), k, n) for k in (0, 1, 5, 6) for n in (0, 1, 2)])
def a_window_of_a_window(x, k, n):
    k = np.count_nonzero(x < k)
    u = x[k : k + 2]
    w = x[k : k + 2]
    while len(u) > n:
        u = u[1:]
    while len(w) > n:
        w = w[:-1]
    w[:] = 7
    u[:] = 9
    return u, w


def ints_to_float(x):
    out = np.array([], dtype=int)
    for v in x:
        out = np.append(out, int(v))
    return out


def bool_arr(x):
    out = np.array([], dtype=bool)
    for v in x:
        out = np.append(out, v > 0)
    return out


def raises(x):
    out = np.zeros(0)
    for v in x:
        out = np.append(out, v)
        if v > 2:
            raise ValueError(len(out))
    return out


def test_other_dtypes() -> None:
    check(ints_to_float, X)
    check(bool_arr, X)


def test_what_is_raised_after_it_grew() -> None:
    check(raises, X[:5])
    check(raises, np.arange(5.0), raises=ValueError)


def test_the_program_has_one_size() -> None:
    def size(n: int) -> int:
        return pystage.compile(grow_for).lower(np.ones(n)).instruction_counts().total

    assert size(10) == size(2000) < 100


def test_few_programs_for_many_elements() -> None:
    compiled = pystage.compile(grow_append, fallback="error")
    assert len(compiled(10_000)) == 10_000
    assert len(compiled.signatures()) == 1
    assert "capacity" in compiled.signatures()[0]


def test_the_memory_is_limited(monkeypatch) -> None:
    monkeypatch.setattr(pystage.config, "capacity_bytes", 1 << 14)
    with pytest.raises(MemoryError, match="out"):
        pystage.compile(grow_append, fallback="error")(100_000)


def test_gradient() -> None:
    def loss(x):
        out = np.zeros(0)
        for v in x:
            if v > 0:
                out = np.append(out, v * v)
        return (out * 3.0).sum()

    np.testing.assert_allclose(pystage.grad(loss)(X), np.where(X > 0, 6 * X, 0))


def test_gradient_of_a_while() -> None:
    def loss(x):
        out = np.array([x])
        while out[-1] > 1:
            out = np.append(out, out[-1] / 2)
        return out.sum()

    np.testing.assert_allclose(pystage.grad(loss)(9.0), 1.9375)


def test_vmap() -> None:
    def total(x):
        out = np.zeros(0)
        for v in x:
            if v > 0:
                out = np.append(out, v)
        return out.sum() + len(out)

    rows = X.reshape(4, 6)
    np.testing.assert_allclose(pystage.vmap(total)(rows), [total(row) for row in rows])


def test_slices_of_data_have_a_capacity() -> None:
    starts = np.array([0, 200, 457, 1000, 5000])
    data, indices = np.random.default_rng(1).standard_normal(5000), np.arange(5000) % 7
    compiled = pystage.compile(csr, fallback="error")
    for rows in (
        starts[:2],
        starts[:3],
        starts,
    ):  # within the first capacity, one more, beyond half of the array
        np.testing.assert_allclose(compiled(data, indices, rows, X), csr(data, indices, rows, X))
    gradient = pystage.grad(lambda d: (csr(d, indices, starts[:3], X) ** 2).sum())(data)
    rows, at = csr(data, indices, starts[:3], X), np.arange(457)
    expected = np.zeros(5000)
    expected[:457] = 2 * rows[(at >= 200).astype(int)] * X[indices[:457]]
    np.testing.assert_allclose(gradient, expected)


def capacities_of(staged):
    return [c.size for s in staged._dispatcher.staged for c in s.program.capacities]


def test_slices_to_an_end_of_the_axis_have_no_capacity() -> None:
    """A window is mostly short; what starts or ends with the axis is as likely long."""

    def both(x, starts):
        total = 0.0
        for i in starts:
            total += x[i:].sum() + x[:i].max(initial=0.0)
        return total

    def windows(x, starts):
        total = 0.0
        for i in starts:
            total += x[i : i + i].sum()
        return total

    x, starts = np.arange(2000.0), np.array([3, 1500, 20])
    for function, sizes in ((both, []), (windows, [4096])):
        staged = pystage.compile(function, fallback="error")
        assert staged(x, starts) == function(x, starts)
        assert capacities_of(staged) == sizes


def test_slices_of_data_under_jit_take_the_axis() -> None:
    """No other program can be executed in place of one that JAX traces, so that it must do for all sizes."""
    starts, data, indices = np.array([0, 457, 1000]), np.ones(2000), np.arange(2000) % 7

    def total(data, starts):
        return csr(data, indices, starts, X)

    staged = jax.jit(pystage.compile(total, fallback="error"))
    np.testing.assert_allclose(staged(data, starts), csr(data, indices, starts, X))


def test_threads() -> None:
    compiled = pystage.compile(grow_append, fallback="error")
    found: dict[int, int] = {}
    threads = [
        threading.Thread(target=lambda n=n: found.update({n: len(compiled(n))})) for n in (3, 700, 9000)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: n for n in found} and len(found) == 3


# ---------------------------------------------------------------- one of several arrays, made shorter


EITHER = [(X[:7], n) for n in (-9, 0, 9)]


@cases.each(*EITHER)
def shorter_views(x, n):
    y = x[::2] if x[0] > n else x[::-1]
    while len(y) > 1:
        y = y[1:]
    return y


@cases.each(*EITHER)
def a_shorter_copy_or_view(x, n):
    y = x[x > 0] if x[0] > n else x[1:]
    while len(y) > 2:
        y = y[1:][::-1]
    return y, y.sum()


@cases.each(*EITHER)
def stored_into_when_shorter(x, n):
    y = x[:4] if x[0] > n else x[::-1]
    while y.sum() < 2 and len(y) > 1:
        y = y[:-1]
    y[-1:] = 7.0
    return y, x


@cases.each(*EITHER)
def returned_beside_a_number(x, n):
    rows = []
    k = 0
    while True:
        rows.append([x[k], x[k] * 2])
        if x[k] > n or k == 5:
            return k, np.array(rows)
        k += 1


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
