"""Small programs over lists, dicts, sets, objects, closures and views that store through many names.

Each is run plain and staged, and must be indistinguishable.
"""

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

X = np.array([1.0, 2.0, 3.0, 4.0])
M = np.arange(6.0).reshape(2, 3)
PLACES = np.array([3, 1, 2, 1])


@cases.each((X, 3), (X, 0))
def list_app_loop(x, n):
    xs = []
    for i in range(4):
        xs.append(x * i)
    return (np.stack(xs), np.array(xs).sum(0), xs)


@cases.each((X, 3), (X, 0))
def list_app_cond(x, n):
    xs = [x]
    if n > 0:
        xs.append(x * 2)
    else:
        xs.append(x * 3)
    return xs


@cases.each((X, 3), (X, 0))
def list_ins_pop(x, n):
    xs = [1, 2, 3, 4]
    xs.insert(1, n)
    xs.insert(-1, 9)
    a = xs.pop()
    b = xs.pop(0)
    del xs[1]
    xs[1:2] = [7, 8]
    xs.sort()
    xs.reverse()
    xs.extend(xs)
    xs += [a]
    return (xs, a, b)


@cases.each(([3, 1, 2], 5))
def list_arg(xs, n):
    xs.sort()
    xs.append(n)
    xs[0] = 9
    del xs[1]
    ys = xs
    ys.insert(0, 4)
    return ys


@cases.each(([3, 1, 2], 5))
def list_alias(xs, n):
    ys = xs
    zs = xs[:]
    ys.append(1)
    zs.append(2)
    return (ys is xs, zs is xs, zs)


def mdef(v, acc=[]):
    acc.append(v)
    return acc


@cases.each((5,))
def mutable_default(n):
    return len(mdef(n, []))


def counter():
    c = [0]

    def inc(k):
        nonlocal_sum = c
        c[0] += k
        return c[0]

    return inc


@cases.each((5,), (-5,))
def two_closures_count(n):
    f = counter()
    g = counter()
    f(1)
    f(2)
    g(n)
    h = f
    h(n)
    return (f(0), g(0))


@cases.each((5,), (-5,))
def a_nonlocal_counter(n):
    c = 0

    def inc():
        nonlocal c
        c += n
        return c

    if n > 0:
        inc()
    for _ in range(3):
        inc()
    return c


@cases.each((X, PLACES))
def add_at(x, i):
    y = np.zeros(4)
    np.add.at(y, i, x)
    np.subtract.at(y, [0, 0], 1.0)
    np.maximum.at(x, i, 2.5)
    return y


@cases.each((X, X * 2))
def out_arg(x, y):
    r = np.add(x, y, out=y)
    np.multiply(x, 2, out=x[:])
    np.sin(x, out=x)
    s = np.sum(M, axis=0, out=y[:3])
    return (r is y, s, x)


@cases.each((X, 2.5))
def stores_by_mask(x, t):
    x[x > t] *= 10
    x[x < 2] = -1
    m = x > 5
    x[m] += x[m]
    x[~m] -= 1
    y = x[m].sum()
    return y


@cases.each((X,))
def mask_assign_arr(x):
    m = x > 2
    x[m] = x[m] * 2
    return x


@cases.each((X, 0, 2), (X, 1, 1))
def elements_are_swapped(x, i, j):
    x[i], x[j] = (x[j], x[i])
    x[i + 1], x[i] = (x[i], x[i + 1])
    return x


@cases.each((M,))
def row_swap(m):
    m[0], m[1] = (m[1], m[0])
    return m


@cases.each((M,))
def row_swap2(m):
    m[[0, 1]] = m[[1, 0]]
    return m


@cases.each((X,))
def an_overlapping_copy_up(x):
    x[1:] = x[:-1]
    return x


@cases.each((X,))
def overlapping_copies_down_and_reversed(x):
    x[:-1] = x[1:]
    x[1:] += x[:-1]
    x[::-1] += x
    return x


@cases.each((X,))
def a_copy_reversed_onto_itself(x):
    x[:] = x[::-1]
    return x


@cases.each((np.array([1 + 2j, 3 - 1j]),))
def parts_of_complex_numbers(z):
    z.real = 5
    z.imag[0] = 7
    r = z.real
    r += 1
    z.imag *= 2
    return (r, z)


@cases.each((X,))
def a_dict_of_arrays(x):
    d = {"a": x, "b": x * 2}
    d["c"] = d.pop("a")
    d["b"][0] = 5
    e = dict(d)
    e["b"] = 0
    d.update(z=1)
    del d["z"]
    for k, v in d.items():
        v += 1
    return (d, e, x, "a" in d, d.get("q", 3), d.setdefault("w", x) is x)


