"""Operators by the standard's rules, and by NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
import pytest

import pystage
from pystage import lazy


@pytest.fixture
def standard() -> Iterator[None]:
    """Operators follow the standard."""
    lazy.set_operators("standard")
    yield
    lazy.set_operators("numpy")


@pytest.mark.usefixtures("standard")
def test_operators_are_the_functions_of_the_standard() -> None:
    x, n = lazy.asarray([inf, 2.5, -2.5]), lazy.asarray([1, 2, 3])
    assert (x // 2.0).tolist() == [inf, 1.0, -2.0]
    assert (2.0 // x).tolist() == [0.0, 0.0, -1.0]
    assert (n @ n).shape == (), "an array, no scalar of NumPy's"
    assert isinstance(-n, lazy.LazyTensor) and (~n).tolist() == [-2, -3, -4]
    for refused in (lambda: n + x, lambda: x & x, lambda: abs(lazy.asarray([True])), lambda: x + np.ones(3)):
        with pytest.raises(TypeError):
            refused()


@pytest.mark.usefixtures("standard")
@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"])
def test_in_place_operators_store_what_the_function_gives(name: str) -> None:
    x, y = 2.0 * np.eye(3), np.full((3, 3), 3.0)
    tensor = lazy.asarray(x)
    view = tensor[:2]
    assert getattr(operator, name)(tensor, lazy.asarray(y)) is tensor
    expected = getattr(operator, name)(x, y)
    assert np.array_equal(np.asarray(tensor), expected, equal_nan=True)
    assert np.array_equal(np.asarray(view), expected[:2], equal_nan=True)


@pytest.mark.usefixtures("standard")
def test_in_place_operators_keep_type_and_shape() -> None:
    x = lazy.ones(3, dtype=lazy.float32)
    with pytest.raises(TypeError, match="float64, and cannot go into an array of float32"):
        x += lazy.ones(3)
    with pytest.raises(ValueError, match=r"shape \(2, 3\), and cannot go into an array of shape \(3,\)"):
        x += lazy.ones((2, 3), dtype=lazy.float32)


@pytest.mark.usefixtures("standard")
@pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
def test_tensors_in_place_of_ndarrays_follow_numpy() -> None:
    def halves(x: Any) -> Any:
        return eval("x // 2.0"), x + np.arange(3)

    x = np.array([inf, 5.0, -5.0])
    with np.errstate(invalid="ignore"):
        found, plain = pystage.compile(halves, fallback="lazy", tier="compiled")(x), halves(x)
    assert np.array_equal(found, plain, equal_nan=True)


def test_operators_are_numpys_unless_it_was_set() -> None:
    with np.errstate(invalid="ignore"):
        assert np.isnan((lazy.asarray([inf]) // 2.0).tolist()[0])
    with pytest.raises(ValueError, match="'numpy', 'standard', not 'numpys'"):
        lazy.set_operators("numpys")
