"""Searches in sorted arrays and counts, against NumPy."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from checking import check as check_program

from library.harness import Known, check, check_call
from pystage.compiler.library.numpy import searching  # noqa: F401
from pystage.compiler.values.lattice import Abstract, Const


def compare_runs(program: Any, *args: Any) -> None:
    """Checks a whole program, which may raise."""
    try:
        program(*args)
    except ValueError:
        check_program(program, *args, raises=ValueError)
    else:
        check_program(program, *args)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 40])
def test_searchsorted(size: int, side: str) -> None:
    rng = np.random.default_rng(size)
    for dtype in ("float64", "int32", "uint8", "float32"):
        values = np.sort(rng.integers(0, 12, size)).astype(dtype)
        needles = np.concatenate([values, rng.integers(0, 14, (9,)).astype(dtype)])
        check_call(np.searchsorted, values, needles, side=Known(side))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_orders_nan_last(side: str) -> None:
    values = np.array([-np.inf, 1, 1, 3, np.inf, np.nan, np.nan])
    needles = np.array([[np.nan, 1, np.inf], [-np.inf, 2, -0.0]])
    check_call(np.searchsorted, values, needles, side=Known(side))
    check_call(np.searchsorted, values[:5].copy(), needles, side=Known(side))


def test_searchsorted_of_kinds() -> None:
    values = np.array([1, 3, 5], np.int8)
    for needle in (3, 2.5, np.float32(4), np.array(3), [1, 2.5], 300, Known(3), np.zeros((0, 2))):
        check_call(np.searchsorted, values, needle)
    check_call(np.searchsorted, [1, 2, 3], 2)
    check_call(np.searchsorted, np.array([5, 1, 3]), np.array([2, 4]), sorter=np.array([1, 2, 0]))
    check_call(np.searchsorted, np.array([5, 1, 3]), np.array([2, 4]), sorter=np.array([1, 2]))
    check_call(np.searchsorted, np.array([5, 1, 3]), np.array([2, 4]), sorter=np.array([1.0, 2, 0]))
    check_call(np.searchsorted, np.ones((2, 2)), 1.0)
    check_call(np.searchsorted, np.float64(1), 1.0)
    check_call(np.searchsorted, values, 2, side=Known("middle"))
    check_call(np.searchsorted, jnp.asarray([1.0, 2, 3]), 2.0)  # NumPy calls the method of the array
    check_call(np.searchsorted, values, jnp.asarray([1.0, 2, 3]))
    check_call(jnp.searchsorted, jnp.asarray([1.0, 2, 3]), jnp.asarray([2.0, 9]), side=Known("right"))
    check_call(np.searchsorted, np.array([False, True]), np.array([True, False]))


BINS = [
    [1.0, 2.0, 4.0], [4.0, 2.0, 1.0], [1.0, 1.0, 2.0], [3.0, 3.0], [3.0, 1.0, 2.0], [np.nan, 1.0, 2.0],
    [2.0, 1, np.nan], [1.0, np.nan], [1.0, 1, 1, np.nan, 4, 4],
]  # fmt: skip


@pytest.mark.parametrize("bins", [*BINS, [2.0], []], ids=str)
def test_digitize(bins: list[float]) -> None:
    def program(x: Any, bins: Any) -> Any:
        return np.digitize(x, bins), np.digitize(2.0, bins, right=True), np.digitize(x[0, 0], bins)

    compare_runs(program, np.array([[0.5, 1, 1.5], [2, np.nan, 9]]), np.array(bins))


def test_digitize_known_bins() -> None:
    def program(x: Any) -> Any:
        return np.digitize(x, [1, 2, 4]), np.digitize(x, (4.0, 2.0)), np.digitize(x, [np.nan, 2.0, 1.0])

    compare_runs(program, np.array([0.5, 2.0, np.inf]))
    compare_runs(lambda x: np.digitize(x, [3.0, 1.0, 2.0]), np.ones(2))


def test_sorter() -> None:
    def program(order: Any, v: Any) -> Any:
        return np.searchsorted(np.array([3.0, 1.0, 2.0]), v, sorter=order), order.sum()

    for order in ([1, 2, 0], [1, 5, 0], [1, -1, 0], [9, 9, 9]):
        compare_runs(program, np.array(order), np.array([2.0, 3.5]))


def test_bincount() -> None:
    x = np.array([1, 200, 1], np.uint8)
    check_call(np.bincount, x, minlength=Known(256))
    check_call(np.bincount, x, np.array([0.5, 2, 3], np.float32), Known(300))
    check_call(np.bincount, np.array([True, False, True]), minlength=Known(2))
    check_call(np.bincount, Known((1, 4, 1)))
    check_call(np.bincount, Known((1, 4, 1)), np.array([1, 2, 3]))
    check_call(np.bincount, Known((1, -4, 1)))
    check_call(np.bincount, x, np.ones(2), Known(256))
    check_call(np.bincount, np.ones(3), minlength=Known(256))
    check_call(np.bincount, np.ones((2, 2), np.uint8), minlength=Known(256))


def test_count_before_grows_with_the_logarithm() -> None:
    def ops(size: int) -> int:
        ctx = check_call(np.searchsorted, np.arange(size), np.array([3]))
        return len(ctx.body.ops)

    assert ops(2000) - ops(1000) == ops(1000) - ops(500) < 20


def test_search_follows_the_array_as_it_is_now() -> None:
    def staged(ctx: Any, x: Abstract, v: Abstract) -> Abstract:
        ctx.call(Const(np.copyto), [x, Const(7)])
        found: Abstract = ctx.call(Const(np.searchsorted), [x, v])
        return found

    def plain(x: np.ndarray, v: int) -> Any:
        np.copyto(x, 7)
        return np.searchsorted(x, v)

    check(staged, plain, np.array([1, 2, 3]), 5)
