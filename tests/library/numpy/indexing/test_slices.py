"""What inference knows of the length of a slice with computed ends, where the program takes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler.analysis.ranges import Interval
from pystage.compiler.library.context import Context
from pystage.compiler.library.numpy.indexing import indices
from pystage.compiler.library.numpy.indexing.slices import SelectedPositions, SliceIndex, part_of
from pystage.compiler.values.lattice import Array, Const, SliceObject

X = np.random.default_rng(0).standard_normal(40)


def lengths(function: Callable[..., Any], *args: Any) -> list[Interval]:
    """The range of `stop - start` of each computed slice, as the last inference took it, in the order of the source."""
    found: dict[Any, Interval] = {}

    def watched(ctx: Context, entry: SliceObject, extent: int) -> SliceIndex | SelectedPositions:
        ends = [
            Const(missing) if isinstance(end, Const) and end.value is None else end
            for end, missing in ((entry.stop, extent), (entry.start, 0))
        ]
        if any(isinstance(end, Array) for end in ends):
            assert all(isinstance(end, Array | Const) for end in ends)
            found[ctx.span] = ctx.difference(*ends)  # type: ignore[arg-type]
        return part_of(ctx, entry, extent)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indices, "part_of", watched)
        pystage.compile(function, fallback="error").lower(*args)
    return list(found.values())


def blocks(x: np.ndarray, b: int) -> Any:
    t = 0.0
    for s in range(4):
        t += x[s * b : (s + 1) * b].sum()
    for i in range(0, len(x), 5):
        t += x[i : i + 5].sum()
    return t


def windows(x: np.ndarray) -> Any:
    t = 0.0
    for i in range(len(x)):
        t += x[max(i - 2, 0) : min(i + 3, len(x))].sum()
        t += x[i - 2 : i + 3].sum()
        w = int(x[i] > 0) + 2
        t += x[i : i + w].sum()
        t += x[i - w : i + w + 1].sum()
    return t


def triangle(a: np.ndarray) -> Any:
    t = 0.0
    for i in range(len(a)):
        for j in range(i):
            t += a[i, :j].sum()
            t += a[i, j:i].sum()
    return t


def counted(x: np.ndarray) -> Any:
    n = int((x > 0).sum())
    t = 0.0
    for i in range(n):
        t += x[:i].sum()
        t += x[: i // 2].sum()
        t += x[: n % 4].sum()
        t += x[: abs(i - 7)].sum()
        t += x[: len(x) - n].sum()
    return t


def of_numpy(x: np.ndarray) -> Any:
    n, m = np.count_nonzero(x > 0), np.argmax(x)
    t = x[:n].sum()
    t += x[m : m + 3].sum()
    t += x[: np.clip(n, 2, 5)].sum()
    t += x[: n // 2].sum()
    t += x[: n % 3].sum()
    return t


def refined(x: np.ndarray, n: int) -> Any:
    t = 0.0
    if 0 <= n < 6:
        t += x[:n].sum()
    if n < 0:
        raise ValueError
    t += x[n : n + 2].sum()
    return t


def carried(x: np.ndarray) -> Any:
    i, t = 0, 0.0
    while i + 5 <= len(x):
        t += x[i : i + 5].sum()
        i += 2
    lo, n = 0, 0
    for each in range(10):
        n = min(n + 1, 7)
        t += x[each : each + n].sum()
        lo = each
    return t + x[lo:10].sum()


def called(x: np.ndarray) -> Any:
    def part(i: int, w: int) -> Any:
        return x[i : i + w].sum()

    t = 0.0
    for i in range(8):
        t += part(i, i % 3)
    return t


def backwards(x: np.ndarray) -> Any:
    t = 0.0
    for i in range(9, -1, -2):
        t += x[:i].sum()
        t += x[i - 1 : i].sum()
    return t


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (blocks, (X, 10), [(10, 10), (5, 5)]),
        (windows, (X,), [(3, 5), (5, 5), (2, 3), (5, 7)]),
        (triangle, (X.reshape(5, 8),), [(0, 3), (-2, 4)]),
        (counted, (X,), [(0, 39), (0, 19), (0, 3), (0, 32), (0, 39)]),
        (of_numpy, (X,), [(0, 40), (3, 3), (2, 5), (0, 20), (0, 2)]),
        (refined, (X, 3), [(0, 5), (2, 2)]),
        (called, (X,), [(0, 2)]),
        (backwards, (X,), [(1, 9), (1, 1)]),
    ],
    ids=lambda x: x.__name__ if callable(x) else "",
)
def test_the_length_is_bounded_where_the_program_bounds_it(
    function: Callable[..., Any], args: tuple[Any, ...], expected: list[Interval]
) -> None:
    assert lengths(function, *args) == expected


def wrapped(x: np.ndarray, i: np.int64) -> Any:
    if i >= 0 and i + np.int64(5) <= 10:
        return x[i : i + np.int64(5)].sum()
    return -1.0


@pytest.mark.parametrize("i", [3, 2**63 - 3])
def test_an_end_that_has_wrapped_around_proves_no_window(i: int) -> None:
    with np.errstate(over="ignore"):
        assert pystage.compile(wrapped, fallback="error")(X, np.int64(i)) == wrapped(X, np.int64(i))


def test_what_a_loop_carries_is_bounded_as_far_as_its_trips_bound_it() -> None:
    window, growing, behind = lengths(carried, X)
    assert window == (5, 5)
    assert growing[0] >= 0 and growing[1] == 7
    assert behind == (1, 10)
