"""Arithmetic on extents, known and not."""

from __future__ import annotations

import pytest

from pystage.compiler.hlo.extents import add, ceil_divide, same_size, scale, subtract
from pystage.compiler.hlo.types import Extent, Shape, Symbol, known_equal

N, M = Symbol("n"), Symbol("m")


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (add(2, 3), 5),
        (add(), 0),
        (subtract(2, 3), -1),
        (scale(4, 3), 12),
        (ceil_divide(7, 2), 4),
        (ceil_divide(6, 2), 3),
        (ceil_divide(0, 2), 0),
        (add(N, 0), N),
        (scale(N, 1), N),
        (scale(N, 0), 0),
        (ceil_divide(N, 1), N),
        (subtract(N, N), 0),
        (subtract(add(N, 5), N), 5),
        (add(N, 1), Symbol("n+1")),
        (add(add(N, 1), 1), add(2, N)),
        (subtract(add(N, 1), 1), N),
        (add(N, M), add(M, N)),
        (add(N, N, M), Symbol("m+2*n")),
        (subtract(M, scale(N, 2)), Symbol("m-2*n")),
        (subtract(0, N), Symbol("-n")),
        (add(subtract(0, N), N), 0),
        (subtract(3, N), Symbol("-n+3")),
        (ceil_divide(add(N, 1), 2), ceil_divide(add(1, N), 2)),
        (subtract(add(ceil_divide(N, 2), 3), 3), ceil_divide(N, 2)),
        (subtract(ceil_divide(ceil_divide(N, 2), 3), ceil_divide(ceil_divide(N, 2), 3)), 0),
        (subtract(add(Symbol("batch size"), 1), Symbol("batch size")), 1),
    ],
    ids=str,
)
def test_equal_forms_are_equal_extents(found: Extent, wanted: Extent) -> None:
    assert known_equal(found, wanted)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (N, M),
        (add(N, 1), N),
        (scale(N, 2), N),
        (ceil_divide(N, 2), N),
        (ceil_divide(N, 2), ceil_divide(N, 3)),
        (N, 3),
    ],
    ids=str,
)
def test_other_forms_are_not(left: Extent, right: Extent) -> None:
    assert not known_equal(left, right)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ((2, 3), (6,), True),
        ((2, 3), (5,), False),
        ((), (1, 1), True),
        ((0, 3), (5, 0), True),
        ((N, 2), (2, N), True),
        ((N, 4, M), (2, M, N, 2), True),
        ((N,), (M,), False),
        ((N, N), (N,), False),
        ((0, N), (0, M), True),
        ((N, 2), (N, 3), False),
    ],
    ids=str,
)
def test_same_size(left: Shape, right: Shape, same: bool) -> None:
    assert same_size(left, right) is same
