"""`Sort` beyond its samples: NumPy's order on hard values, several keys, axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pystage.compiler.ops import Sort

from ..running import application, run_xla, type_of

HARD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 1e4, -1e-4]


def sorted_by_xla(op: Sort, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
    return run_xla(application(op, *map(type_of, operands)), operands)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_are_ordered_as_numpy_orders_them(dtype: type) -> None:
    x = np.random.default_rng(1).permutation(np.array(HARD * 3)).astype(dtype)
    values, order = sorted_by_xla(Sort(0), x, np.arange(len(x)))
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(values.view(f"u{x.itemsize}"), x[order].view(f"u{x.itemsize}"))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_ordered_as_numpy_orders_them(dtype: type) -> None:
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    x = np.array([complex(re, im) for re, im in itertools.product(parts, parts)], dtype)
    x = np.random.default_rng(1).permutation(x)
    _, order = sorted_by_xla(Sort(0), x, np.arange(len(x)))
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


def test_keys_are_lexicographic() -> None:
    rng = np.random.default_rng(1)
    first = rng.choice(np.array([np.nan, 0.0, -0.0, 1.0]), 200)
    second = rng.integers(0, 3, 200)
    third = rng.choice(np.array([np.nan, 2.0]), 200)
    *_, order = sorted_by_xla(Sort(0, keys=3), first, second, third, np.arange(200))
    np.testing.assert_array_equal(order, np.lexsort((third, second, first)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_line_is_sorted_by_itself(axis: int) -> None:
    x = np.random.default_rng(1).integers(-99, 99, (4, 5, 6))
    (found,) = sorted_by_xla(Sort(axis), x)
    np.testing.assert_array_equal(found, np.sort(x, axis))
