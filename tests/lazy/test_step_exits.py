"""Nobody can look at the arguments of a step while it is recorded, nor at what is computed from them."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage import lazy

OF_ARRAYS: list[Callable[[Any], Any]] = [
    np.asarray,
    np.array,
    lambda x: x.__array__(),
    lambda x: x.tolist(),
    lambda x: x.item(0),
    lambda x: x.tobytes(),
    lambda x: x.numpy(),
    lambda x: x.__reduce__(),
    pickle.dumps,
    lambda x: x.dumps(),
    lambda x: x.ctypes,
    lambda x: x.data,
    lambda x: x.flags,
    lambda x: x.strides,
    lambda x: x.__dlpack__(),
    lambda x: x.__dlpack_device__(),
    np.from_dlpack,
    jax.dlpack.from_dlpack,
    repr,
    str,
    format,
    "{}".format,
    lambda x: f"{x!s}",
    lambda x: bool(x.any()),
    lambda x: 1.0 in x,
    lambda x: [float(v) for v in x],
    sorted,
    max,
    lambda x: x.astype(str),
    lambda x: x.astype(object),
    np.unique,
    np.nonzero,
    np.flatnonzero,
    lambda x: x[x > 0],
    lambda x: np.add.at(x, [0], 1.0),
    lambda x: np.add.reduceat(x, [0, 1]),
    lambda x: np.savetxt("/dev/null", x),
    lambda x: np.copyto(np.zeros(3), x),
    lambda x: np.add(x, 1, out=np.zeros(3)),
    lambda x: operator.setitem(np.zeros(3), slice(None), x),
    lambda x: np.random.default_rng(0).permutation(x),
    lambda x: np.array([x, x]),
    lambda x: np.array([x[0], 1.0]),
    np.ndenumerate,
    np.nditer,
    lambda x: np.testing.assert_array_equal(x, 1),
    jnp.asarray,
    jnp.sin,
    lambda x: jnp.ones(3) + x,
    jax.device_put,
    lambda x: np.array_equal(x, x) or None,
    lambda x: np.repeat(x, x.astype(int)),
    lambda x: np.arange(10)[x.astype(int)],
]
OF_SCALARS: list[Callable[[Any], Any]] = [
    bool,
    operator.not_,
    int,
    float,
    complex,
    hash,
    math.sqrt,
    math.floor,
    math.ceil,
    math.trunc,
    math.isnan,
    "{:.2f}".format,
    lambda s: f"{s}",
    lambda s: operator.mod("%.3f", s),
    lambda s: {s: 1},
    lambda s: s.item(),
    lambda s: 1 if s > 0 else 2,
    lambda s: max(s, 0.5),
    lambda s: s and 1,
    lambda s: s.is_integer(),
    lambda s: s.as_integer_ratio(),
    np.float64,
    lambda s: np.full(3, s),
    lambda s: np.zeros(3).fill(s),
    lambda s: np.isclose(s, 1.0) or None,
    lambda s: operator.setitem(np.zeros(3), 0, s),
    lambda s: np.random.default_rng(0).normal(s),
    lambda s: range(s.astype(int)),
    lambda s: [1, 2, 3][s.astype(int)],
    lambda s: "ab" * s.astype(int),
    lambda s: np.zeros(s.astype(int)),
    lambda s: np.zeros(3)[s.astype(int)],
    lambda s: operator.index(s.astype(int)),
    lambda s: math.factorial(s.astype(int)),
    lambda s: lazy.zeros(s.astype(int)),
]
ALSO_REFUSED: list[Callable[[Any], Any]] = [memoryview, bytes, bytearray]
"""What wants the memory of an ndarray in C raises TypeError for lazy tensors."""


def arguments() -> list[Any]:
    """Lazy tensors of every state: computed, pending, a view, and one whose memory others hold."""
    x = lazy.asarray(np.ones(3))
    shared = lazy.asarray(np.ones(3))
    KEEP.append(np.asarray(shared))
    return [x, lazy.asarray(np.zeros(3)) + 1, lazy.asarray(np.ones(5))[1:4], shared]


KEEP: list[Any] = []


def refused(exit: Callable[[Any], Any], of: Callable[[Any], Any], errors: Any = lazy.StepError) -> None:
    def looks(x: Any) -> Any:
        exit(of(x))
        return x * 2

    def hides(x: Any) -> Any:
        try:
            exit(of(x))
        except Exception:
            return x * 3
        return x * 2

    for x in arguments():
        for function in (looks, hides) if errors is lazy.StepError else (looks,):
            with pytest.raises(errors):
                lazy.step(function)(x)
            np.testing.assert_array_equal(np.array(x), np.ones(3))


@pytest.mark.parametrize("exit", OF_ARRAYS)
def test_arrays(exit: Any) -> None:
    for of in (lambda x: x, lambda x: x * 2, lambda x: x[:]):
        refused(exit, of)


def test_a_compiled_function_is_recorded() -> None:
    """As the plain one is: it does not look at a lazy tensor."""

    def doubled(x: Any) -> Any:
        return pystage.compile(lambda y: {"a": y + 1}, fallback="python")(x * 2)["a"]

    for x in arguments():
        np.testing.assert_array_equal(np.asarray(lazy.step(doubled)(x)), np.full(3, 3.0))


@pytest.mark.parametrize("exit", OF_SCALARS)
def test_scalars(exit: Any) -> None:
    for of in (lambda x: x[1], lambda x: x.sum(), lambda x: x[0] * 2):
        refused(exit, of)


@pytest.mark.parametrize("exit", ALSO_REFUSED)
def test_memory(exit: Any) -> None:
    refused(exit, lambda x: x, (lazy.StepError, TypeError))
