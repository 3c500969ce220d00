"""`np.unravel_index` of places that the program computes."""

from __future__ import annotations

import numpy as np
import pytest
from checking import check

A = np.random.default_rng(0).standard_normal((3, 4, 2))


@pytest.mark.parametrize("order", ["C", "F"])
def test_of_computed_places(order) -> None:
    def largest(a):
        return np.unravel_index(a.argmax(), a.shape, order)

    def several(a):
        return np.unravel_index(np.argsort(a, axis=None).reshape(6, 4), a.shape, order=order)

    def used(a):
        i, j, k = np.unravel_index(np.abs(a).argmax(), a.shape)
        a[i, j, k] = 0.0
        return a.sum()

    for function in (largest, several, used):
        check(function, A.copy())


def test_outside() -> None:
    def one(i):
        return np.unravel_index(i[0], (3, 4))

    def several(i):
        return np.unravel_index(i, (3, 4))

    for function in (one, several):
        check(function, np.array([11, 3]))
        check(function, np.array([12, 3]), raises=ValueError)
        check(function, np.array([-1, 3]), raises=ValueError)


def test_of_known_places() -> None:
    def known(a):
        return np.unravel_index(5, a.shape), np.unravel_index([5, 1], a.shape)

    check(known, A)