@cases.each((3,), (-3,))
def a_set_of_constants(n):
    s = {1, 2}
    s.add(3)
    s |= {4}
    s.discard(1)
    t = s
    t.remove(2)
    return (sorted(s), len(t), 3 in s)


class Tally:
    def __init__(self, v):
        self.v = v
        self.log = []

    def bump(self, k):
        self.v += k
        self.log.append(k)
        return self


@cases.each((3,), (-3,))
def obj2(n):
    a = Tally(1)
    b = a
    b.v = n
    b.bump(2).bump(n)
    if n > 0:
        a.extra = 1
    else:
        a.extra = 2
    return (a.v, b.log, a.extra, a is b)


@cases.each((Tally(1), 3), (Tally(1), -3))
def obj_arg(o, n):
    p = o
    for i in range(3):
        p.v += n * i
    p.log = [1]
    return o.v


@cases.each((X, 3), (X, -3))
def branch_list(x, n):
    xs = [x, x * 2]
    if n > 0:
        xs[0] = x * 5
    else:
        xs.reverse()
    xs[0][0] = 99
    return (xs, x)


@cases.each((X, 3), (X, -3))
def branch_dict(x, n):
    d = {"a": x}
    if n > 0:
        d["a"] = x * 2
    d["a"][1] = 7
    return (d, x)


@cases.each((X, 4), (X, 1))
def loop_rebind_elem(x, n):
    xs = [x * 1, x * 2]
    for i in range(n):
        xs[0] = xs[1]
        xs[1] = xs[0] + 1
        xs[0][0] = i
    return xs


@cases.each((X, 3))
def tuple_swap(x, n):
    t = (x * 1, x * 2)
    for i in range(n):
        a, b = t
        t = (b, a)
        t[0][i] = 9
    return t


@cases.each((X, 3))
def del_var(x, n):
    y = x
    del y
    x[0] = n
    return x


@cases.each((M,))
def iter_rows(m):
    for row in m:
        row += 1
    for i, r in enumerate(m):
        r[i] = 0
    for a, b in zip(m[0], m[1]):
        pass
    return (m, a)


@cases.each((M,))
def sort_inplace(m):
    m[0].sort()
    m[:, 0].sort()
    m[::-1].sort(axis=0)
    m.T.fill(2) if m[0, 0] > 100 else None
    return m


@cases.each((X,))
def resize_like(x):
    y = np.append(x, 1)
    y[0] = 5
    z = np.concatenate([x, y])
    z[0] = 8
    w = np.where(x > 1, x, y[:4])
    w[0] = 3
    return (x, y, z, w)


@cases.each((X,))
def copies_and_names(x):
    a = x.copy()
    b = np.array(x)
    c = np.asarray(x)
    d = x + 0
    e = x[[0, 1]]
    f = x.astype(float)
    g = c
    for i, y in enumerate((a, b, c, d, e, f)):
        y[0] = i + 10
    return (x, a, b, c, d, e, f)


@cases.each((X,), (X - 9,))
def aug_chain(x):
    a = b = x
    a += 1
    b = b + 1
    a[0] = 7
    c = a if x[0] > 0 else b
    c *= 2
    return (a, b, c)


@cases.each((X, 5), (X, -2))
def a_store_in_try_and_finally(x, n):
    y = x
    try:
        y[0] = 1
        if n < 0:
            raise ValueError("neg")
        y = x * 2
    except ValueError:
        y[1] = 5
    finally:
        y[2] = 8
    return (x, y)


def helper(a, b):
    a[0] += 1
    if b[0] > 1:
        return a
    return b


@cases.each((X, X - 4), (X - 4, X))
def ret_one_of(a, b):
    c = helper(a, b)
    c[3] = 50
    d = helper(c, a)
    d[2] = 60
    return (a, b, c, d)


@cases.each((X,))
def helper_same(a):
    c = helper(a, a)
    c[1] = 5
    return (a, c)


@cases.each((X, 4), (X, 3))
def three_rot_list(x, n):
    bufs = [x * 1, x * 2, x * 3]
    for k in range(n):
        bufs = [bufs[1], bufs[2], bufs[0]]
        bufs[0][k % 4] = k + 100
    return bufs


@cases.each((X, 4), (X, 3))
def list_rot_pop(x, n):
    bufs = [x * 1, x * 2, x * 3]
    for k in range(n):
        bufs.append(bufs.pop(0))
        bufs[0][k % 4] = k + 100
    return bufs


class Node:
    def __init__(self, v, n=None):
        self.v = v
        self.n = n


@cases.each((3,), (-3,))
def linked_objects(n):
    a = Node(1)
    b = Node(2, a)
    c = Node(3, b)
    p = b if n > 0 else c
    p.n.v += 10
    p.n = a
    return (a.v, b.v, c.v, c.n is a, p.n is a)


