"""The checker itself: it must find each kind of difference, by being given a wrong "staged" function."""

from __future__ import annotations

import copy
from collections import namedtuple
from dataclasses import dataclass

import checking
import jax.numpy as jnp
import numpy as np
import pytest
from checking import check


@dataclass
class Box:
    content: object


Pair = namedtuple("Pair", "first second")


def fails(plain, wrong, *args, **options):
    """Asserts that the checker tells `wrong` from `plain`, and that it accepts `plain` itself."""
    check(plain, *args, staged=plain, **options)
    with pytest.raises(AssertionError):
        check(plain, *args, staged=wrong, **options)


VALUES = {
    "value": (1.0, 1.0001),
    "int for float": (1.0, 1),
    "bool for int": (1, True),
    "numpy scalar for float": (1.0, np.float64(1.0)),
    "ndarray for numpy scalar": (np.float64(1.0), np.asarray(1.0)),
    "dtype": (np.float32(1.0), np.float64(1.0)),
    "shape": (np.zeros((1, 3)), np.zeros(3)),
    "array value": (np.array([1.0, 2.0]), np.array([1.0, 2.1])),
    "integer off by one": (np.array([1, 2]), np.array([1, 3])),
    "nan for number": (np.array([1.0]), np.array([np.nan])),
    "number for nan": (np.array([np.nan]), np.array([1.0])),
    "jax for numpy": (np.ones(2, np.float32), jnp.ones(2)),
    "numpy for jax": (jnp.ones(2), np.ones(2, np.float32)),
    "weak for strong": (jnp.float32(1.0), jnp.asarray(1.0)),
    "list for tuple": ((1, 2), [1, 2]),
    "length": ([1, 2], [1, 2, 3]),
    "tuple for named tuple": (Pair(1, 2), (1, 2)),
    "dict order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "dict value": ({"a": 1}, {"a": 2}),
    "field": (Box(1), Box(2)),
    "class": (Box(1), Pair(1, 2)),
    "string": ("a", "b"),
    "none": (1.0, None),
    "imaginary part": (1 + 2j, 1 + 2.1j),
}


@pytest.mark.parametrize("right, wrong", VALUES.values(), ids=VALUES)
def test_finds_a_different_value(right, wrong):
    fails(lambda: copy.deepcopy(right), lambda: copy.deepcopy(wrong))
    fails(lambda: [{"deep": (copy.deepcopy(right),)}], lambda: [{"deep": (copy.deepcopy(wrong),)}])


def test_finds_a_missing_mutation():
    def store(x):
        x[0] = 5.0

    fails(store, lambda x: None, np.zeros(3))


def test_finds_a_mutation_too_many():
    def store(x):
        x[0] = 5.0
        return 1.0

    fails(lambda x: 1.0, store, np.zeros(3))


def test_finds_a_copy_in_place_of_an_argument():
    fails(lambda x: x, lambda x: x.copy(), np.zeros(3))
    fails(lambda x: x, lambda x: list(x), [1, 2])
    fails(lambda box: box, lambda box: Box(box.content), Box(1))


def test_finds_an_argument_in_place_of_a_copy():
    fails(lambda x: x.copy(), lambda x: x, np.zeros(3))


def test_finds_two_objects_in_place_of_one():
    def one():
        x = np.zeros(2)
        return x, x

    fails(one, lambda: (np.zeros(2), np.zeros(2)))
    fails(lambda: (np.zeros(2), np.zeros(2)), one)


def test_finds_a_view_that_became_a_copy():
    fails(lambda x: x[1:], lambda x: x[1:].copy(), np.zeros(3))
    fails(lambda x: x[1:].copy(), lambda x: x[1:], np.zeros(3))


def test_finds_a_result_that_became_read_only():
    def frozen():
        x = np.zeros(2)
        x.flags.writeable = False
        return x

    fails(lambda: np.zeros(2), frozen)


def test_finds_a_different_exception():
    def stop(kind, text):
        raise kind(text)

    fails(lambda: stop(ValueError, "a"), lambda: stop(TypeError, "a"), raises=ValueError)
    fails(lambda: stop(ValueError, "a"), lambda: stop(ValueError, "b"), raises=ValueError)
    fails(lambda: stop(ValueError, "a"), lambda: 1.0, raises=ValueError)
    fails(lambda: 1.0, lambda: stop(ValueError, "a"))


def test_finds_an_exception_that_was_not_expected():
    def stop():
        raise ValueError("a")

    with pytest.raises(ValueError, match="a"):
        check(stop, staged=stop)
    with pytest.raises(AssertionError):
        check(stop, staged=stop, raises=KeyError)
    with pytest.raises(AssertionError):
        check(lambda: 1.0, staged=lambda: 1.0, raises=KeyError)


def test_finds_what_only_a_later_call_does():
    calls = []

    def wrong():
        calls.append(None)
        return 1.0 if len(calls) == 1 else 2.0

    with pytest.raises(AssertionError, match="call 2"):
        check(lambda: 1.0, staged=wrong)


def test_keeps_one_argument_given_twice_one():
    def add(x, y):
        x += 1.0
        return y

    x = np.zeros(2)
    fails(add, lambda x, y: add(x, y.copy()), x, x)


def test_gives_each_run_its_own_arguments():
    def add(x):
        x += 1.0

    x = np.zeros(2)
    check(add, x, staged=add)
    assert x.tolist() == [0.0, 0.0]


def test_refuses_a_program_with_nothing_to_compare():
    with pytest.raises(pytest.fail.Exception, match="nothing to check"):
        check(lambda x: None, np.zeros(2), staged=lambda x: None)


def test_accepts_rounding():
    check(lambda: 1.0, staged=lambda: 1.0 + 1e-14)
    check(lambda: np.float32(1.0), staged=lambda: np.float32(1.000001))
    check(lambda: np.nan, staged=lambda: np.nan)


def test_runs_the_program_in_the_interpreter(monkeypatch):
    monkeypatch.setattr(checking, "INTERPRETED", 1)
    monkeypatch.setattr(checking, "interpret", lambda function, operands: (np.array(5.0),))
    check(lambda x: x + 1.0, 2.0, interpreted=False)
    with pytest.raises(AssertionError, match="interpreted"):
        check(lambda x: x + 1.0, 2.0)
