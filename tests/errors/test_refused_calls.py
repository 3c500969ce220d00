"""Calls that NumPy refuses for the types, shapes or constants of their operands raise its own exceptions."""

from __future__ import annotations

import numpy as np
import pytest
from checking import check
from kinds.running import program_of

import pystage
from pystage.compiler.library.context import Context
from pystage.compiler.library.numpy.array_methods import NUMPY_METHODS
from pystage.compiler.values.lattice import Abstract

X = np.array([0.5, -1.25, 2.0, 0.75])
A = np.arange(9.0).reshape(3, 3)
I = np.array([2, 0, 1])  # noqa: E741
LARGE = np.zeros(10_000)

BY_TYPE = [
    "np.cos(x, dtype='bogus')",
    "np.sum(x, dtype='bogus')",
    "np.matmul(a, a, dtype=int)",
    "np.add(x, i[:1], casting='no')",
    "np.sin(x, casting='bogus')",
    "np.sin(x, order='X')",
    "np.add(x, x, x, where=x)",
    "np.concatenate([x, x], dtype=int, casting='safe')",
    "np.bitwise_and(x, i[:1])",
    "np.left_shift(x, 1)",
    "np.cumsum(x, axis=1.0)",
    "x.sum(axis='0')",
    "x.reshape(2.0, 2)",
    "np.repeat(x, 1j)",
    "large.argsort(kind=3)",
]
BY_SHAPE = [
    "x.reshape(3, -1)",
    "large.reshape(3, -1)",
    "np.matmul(a, 2.0)",
    "np.matmul(a, x)",
    "np.dot(a, x)",
    "np.repeat(x, -1)",
    "np.concatenate([a, x])",
    "np.concatenate([a, a[:, :2]])",
    "np.stack([a, x])",
    "x[:0].max()",
    "np.argmin(a[:, :0], axis=1)",
    "np.split(x, 3)",
    "np.moveaxis(a, 0, 5)",
    "np.einsum('ij,j->i', a, x)",
    "np.linalg.inv(a[:2])",
]
BY_OPTION = [
    "np.clip(x, 0, 1, min=0)",
    "np.var(x, ddof=1, correction=0)",
    "i.argpartition(2, kind='nonsense')",
    "np.sort(x, kind='stable', stable=True)",
    "np.array(x, copy='always')",
    "np.array(i[0], copy=False)",
    "np.array(0, copy=np.False_)",
    "np.block([[], 2])",
    "np.hsplit([1.0, 2.0], 2)",
    "np.take_along_axis([3.0, 4.0], i[:1], 0)",
    "np.block([[1], 2])",
    "np.einsum('', 0, casting='blah')",
    "np.einsum('.i...', [0, 0], optimize=True)",
    "np.einsum(a, [-1, 5], a, [5, 2], [-1, 2])",
]


@pytest.mark.parametrize("text", BY_TYPE + BY_SHAPE + BY_OPTION)
def test_raised_at_the_call(text: str) -> None:
    function = program_of(text, "xai") if "large" not in text else program_of(text, ["large"])
    args = (X, A, I) if "large" not in text else (LARGE,)
    with pytest.raises(Exception) as raised:
        function(*args)
    check(function, *args, raises=type(raised.value), runs=1, interpreted=False)


def with_rules_of_casting(x: np.ndarray, i: np.ndarray, out: np.ndarray) -> list[np.ndarray]:
    """The options of ufuncs that say which casts are made, and in which order the result lies."""
    return [
        np.add(x, i, casting="unsafe", dtype=np.int32),
        np.add(x, i, out, casting="unsafe"),
        np.power(x, 2, casting="safe", order="K"),
        np.cos(x, order="C", subok=False),
        np.equal(x, i, casting="safe"),
    ]


def test_rules_of_casting() -> None:
    check(with_rules_of_casting, X, np.arange(4), np.zeros(4, np.int16))


def handled(x: np.ndarray, a: np.ndarray) -> list[str]:
    """Handlers see them, in branches too."""
    found = ["", ""]
    try:
        np.cos(x, dtype="bogus")
    except TypeError as error:
        found[0] = str(error)
    if x[0] > 0:
        try:
            a @ x
        except ValueError as error:
            found[1] = str(error)
    return found


def test_handlers_see_them() -> None:
    check(handled, X, A)


def test_no_function_of_the_program_runs_to_find_out() -> None:
    ran = []

    def halved(x: float) -> float:
        ran.append(type(x))
        return x / 2

    each = np.vectorize(halved, otypes=[float])
    pystage.code_typed(lambda x: each(x), X)
    assert not ran


def test_what_numpy_computes_is_never_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A meaning that raises where NumPy does not is a mistake of ours: the call is refused."""

    def mistaken(ctx: Context, a: object) -> Abstract:
        ctx.raise_(ValueError("not so"))

    monkeypatch.setitem(NUMPY_METHODS, "ravel", mistaken)
    with pytest.raises(
        pystage.StagingError, match="staged code would raise ValueError, and the plain run does not"
    ):
        pystage.compile(lambda x: x.ravel(), fallback="error")(X)
