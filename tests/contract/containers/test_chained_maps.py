"""Containers of `collections` that are written in Python: `ChainMap`, `UserDict`, `UserList`, staged from their source."""

from __future__ import annotations

from collections import ChainMap, UserDict, UserList

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


@cases.each((2.0,), (-1.0,))
def looked_up(x):
    a = ChainMap({"a": x, "b": x + 1}, {"b": 3.0, "c": 4.0})
    a["c"] = x * 2
    return a["a"] + a["b"] + a["c"], len(a), "z" in a, list(a), a.get("y", x), dict(a), a.maps[1]["c"], {**a}


@cases.each((ChainMap({"a": 1.0}, {"b": 2.0}), 3.0))
def of_the_caller(m, x):
    m["a"] = x
    m["n"] = m["b"] * x
    child = m.new_child({"a": 7.0})
    return m, sum(m.values()), child["a"], child.parents["a"], list(child.items()), child


@cases.each((ChainMap({"a": 1.0}, {"b": 2.0}), 3.0))
def removed(m, x):
    found = m.pop("a")
    m.update(b=x)
    del m["b"]
    return found, m["b"], bool(m), len(m)


@cases.each((ChainMap({"a": 1.0}, {"b": 2.0}),), raises=KeyError)
def missing(m):
    m["a"] = 5.0
    return m["nope"]


@cases.each((ChainMap({"a": 1.0}, {"b": 2.0}),), raises=KeyError)
def not_in_the_first(m):
    m["a"] = 5.0
    del m["b"]


@cases.each((4, 2.0))
def as_scopes(n, x):
    scope = ChainMap({"x": x})
    for i in range(n):
        scope = scope.new_child()
        scope["x"] = scope["x"] * 2
    return scope["x"], scope


@cases.each((np.array([1.0, 2.0]),))
def wrapped(a):
    d = UserDict({"a": a})
    d["b"] = a * 2
    d["a"][0] = 9.0
    xs = UserList([a[0]])
    xs.append(a[1])
    return d, xs, xs[0] + xs[1], "b" in d, len(d)


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
