"""`lazy.random`: NumPy's own numbers, as tensors."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from pystage import lazy

X = np.arange(12.0).reshape(4, 3)

DRAWS: list[Callable[[Any, Callable[..., Any]], Any]] = [
    lambda rng, _: rng.random((2, 3), dtype=np.float32),
    lambda rng, _: rng.uniform(-1, 1, 3),
    lambda rng, _: rng.normal(2.0, size=(2, 2)),
    lambda rng, asarray: rng.normal(asarray(X[0]), 0.1),
    lambda rng, _: rng.standard_normal(4),
    lambda rng, _: rng.integers(10, size=5, dtype=np.int32),
    lambda rng, _: rng.random(),
    lambda rng, _: rng.integers(5),
    lambda rng, _: rng.exponential(size=2),
    lambda rng, _: rng.permutation(6),
    lambda rng, asarray: rng.permutation(asarray(X)),
    lambda rng, asarray: rng.permutation(asarray(X), axis=1),
    lambda rng, asarray: rng.permutation(asarray(X[:, 0])),
    lambda rng, asarray: rng.permuted(asarray(X), axis=1),
    lambda rng, _: rng.choice(9, 4, replace=False),
    lambda rng, asarray: rng.choice(asarray(X), 2, axis=1),
    lambda rng, asarray: rng.choice(asarray(X), (2, 2), p=asarray(np.array([0.1, 0.2, 0.3, 0.4]))),
    lambda rng, asarray: rng.choice(asarray(X[:, 0])),
    lambda rng, asarray: rng.random(out=asarray(np.zeros(3))),
]


def test_numbers_are_those_of_numpy_with_the_same_seed() -> None:
    ours, theirs = lazy.random.default_rng(5), np.random.default_rng(5)
    for i, draw in enumerate(DRAWS):
        found, wanted = draw(ours, lazy.asarray), draw(theirs, np.copy)
        if isinstance(wanted, np.ndarray):
            assert type(found) is lazy.LazyTensor, i
        else:
            assert np.shape(found) == (), i
        assert np.asarray(found).dtype == np.asarray(wanted).dtype, i
        assert np.array_equal(np.asarray(found), wanted), i


def test_shuffle_is_in_place_and_seen_by_views() -> None:
    for axis in (0, 1):
        x, expected = lazy.asarray(X), X.copy()
        row = x[1]
        lazy.random.default_rng(3).shuffle(x, axis=axis)
        np.random.default_rng(3).shuffle(expected, axis=axis)
        assert np.array_equal(np.asarray(x), expected) and np.array_equal(np.asarray(row), expected[1])


def test_a_generator_of_numpys_goes_on_and_its_state_can_be_restored() -> None:
    theirs = np.random.default_rng(1)
    ours = lazy.random.default_rng(theirs)
    before = copy.deepcopy(ours.bit_generator.state)
    first = ours.random(3).tolist()
    ours.bit_generator.state = before
    assert ours.random(3).tolist() == first != theirs.random(3).tolist()
    children = lazy.random.default_rng(1).spawn(2), np.random.default_rng(1).spawn(2)
    assert [c.random(2).tolist() for c in children[0]] == [c.random(2).tolist() for c in children[1]]


def test_drawing_and_choosing_compute_nothing_that_is_pending() -> None:
    rng = lazy.random.default_rng(0)
    x = lazy.asarray(X) * 2
    rng.shuffle(x)
    chosen = rng.choice(rng.permutation(x), 3)
    assert x._node.array is None and chosen._node.array is None
