"""Lists, tuples, dicts and other structure: methods, mutation that the caller sees, identity."""

from __future__ import annotations

import collections
import math

import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

cases = Cases()

Pair = collections.namedtuple("Pair", ["first", "second"])


# ---------------------------------------------------------------- lists


@cases([1.0, 2.0], 5.0)
def list_grows(xs, x):
    xs.append(x)
    xs.extend([x + 1, x + 2])
    xs += (0.0,)
    xs.insert(1, -x)
    return len(xs)


@cases([1.0, 2.0, 3.0, 4.0])
def list_shrinks(xs):
    last = xs.pop()
    second = xs.pop(1)
    del xs[0]
    return last, second, xs


@cases([1.0, 2.0, 3.0], 9.0)
def list_items_set(xs, x):
    xs[0] = x
    xs[-1] = xs[0] + xs[1]
    xs[1:2] = [7.0, 8.0]
    return xs[1]


@cases([1.0, 2.0])
def list_operators(xs):
    ys = xs + [3.0]
    zs = xs * 2
    return ys, zs, [0] * 3, xs is ys, len(ys), xs[::-1], list(xs), xs.copy()


@cases([3.0, 1.0])
def list_reversed_and_cleared(xs):
    ys = list(reversed(xs))
    xs.reverse()
    zs = xs.copy()
    xs.clear()
    return ys, zs, xs


@cases(["b", "a", "c", "a"])
def list_of_known_things(names):
    names.sort()
    return sorted(names), names.index("b"), names.count("a"), names.remove("c"), "".join(names)


@cases([1.0, 2.0])
def list_aliases(xs):
    ys = xs
    ys.append(3.0)
    both = [xs, ys]
    both[0].append(4.0)
    return xs, ys is xs, both


@cases.each(([1.0], 3.0), ([1.0], -3.0))
def list_changed_under_a_branch(xs, x):
    if x > 0:
        xs[0] = x
    else:
        xs[0] = xs[0] - x
    return xs[0] * 2


@cases([0.0, 1.0], 5)
def list_carried_by_a_loop(xs, n):
    for i in range(n):
        xs[0], xs[1] = xs[1], xs[0] + i
    return xs


@cases(np.array([1.0, 2.0, 3.0]))
def list_of_arrays(x):
    parts = [x * i for i in range(3)]
    parts[1] = parts[1] + 10
    parts.append(x.sum())
    return parts, sum(parts[:3])


@cases([[1.0], [2.0]])
def nested_lists(xs):
    xs[0].append(5.0)
    xs[1][0] = 7.0
    inner = xs[1]
    inner.append(xs[0])
    return xs


# ---------------------------------------------------------------- tuples


@cases((1.0, (2.0, 3.0)))
def tuple_operators(t):
    return t + (4.0,), t * 2, t[1][0], t[-1], len(t), (t,), t[1:], tuple(reversed(t[1]))


@cases((1, 2), (1, 3))
def tuple_comparison(a, b):
    return a == (1, 2), len(a) == len(b), () == (), (1, "a") == (1, "a"), (1, 2) < (1, 3)


@cases.each(*[(np.array([3, 1, 2, 5]), n) for n in range(4)])
def what_decides_a_comparison_of_sequences(x, n):
    numbers = (x[0], x[1], n) < (n, 1, x[2]), (x[0], x[1], n) <= (n, 1, x[2]), [n, x[0]] == [x[1], 3]
    return numbers, (x[0], "a", x[1]) == (n, "a", 1), n in (1, 2, x[1]), n in (x[0], 1), n in [x[3], 2.0]


@cases.each(*[(np.array([3, 1, 2, 5]), n) for n in range(3)])
def what_follows_is_not_compared(x, n):
    v = x * 1.5
    unlike = (x[0], "a") < (n, 1), (x[0] + 0j, 1) <= (n + 0j, 2)
    return bool((x[0], v) >= (n, 1)), (x[0], v) == (n, 1), x[1] in [1, v], unlike


@cases(np.array([3, 1, 2, 5]), 3, raises=ValueError)
def an_order_that_arrays_decide(x, n):
    return (x[0], x) >= (n, 1)


@cases(np.array([3, 1, 2, 5]), 3, raises=ValueError)
def equal_up_to_an_array(x, n):
    return (x[0], x) == (n, 1)


@cases(np.array([3, 1, 2, 5]), 2, raises=ValueError)
def not_before_an_array(x, n):
    return x[0] in [n, x]


@cases(np.array([3, 1, 2, 5]), 3, raises=TypeError)
def an_order_that_a_text_decides(x, n):
    return (x[0], "a") < (n, 1)


@cases((3.0, 4.0))
def tuples_of_one_and_none(t):
    (x, y) = t
    return (x,), (), ((),), (x, (y, ())), [(), []]


@cases(np.zeros((2, 3, 4)))
def shapes_are_tuples(x):
    n, *rest = x.shape
    return x.shape, n, rest, x.shape[1:], math.prod(x.shape), x.shape + (1,), x.shape == (2, 3, 4), x.ndim


