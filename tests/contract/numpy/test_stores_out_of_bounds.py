"""Stores at places that may be outside, of numbers that may not fit: which exception NumPy raises first.

A single integer, in any index, is looked up before the value is looked at; arrays of places are looked up at the end.
"""

from __future__ import annotations

import numpy as np
import pytest
from checking import check


def _store(a, key, v):
    a[key] = v


def _flat(a, key, v):
    a.flat[key] = v


STORES = {
    "element": lambda a, n, v: _store(a[0], n, v),
    "elements": lambda a, n, v: _store(a, (0, n), v),
    "row": lambda a, n, v: _store(a, n, v),
    "row of a tuple": lambda a, n, v: _store(a, (n, slice(None)), v),
    "element and ellipsis": lambda a, n, v: _store(a, (n, 0, ...), v),
    "new axis and integer": lambda a, n, v: _store(a, (None, n), v),
    "slice": lambda a, n, v: _store(a, slice(1, 2), v),
    "empty slice": lambda a, n, v: _store(a[:0], ([0, 1][:0]), v),
    "list": lambda a, n, v: _store(a, [n, 0], v),
    "list of one axis": lambda a, n, v: _store(a[0], [n, 0], v),
    "array": lambda a, n, v: _store(a, np.array([n, 0]), v),
    "two lists": lambda a, n, v: _store(a, ([0, n], [0, 1]), v),
    "two lists, the last outside": lambda a, n, v: _store(a, ([0, 1], [n, 1]), v),
    "two lists that do not go together": lambda a, n, v: _store(a, ([0, 1], [n, 1, 1]), v),
    "integer and list": lambda a, n, v: _store(a, (n, [0, 1]), v),
    "list and integer": lambda a, n, v: _store(a, ([0, 1], n), v),
    "list outside and integer": lambda a, n, v: _store(a, ([0, n], 1), v),
    "list and slice": lambda a, n, v: _store(a, (slice(None), [n, 0]), v),
    "mask": lambda a, n, v: _store(a, a[:, 0] > n, v),
    "mask and integer": lambda a, n, v: _store(a, (a[:, 0] > 1, n), v if np.ndim(v) == 0 else v[:1]),
    "put": lambda a, n, v: np.put(a, n, v),
    "put a list": lambda a, n, v: np.put(a, [0, n], v),
    "put_along_axis": lambda a, n, v: np.put_along_axis(a[0], np.array([n]), v, 0),
    "flat": lambda a, n, v: _flat(a, n, 300),
    "flat list": lambda a, n, v: _flat(a, [n, 0], v),
    "flat array": lambda a, n, v: _flat(a, np.array([0, n]), v),
    "flat slice": lambda a, n, v: _flat(a, slice(0, 2), v),
    "add.at": lambda a, n, v: np.add.at(a, [n, 0], np.ones(np.shape(v), np.uint8)),
    "read-only, element": lambda a, n, v: _store(np.broadcast_to(a[0], (2, 3)), (0, n), v),
    "read-only, list": lambda a, n, v: _store(np.broadcast_to(a[0], (2, 3)), [n, 0], v),
    "read-only, put": lambda a, n, v: np.put(np.broadcast_to(a[0], (2, 3)), [n, 0], v),
    "augmented": lambda a, n, v: _store(a, [n, 0], a[[n, 0]] + 1),
}

KINDS = {"number": lambda v: v, "list": lambda v: [1, v], "three": lambda v: [v, 1, 1]}

INPUTS = [(n, v) for n in (1, 40, -40) for v in (5, 300)] + [(40, float("nan")), (1, float("nan"))]


def _raised(function, *args):
    try:
        function(*args)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STORES)
def test_what_is_raised_first(name, kind):
    """Places and numbers of arguments, and known ones."""
    store, made = STORES[name], KINDS[kind]

    def given(a, n, v):
        store(a, n, made(v))
        return a

    def known(a):
        store(a, 40, made(300))
        return a

    def known_place(a, v):
        store(a, 40, made(v))
        return a

    a = np.arange(6, dtype=np.uint8).reshape(2, 3)
    for n, v in INPUTS:
        check(given, a, n, v, raises=_raised(given, a.copy(), n, v), runs=1)
    for v in (5, 300):
        check(known_place, a, v, raises=_raised(known_place, a.copy(), v), runs=1)
    check(known, a, raises=_raised(known, a.copy()), runs=1)


def _puts(x, y):
    np.put(x, [1, 9], y)


def _puts_by_method(x, y):
    x.put([0, -9, 1], [3.0, 4.0, 5.0])


def _puts_into_what_is_known(x, y):
    made = np.zeros(3)
    try:
        np.put(made, [0, 7], 1.5)
    except IndexError as error:
        return made, str(error), y


@pytest.mark.parametrize(
    ("store", "raises"),
    [(_puts, IndexError), (_puts_by_method, IndexError), (_puts_into_what_is_known, None)],
)
def test_what_is_stored_before_a_known_place_outside(store, raises):
    check(store, np.array([0.25, 1.5]), np.array([5.5, 6.5]), raises=raises)


def test_what_numpy_stores_before_it_refuses_a_type_is_refused():
    """`np.round` stores the real parts before it raises, `np.ptp` the maximum."""
    check(lambda x, y: np.round(x, 1, out=y), np.array([1.25 + 2j]), np.zeros(1), refused="PS209")
    check(lambda x, y: np.ptp(x, out=y), np.array([3.0, 1.5]), np.zeros((), int), refused="PS209")