@cases.each((X, 3), (X, -3))
def obj_fields_arrays(x, n):
    a = Node(x * 1)
    b = Node(x * 2)
    p = a if n > 0 else b
    q = b if n > 0 else a
    p.v[0] = 100
    q.v = p.v
    q.v[1] = 50
    return (a.v, b.v, a.v is b.v, p.v)


@cases.each(([1, 2], [3, 4], 3), ([1, 2], [3, 4], -3))
def list_merge_store_len(a, b, n):
    t = a if n > 0 else b
    t[0] += 5
    t[1], t[0] = (t[0], t[1])
    s = t[0] + a[0] + b[1]
    return (s, t)


@cases.each(({"k": X}, {"k": X * 2}, 3), ({"k": X}, {"k": X * 2}, -3))
def dict_merge(a, b, n):
    t = a if n > 0 else b
    t["k"] = t["k"] + 1
    t["k"][0] = 7
    a["k"][1] = 8
    return (t["k"], b)


@cases.each((X, X * 2, 2), (X, X * 2, -2))
def in_callee(a, b, n):

    def pick(p, q, c):
        return p if c > 0 else q

    def bump(t, k):
        t[0] += k
        return t

    t = pick(a, b, n)
    u = pick(b, a, n)
    bump(t, 1)
    bump(u, 10)
    bump(a, 100)
    w = bump(pick(t, u, -n), 1000)
    return (t is a, w is u, t, u, w)


@cases.each((X, X * 2, 2), (X, X * 2, -2))
def nested_if(a, b, n):
    t = a
    if n > 0:
        t = b
        if n > 1:
            t = a * 1
            u = t
        else:
            u = a
    else:
        u = b
    t[0] += 1
    u[1] += 1
    a[2] = t[0]
    b[3] = u[1]
    return (t, u)


@cases.each((X, X * 2, 5), (X, X * 2, 4))
def loop_pick(a, b, n):
    for i in range(n):
        t = a if i % 2 else b
        t[i % 4] += 1
    return t


@cases.each((X, X * 2, 5), (X, X * 2, 4))
def loop_pick2(a, b, n):
    t = a
    for i in range(n):
        t[0] += 1
        t = a if i % 3 == 0 else b
        b[1] = t[0]
    t[2] = 9
    return t


@cases.each((X, X * 2, 5), (X, X * 2, 4))
def loop_pick3(a, b, n):
    t = a
    u = b
    for i in range(n):
        if a[0] > i:
            t = u
        else:
            u = t
        t[1] += i
        u[2] += 1
    return (t, u)


@cases.each((X, 3))
def view_loop(x, n):
    v = x[:2]
    w = x[2:]
    for i in range(n):
        v[0] += 1
        v, w = (w, v)
    return (v, w)


@cases.each((M, 1), (M, 0))
def row_choice(m, n):
    r = m[0] if n > 0 else m[1]
    r[0] = 9
    s = m[:, n]
    s += 1
    return (r, s)


@cases.each((X, 2), (X, 0))
def inner_fn_state(x, n):
    hist = []

    def log(v):
        hist.append(v * 1)
        v[0] += 1
        return len(hist)

    k = log(x)
    k += log(x[1:])
    return (k, hist)


@cases.each((X, 2))
def default_arr(x, n):

    def f(a, out=np.zeros(4)):
        out[0] += a[0]
        return out * 1

    return (f(x), f(x))


@cases.each((X, 5))
def while_swap(x, n):
    a = x
    b = np.zeros_like(x)
    k = 0
    while k < n and a.sum() < 1000.0:
        b[:] = a * 1.5
        a, b = (b, a)
        k += 1
    return (a, k)


@cases.each((X, 5))
def ping_three(x, n):
    prev = x * 1
    cur = x * 2
    nxt = np.empty(4)
    for k in range(n):
        nxt[:] = 2 * cur - prev
        prev, cur, nxt = (cur, nxt, prev)
    return (cur, prev)


@cases.each((X, X * 1, X * 2, 5))
def ping_three_args(prev, cur, nxt, n):
    for k in range(n):
        for i in range(4):
            nxt[i] = 2 * cur[i] - prev[i]
        prev, cur, nxt = (cur, nxt, prev)
    return cur


@cases.each((M, 3))
def double_2d(u, n):
    v = u.copy()
    for t in range(n):
        for i in range(1, 1 + 1):
            v[i - 1, 1:-1] = u[i - 1, 2:] + u[i, :-2]
        u, v = (v, u)
    return u


@cases.each((X, 3), (X, 2))
def dict_swap(x, n):
    d = {"a": x * 1, "b": x}
    for i in range(n):
        d["a"], d["b"] = (d["b"], d["a"])
        d["a"][0] += i
    return d