@cases((1.0, 2.0), 4)
def tuple_carried_by_a_loop(pair, n):
    for _ in range(n):
        a, b = pair
        pair = (b, a + b)
    return pair


# ---------------------------------------------------------------- dicts


@cases({"w": 1.0, "b": 2.0})
def dict_items_set(d):
    d["w"] = d["w"] * 3
    d["new"] = d["w"] + d["b"]
    d["b"] += 1
    return len(d), list(d), d


@cases({"w": 1.0, "b": 2.0})
def dict_methods(d):
    return (
        d.get("w"),
        d.get("missing", 5.0),
        d.get("missing"),
        list(d.keys()),
        list(d.values()),
        list(d.items()),
        "w" in d,
        "x" not in d,
        {**d},
        d.copy(),
        dict(d, c=3.0),
    )


@cases({"w": 1.0, "b": 2.0, "c": 3.0})
def dict_shrinks(d):
    c = d.pop("c")
    missing = d.pop("zzz", 0.0)
    del d["w"]
    return c, missing, d


@cases({"w": 1.0})
def dict_updated(d):
    d.update({"b": 2.0}, c=3.0)
    d.setdefault("w", 9.0)
    e = d.setdefault("e", 9.0)
    f = d | {"w": 0.0}
    d |= {"g": 1.0}
    return e, f, d


@cases({"a": {"w": np.array([1.0, 2.0])}, "b": [3.0, {"c": 4.0}]})
def nested_dicts(params):
    params["a"]["w"] = params["a"]["w"] * 2
    params["b"][1]["d"] = params["b"][0]
    return {name: value for name, value in params.items()}


@cases({1: 2.0, (2, 3): 4.0, "s": 5.0, None: 6.0})
def keys_of_many_types(d):
    return d[1] + d[2, 3] + d["s"] + d[None]


@cases({"x": 1.0, "y": 2.0}, 3)
def dict_carried_by_a_loop(d, n):
    for _ in range(n):
        d["x"], d["y"] = d["y"], d["x"] + d["y"]
    return d


@cases.each(({"x": 1.0}, 1.0), ({"x": 1.0}, -1.0))
def dict_changed_under_a_branch(d, c):
    if c > 0:
        d["x"] = c * 5
    return d["x"]


# ---------------------------------------------------------------- identity, other containers


@cases([1.0], {"a": 2.0}, np.array([3.0]), (4.0,))
def arguments_given_back(xs, d, x, t):
    return xs, d, x, t


@cases(np.array([1.0, 2.0]))
def one_object_twice(x):
    y = x * 2
    pair = [y, y]
    return x, pair, pair, [x]


def aliased_arguments():
    x, xs = np.array([1.0, 2.0]), [1.0]
    return x, x, [xs, xs]


@cases(*aliased_arguments())
def one_argument_twice(x, y, lists):
    x += 1
    y *= 2
    lists[0].append(5.0)
    return x is y, lists[1]


@cases(1.0)
def sets_of_known_things(x):
    names = {"a", "b", "a"}
    return len(names), "a" in names, names | {"c"}, sorted(names - {"a"}), frozenset(("z",)), x


@cases(2.0)
def builtins_on_structure(x):
    return (
        list(range(4)),
        list(zip((1, 2), (x, x * 2))),
        list(enumerate("ab")),
        tuple([x, x]),
        dict(a=x),
        dict([("b", x)]),
        list(map(str, (1, 2))),
        len("abc"),
        isinstance(x, (int, str)),
        max([1, 5, 3]),
        min("b", "a"),
        sum([[1], [2]], []),
    )


@cases(2.0)
def other_containers(x):
    p = Pair(x, 1.0)
    return p.first + p.second, range(3)[1], len(range(2, 10, 3)), slice(1, 2).stop


@cases(jnp.array([1.0, 2.0]), {"a": [np.array([3]), (4.0, None, "s")]})
def mixed_structure_comes_back(x, tree):
    return {"x": x * 2, "tree": tree, "deep": [(x, {"n": None}), "text", 3, 2.5, True]}


@cases(np.arange(3.0))
def a_dict_whose_order_changes_in_a_loop(x):
    d = {"b": x, "a": x * 2}
    for _ in range(2000):
        d = {k: d[k] * 0.5 for k in sorted(d)}
    return list(d.items())


@cases.each(
    (np.arange(5.0), slice(0, 2)),
    (np.arange(5.0), slice(None, None, -2)),
    (np.arange(5.0), slice(-2, None)),
)
def indexed_by_a_slice_of_the_caller(x, s):
    return x[s], s, s.start, x[s].sum()


@cases(np.arange(5.0), range(1, 4))
def over_a_range_of_the_caller(x, r):
    total = 0.0
    for i in r:
        total += i * x[i]
    return total, len(r), r[-1], r


@cases.each((9, np.array([3])), (9, np.array([-9])))
@cases(9, np.array([9]), raises=IndexError)
@cases(1, np.array([0]), raises=IndexError)
def items_of_ranges(n, k):
    return range(n)[k[0]], range(n)[1], range(2, n, 3)[-1]


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
