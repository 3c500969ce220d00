"""What NumPy refuses, the program raises with NumPy's class and text; and what it does not refuse is not refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checking import Cases, check

import pystage

X = np.arange(3.0)
cases = Cases()

CALLS: dict[str, Any] = {
    "repeats": lambda x: np.repeat(x, -1),
    "unknown extent": lambda x: x.reshape(4, -1),
    "greatest of none": lambda x: x[:0].max(),
    "rank of a product": lambda x: np.matmul(x, 3.0),
    "core dimension": lambda x: np.vecdot(x, np.ones(2)),
    "squeeze": lambda x: np.squeeze(x, axis=0),
    "out of a sum": lambda x: np.sum(x, out=np.zeros(2)),
    "out of a dot": lambda x: np.dot(np.ones((3, 3)), x, out=np.zeros(3, np.float32)),
    "concatenate": lambda x: np.concatenate([x, x], dtype=np.int8),
    "casting": lambda x: np.concatenate([x, np.array([1])], casting="no"),
    "stack": lambda x: np.stack([x, x], dtype=int),
    "vstack": lambda x: np.vstack([x, x], dtype=int),
    "hstack": lambda x: np.hstack([x, x], dtype=int),
    "einsum": lambda x: np.einsum("i->", x, dtype=np.float32),
    "conditions": lambda x: np.select([np.array([1, 0, 1]), x > 5], [x, -x], 0),
    "choices": lambda x: np.select([x > 5], [x, -x]),
    "ends of differences": lambda x: np.ediff1d(np.array([1, 250], np.uint8), to_begin=-1) + x[0],
    "minlength": lambda x: np.bincount(np.array([1, 3]), minlength=-1) + x[0],
    "ranks of counts": lambda x: np.bincount(np.ones((2, 2), int)) + x[0],
    "rank of weights": lambda x: np.bincount(np.array([1, 1, 0]), x[:, None]),
    "vectorize": lambda x: np.vectorize(lambda v: v + 1)(x[:0]),
    "least norm": lambda x: np.linalg.norm(x[:0], -np.inf),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name: str) -> None:
    with pytest.raises(Exception) as caught:
        CALLS[name](X)
    check(CALLS[name], X, raises=type(caught.value))


def test_casts_that_ufuncs_refuse() -> None:
    def of_a_sum(x: Any) -> Any:
        return np.add(x, x, out=np.zeros(3, int))

    def of_a_product(x: Any) -> Any:
        return np.matmul(np.ones((3, 3)), x, out=np.zeros(3, int))

    for program in (of_a_sum, of_a_product):
        with pytest.raises(TypeError) as plain:
            program(X)
        with pytest.raises(TypeError) as staged:
            pystage.compile(program, fallback="error")(X)
        assert (staged.type, str(staged.value)) == (plain.type, str(plain.value))


@cases(X)
def casts_that_are_allowed(x: Any) -> Any:
    return (
        np.concatenate([x, x], dtype=np.int8, casting="unsafe"),
        np.concatenate([x, np.array([1])], dtype=np.float32),
        np.einsum("i->", x, dtype=np.float32, casting="unsafe"),
        np.einsum("i->i", x, dtype=np.float32),
        np.dot(np.ones((3, 3)), x, out=np.zeros(3)),
        np.ediff1d(np.array([1, 2]), to_end=np.int8(5)),
    )


@cases(np.array([1, 0]))
@cases(np.array([-1, 0]), raises=ValueError)
@cases(np.array([2, 0]), raises=ValueError)
def choice(a: Any) -> Any:
    return np.choose(a, [np.arange(2.0), 7.0])


@cases(np.array([[np.nan, 1.0], [3.0, 2.0]]))
@cases(np.array([[np.nan, 1.0], [np.nan, 2.0]]), raises=ValueError)
def index_of_the_least(x: Any) -> Any:
    return np.nanargmax(x), np.nanargmin(x, axis=0)


@cases(np.array([2.0, np.nan]))
@cases(np.array([np.nan, np.nan]), raises=ValueError)
def index_of_the_greatest(x: Any) -> Any:
    return np.nanargmax(x), x.sum()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, args, options", cases.params)
def test_depends_on_values(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)
