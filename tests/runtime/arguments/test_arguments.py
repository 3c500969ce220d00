"""What cannot enter a program is refused with a code and a place; what can, is not registered anywhere."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.linear_model import Ridge

import pystage


class Node:
    def __init__(self, value: Any, next: Any = None) -> None:
        self.value = value
        self.next = next


def keep(x: Any, y: Any = 1.0) -> Any:
    return y


def cycle() -> Node:
    node = Node(1.0)
    node.next = Node(2.0, node)
    return node


def self_list() -> list[Any]:
    xs: list[Any] = [1.0]
    xs.append(xs)
    return xs


def self_dict() -> dict[str, Any]:
    d: dict[str, Any] = {}
    d["me"] = d
    return d


def chain(length: int) -> Node:
    node = Node(0.0)
    for i in range(length):
        node = Node(float(i), node)
    return node


def library_object() -> Ridge:
    """An object of a package that is not looked into, with something inside that cannot enter a program."""
    model = Ridge()
    model.inside = {"lock": threading.Lock()}
    return model


BAD = {
    "file": (lambda: open(__file__), "PS801", "`x` is a _io.TextIOWrapper"),  # noqa: SIM115
    "library": (
        lambda: [library_object()],
        "PS801",
        r"(?s)`x\[0\]` is a sklearn.linear_model._ridge.Ridge.*fit outside",
    ),
    "lock": (lambda: Node([threading.Lock()]), "PS801", r"`x.value\[0\]` is a _thread.lock"),
    "set": (lambda: {"a": {1, 2}}, "PS801", r"`x\['a'\]` is a set"),
    "generator": (lambda: (i for i in range(3)), "PS801", "is a generator"),
    "masked": (lambda: np.ma.masked_array([1.0], [True]), "PS801", "MaskedArray"),
    "matrix": (lambda: np.ones((2, 2)).view(np.recarray), "PS801", "recarray"),
    "datetime": (lambda: np.datetime64("2020"), "PS801", "datetime64"),
    "longdouble": (lambda: np.longdouble(1), "PS801", "longdouble"),
    "objects": (lambda: np.array([None, 1]), "PS802", "the array `x` has Python objects as elements"),
    "structured": (lambda: np.zeros(2, [("a", "U4")]), "PS802", "a structured dtype"),
    "strings": (lambda: [np.array(["a"])], "PS802", r"the array `x\[0\]` has the element type <U1"),
    "byte order": (lambda: np.ones(2, ">f4"), "PS802", "a byte order"),
    "float8": (lambda: jnp.ones(2, jnp.float8_e4m3fn), "PS802", "float8"),
    "large int": (lambda: [2**63], "PS803", r"the integer `x\[0\]` does not fit in 64 bits"),
    "cycle": (cycle, "PS804", "`x.next.next` is the object that it is part of"),
    "cyclic list": (self_list, "PS804", r"`x\[1\]`"),
    "cyclic dict": (self_dict, "PS804", r"`x\['me'\]`"),
    "deep": (lambda: chain(100_000), "PS805", "is nested deeper than"),
    "shape": (lambda: jax.ShapeDtypeStruct((2,), np.float32), "PS801", "ShapeDtypeStruct"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_enter_a_program_is_refused_and_the_next_call_works(name: str) -> None:
    make, code, text = BAD[name]
    staged = pystage.compile(keep)
    bad = make()
    for value in (bad, bad):
        with pytest.raises(pystage.StagingError, match=text) as caught:
            staged(value)
        assert [d.code for d in caught.value.diagnostics] == [code]
        assert "def keep" in str(caught.value)
        assert staged(jnp.ones(2)) == 1.0
        assert staged([np.ones(2)], 3.0) == 3.0
    if hasattr(bad, "close"):
        bad.close()


@pytest.mark.parametrize("bad", [np.array([None]), np.zeros(1, [("a", "U4")]), np.array(["a"])], ids=str)
def test_elements_that_are_bad_after_a_good_call(bad: Any) -> None:
    staged = pystage.compile(keep)
    assert staged(np.ones(1)) == 1.0
    with pytest.raises(pystage.StagingError, match="PS802"):
        staged(bad)
    assert staged(np.ones(1)) == 1.0


def test_an_integer_that_is_too_large_after_a_good_call() -> None:
    staged = pystage.compile(lambda n: n + 1)
    assert staged(2**62) == 2**62 + 1
    with pytest.raises(pystage.StagingError, match="PS803"):
        staged(2**64)
    assert staged(-(2**63)) == -(2**63) + 1


def total(rows: list[Any]) -> Any:
    found: Any = 0
    for a, *rest in rows:
        found += a
        for b in rest:
            found += b * 2
    return found


@pytest.mark.parametrize(
    "rows",
    [
        [(k, k + 1) for k in range(20)],
        [(k, k + 0.5) for k in range(20)],
        [(k, k + 0.5) if k % 2 else (k + 0.5, k) for k in range(20)],
        [(k,) if k == 7 else (k, 1) for k in range(20)],
        [[k, True] if k else (k, 2) for k in range(20)],
        [(k, np.ones(2) if k == 3 else 1) for k in range(20)],
        [(), (1,)],
    ],
    ids=lambda rows: str(rows[-1]),
)
def test_rows_of_the_same_and_of_other_types_one_after_the_other(rows: list[Any]) -> None:
    staged = pystage.compile(total, fallback="python")
    for each in ([(1, 2)] * 20, rows, rows[::-1], [(k, 1) for k in range(20)], rows):
        try:
            expected = total(each)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                staged(each)
        else:
            found = staged(each)
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)


@dataclass
class Settings:
    path: Path
    ratio: Fraction
    scale: Any


def test_plain_objects_of_any_library_may_come_along() -> None:
    settings = Settings(Path("a/b"), Fraction(1, 3), np.ones(2))
    assert pystage.compile(lambda s: (s.scale * 2).sum())(settings) == 4.0
    assert pystage.compile(keep)(OrderedDict(a=settings)) == 1.0


def test_nothing_is_registered_with_jax() -> None:
    node = Node(np.ones(2))
    pystage.compile(lambda n: n.value * 2)(node)
    assert jax.tree.leaves(node) == [node]


def test_typed_keys_enter_and_leave() -> None:
    @pystage.compile
    def split(key: Any) -> Any:
        return jax.random.split(key)

    key = jax.random.key(0)
    got = split(key)
    assert got.dtype == key.dtype
    expected = jax.random.key_data(jax.random.split(key))
    np.testing.assert_array_equal(jax.random.key_data(got), expected)
    other = jax.random.key(0, impl="rbg")
    assert split(other).dtype == other.dtype
