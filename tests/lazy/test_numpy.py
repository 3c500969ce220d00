"""Every function of NumPy gives on lazy tensors what it gives on ndarrays, recorded or not, and changes what it changes."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
from kinds.calls import ARRAYS, CALLS

from lazy.comparing import compare
from pystage.lazy.fallback import run_lazily

PARAMS = [
    pytest.param(text, id=f"{name}-{i}") for name, texts in CALLS.items() for i, text in enumerate(texts)
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("text", PARAMS)
def test_calls(text: str) -> None:
    names = [name for name in ARRAYS if name in text]

    def call(*arrays: Any) -> Any:
        return eval(text, {"np": np, "collections": collections, **dict(zip(names, arrays, strict=True))})

    compare(call, *[ARRAYS[name] for name in names])


def a_number_of_a_list(x: Any) -> None:
    x[0] = [1]


REFUSED = [
    (a_number_of_a_list, np.zeros(1)),
    (lambda x: x[(None,) * 70], np.array(0)),
    (lambda x: x[..., (None,) * 70], np.arange(3.0)),
    (lambda x: np.lexsort((x,), axis=10), np.array(1)),
    (lambda x: np.pad(x, 2, "mean", stat_length=-2), np.arange(30).reshape(6, 5)),
    (lambda x: np.broadcast_to(x, (-1, 2)), np.zeros((1, 2))),
    (lambda x: np.dot(x, x, out=np.zeros((3, 3)).T), np.eye(3)),
    (lambda x: np.dot(np.eye(3), np.eye(3), out=x), np.eye(3).T.copy("F")),
]


@pytest.mark.parametrize("function, x", REFUSED)
def test_what_numpy_refuses(function: Any, x: Any) -> None:
    compare(function, x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.add(x, 1, out=...),
        lambda x: np.divmod(x, 2, out=...),
        lambda x: np.add.reduce(x, out=...),
        lambda x: np.matmul(x[None], x[None], out=...),
    ],
)
def test_arrays_in_place_of_numbers(function: Any) -> None:
    compare(function, np.array(3))


@pytest.mark.parametrize(
    "function",
    [
        lambda rng, x: rng.permuted(x, axis=0, out=x),
        lambda rng, x: rng.standard_normal(out=x),
        lambda rng, x: rng.choice(3, 5, p=(x[0, :3] + [0.4, 0.4, 0.2]).astype(np.float16)),
    ],
)
def test_generators_that_tell_arrays_from_others(function: Any) -> None:
    compare(function, np.random.default_rng(1), np.zeros((4, 5)))


@pytest.mark.parametrize("x", [np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2).T], ids=str)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.reshape(x, (3, 2), order="F"),
        lambda x: x.reshape((3, 2), order="A"),
        lambda x: x.ravel("F"),
        lambda x: np.ravel(x, order="K"),
        lambda x: np.reshape(x, 6),
    ],
)
def test_views_by_the_order_in_memory(function: Any, x: Any) -> None:
    lazily = run_lazily(function, (x,), {}, 0)
    np.testing.assert_array_equal(lazily, function(x))
    assert np.shares_memory(lazily, x) == np.shares_memory(function(x), x)


@pytest.mark.parametrize("function", [np.atleast_2d, np.atleast_3d, np.ix_, np.broadcast_arrays])
def test_views_of_ndarrays_beside_tensors(function: Any) -> None:
    """What a call gives of an ndarray shares its memory, as without tensors."""

    def call(x: Any) -> Any:
        beside = np.arange(3)
        return beside, function(beside, x)

    compare(call, np.arange(3))
