"""Order statistics against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import check

from library.harness import Known, NeedsKnown, PlainContext, check_call, refused
from pystage.compiler.library.context import Context
from pystage.compiler.values.lattice import Abstract, Const

RNG = np.random.default_rng(0)
METHODS = [
    "linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "inverted_cdf",
    "averaged_inverted_cdf", "closest_observation", "median_unbiased",
]  # fmt: skip
ARRAYS: list[Any] = [
    RNG.standard_normal((5, 4)),
    RNG.integers(0, 9, (4, 6)),
    RNG.integers(0, 9, 7).astype(np.uint8),
    RNG.standard_normal(9).astype(np.float32),
    RNG.standard_normal(9).astype(np.float16),
    np.array([1, np.nan, 3]),
    np.array([1, np.inf, 3]),
    np.array([True, False, True]),
    np.array([1 + 2j, 3, 1 + 1j]),
    np.zeros(0),
    np.zeros((3, 0)),
    np.float64(3),
    np.array(3),
    [1, 2, 4],
    5,
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", ARRAYS, ids=str)
def test_median(x: Any) -> None:
    check_call(np.median, x)
    check_call(np.median, x, keepdims=Known(True))


def check_one(function: Any, x: Any, q: Any, known: bool) -> None:
    """A quantile of elements of a narrower type than the share has that type where it is NaN: a branch of the program."""
    x_type, q_type = np.asarray(x).dtype, getattr(q, "dtype", None)
    if q_type is None or np.ndim(q) or x_type.kind != "f" or np.result_type(x_type, q_type) == x_type:
        check_call(function, x, Known(q) if known else q)
    elif known:
        check(lambda x: function(x, q), x)
    else:
        check(lambda x, q: function(x, q), x, q)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", ARRAYS, ids=str)
def test_quantile(x: Any) -> None:
    for q in (0.3, 0, 1, 1.0, np.float64(0.7), np.float32(0.7), (0.1, 0.5, 1.0), 1.5):
        check_one(np.quantile, x, q, known=True)
    check_call(np.quantile, x, Known(0.4), keepdims=Known(True))
    check_call(np.percentile, x, Known(35))
    check_call(np.percentile, x, Known(35.0))


ENDS: list[Any] = [[-0.0], [-0.0, -0.0, -0.0], [1.0, np.inf], [-np.inf, -0.0], [-np.inf, np.inf]]
"""Elements of which one alone is the quantile at an end; beside it others may be infinite."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", [*METHODS, "interpolated_inverted_cdf", "normal_unbiased"])
@pytest.mark.parametrize("function", [np.quantile, np.nanquantile])
@pytest.mark.parametrize("x", ENDS, ids=str)
def test_ends(x: Any, function: Any, method: str) -> None:
    def quantiles(x: Any) -> Any:
        return function(x, [0.0, 0.1, 0.5, 0.9, 1.0, -0.0], method=method)

    check(quantiles, np.array(x), zeros=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", ENDS, ids=str)
def test_computed_shares_at_ends(x: Any) -> None:
    def quantiles(x: Any, q: Any) -> Any:
        return np.quantile(x, q), np.nanquantile(x, q)

    check(quantiles, np.array(x), np.array([0.0, 0.1, 0.5, 0.9, 1.0, -0.0]), zeros=True)


@pytest.mark.parametrize("shares", [np.array([1, 2], np.uint64), np.array([1 + 2j, 0.5])], ids=str)
def test_shares_that_numpy_refuses_after_their_range(shares: Any) -> None:
    check(lambda x, q: np.quantile(x, q), np.arange(5.0), shares, refused="PS203")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x", ARRAYS[:8], ids=str)
def test_methods(x: Any, method: str) -> None:
    for q in (0.4, (0.0, 0.25, 1.0)):
        check_call(np.quantile, x, Known(q), method=Known(method))


def test_axes() -> None:
    x = RNG.standard_normal((2, 3, 4))
    for axis in (0, -1, (0, 2), (2, 1), None):
        for keep in (False, True):
            check_call(np.median, x, axis=Known(axis), keepdims=Known(keep))
            check_call(np.quantile, x, Known((0.1, 0.5)), axis=Known(axis), keepdims=Known(keep))
            check_call(np.quantile, x, np.array([0.1, 0.5]), axis=Known(axis), keepdims=Known(keep))
    check_call(np.quantile, x, Known(((0.1, 0.2), (0.3, 0.4))), axis=Known(1))
    check_call(np.median, x, axis=Known(0), out=np.zeros((3, 4)))
    check_call(np.median, x, axis=Known(3))


@pytest.mark.parametrize("x", [a for a in ARRAYS[:7] if np.asarray(a).dtype != bool], ids=str)
def test_shares_that_the_program_computes(x: Any) -> None:
    for q in (np.array([0.2, 0.9]), np.array(0.5), np.float32(0.25), np.array([[0.0, 1.0]])):
        if np.isinf(x).any() and q.ndim == 2:
            continue
        check_one(np.quantile, x, q, known=False)
        check_one(np.percentile, x, q * np.float32(100), known=False)


@pytest.mark.parametrize("q", [np.array([0.5, 1.5]), np.array(np.nan)])
def test_shares_out_of_range(q: Any) -> None:
    check(lambda x, q: np.quantile(x, q), np.arange(3.0), q, raises=ValueError)
    check(lambda x, q: np.percentile(x, q), np.arange(3.0), q * 100, raises=ValueError)


def test_python_numbers_are_demanded() -> None:
    ctx = PlainContext()
    with pytest.raises(NeedsKnown):
        ctx.call(Const(np.quantile), [ctx.lift(np.ones(3)), ctx.lift(0.5)])


def test_refused() -> None:
    def call(**options: Any) -> Any:
        def staged(ctx: Context, x: Abstract, q: Abstract) -> Abstract:
            return ctx.call(Const(np.quantile), [x, q], {k: Const(v) for k, v in options.items()})

        return staged

    refused("PS203", call(method="lower"), np.ones(3), np.array([0.5]))
    refused("PS203", call(), np.ones(3), np.array([1]))
    refused("PS203", call(method="inverted_cdf", weights=2), np.ones(3), Known(0.5))