@cases.each((X, 3), (X, -2))
def cond_view_store(x, n):
    y = x * 1
    v = x[1:3]
    t = y if n > 0 else x
    t[1] = 70
    v[1] = 80
    return (v, t)


class Sim:
    def __init__(self, x):
        self.a = x * 1
        self.b = x * 0
        self.best = None
        self.k = 0

    def step(self):
        self.b[1:] = self.a[:-1] * 0.5
        self.a, self.b = (self.b, self.a)
        self.k += 1


@cases.each((X, 3), (X, 4))
def sim(x, n):
    s = Sim(x)
    for i in range(n):
        s.step()
        if s.a[1] > 0.1:
            s.a[0] += 1
    return (s.a, s.b, s.k)


@cases.each((X, 3), (X, 4))
def momentum(x, n):
    w = x * 1
    best = w
    bl = 1000000000.0
    for i in range(n):
        loss = (w * w).sum()
        if loss < bl:
            bl = loss
            best = w
        w = w - 0.1 * w
    return (best, w, bl)


@cases.each((X, 3), (X, 4))
def momentum_inplace_copy(x, n):
    w = x * 1
    best = w.copy()
    bl = 1000000000.0
    for i in range(n):
        loss = (w * w).sum()
        if loss < bl:
            bl = loss
            best = w.copy()
        w -= 0.1 * w
    return (best, w, bl)


@cases.each((X, 3), (X, 4))
def momentum_inplace(x, n):
    w = x * 1
    best = w
    bl = 1000000000.0
    for i in range(n):
        loss = (w * w).sum()
        if loss < bl:
            bl = loss
            best = w
        w -= 0.1 * w
    return (best, w, bl)


@cases.each((X, 3), (X, 4), (X, 0))
def nested_loops(x, n):
    a = x * 1
    b = x * 2
    for i in range(n):
        for j in range(3):
            if j == 1:
                a, b = (b, a)
            a[j] += b[j + 1]
        c = a
        c[3] += 1
    return (a, b)


@cases.each((X, X * 2, 3), (X, X * 2, 4))
def nested_args(a, b, n):
    for i in range(n):
        k = 0
        while k < i:
            a, b = (b, a)
            b[k] = a[k + 1] + i
            k += 1
        a[0] -= 1
    return a


@cases.each((X, X * 2, 3), (X, X * 2, -4))
def in_branch_loop(a, b, n):
    t = a
    if n > 0:
        for i in range(n):
            t, b = (b, t)
            t[i] += 1
    else:
        t = b
    t[3] = -1
    a[2] = t[2] + 1
    return t


def swap(p, q):
    return (q, p)


@cases.each((X, X * 2, 3), (X, X * 2, 4))
def callee_swap(a, b, n):
    for i in range(n):
        a, b = swap(a, b)
        a[i % 4] += b[0]
    return (a, b)


def relax(u, v):
    for i in range(1, 3):
        v[i] = 0.5 * (u[i - 1] + u[i + 1])
    return (v, u)


@cases.each((X, X * 2, 3), (X, X * 2, 4))
def callee_relax(a, b, n):
    for i in range(n):
        a, b = relax(a, b)
    return a


@cases.each((X, X * 2, 3), (X, X * 2, 1))
def callee_relax_twice(a, b, n):
    t = a if n > 1 else b
    u = b if n > 1 else a
    for i in range(3):
        t, u = relax(t, u)
    relax(a, b)
    relax(t, a * 1)
    return t


@cases.each(([X, X * 2], 3), ([X, X * 2], 0))
def list_arg_pick(xs, n):
    t = xs[0] if n > 0 else xs[1]
    t[0] = 9
    xs[0] = xs[1] if n > 0 else t
    xs[0][1] = 8
    return (t, xs[0] is xs[1])


@cases.each((X, 3), (X, 0))
def list_hold(x, n):
    a = x * 1
    b = x * 2
    t = a if n > 0 else b
    xs = [t, a]
    xs[0][0] = 5
    xs[1][1] = 6
    b[2] = 7
    return (xs, t is xs[1])


@cases.each((X, 3), (X, 0))
def dead(x, n):
    a = x * 1
    b = x * 2
    t = a if n > 0 else b
    a[0] = 50
    a = None
    b = None
    t[1] = 9
    return t


@cases.each((X, 3), (X, 0))
def dead_loop(x, n):
    a = x * 1
    b = x * 2
    t = a if n > 0 else b
    for i in range(2):
        a[0] += 50
    a = None
    b = None
    for i in range(2):
        t[1] += 9
    return t


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_heap(function, args, options):
    check(function, *args, **options)
