"""Arrays for which there is no memory, or no type: what NumPy raises, whatever XLA could make of the program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

import pystage

cases = Cases()

NO_MEMORY = {"raises": np._core._exceptions._ArrayMemoryError}  # type: ignore[attr-defined]
TOO_BIG = {"raises": ValueError}
HUGE, BEYOND = 1 << 45, 1 << 62
"""So many numbers no machine can address; of so many NumPy has no array."""


@cases(HUGE, **NO_MEMORY)
@cases(BEYOND, **TOO_BIG)
@cases((1 << 63) - 1, **TOO_BIG)
@cases((1 << 32, 1 << 32), **TOO_BIG)
@cases((1 << 62, 0), **TOO_BIG)
@cases((1 << 25, 1 << 25), **NO_MEMORY)
def full(shape):
    return np.full(shape, 1.0)


@cases(HUGE, **NO_MEMORY)
@cases(BEYOND, **TOO_BIG)
def unused(n):
    x = np.zeros(n)
    return x.shape[0] - 1


@cases(HUGE, **NO_MEMORY)
@cases(1 << 60, **TOO_BIG)
def reduced(n):
    return np.ones(n + 1).sum() + np.arange(n)[3]


@cases(np.ones(3), HUGE, **NO_MEMORY)
@cases(np.ones(3), BEYOND, **TOO_BIG)
def repeated(x, n):
    return np.repeat(x, n)[0]


@cases(np.ones(3), HUGE, **NO_MEMORY)
@cases(np.ones(3), BEYOND, **TOO_BIG)
def repeated_by_a_method(x, n):
    return x.repeat(n)[0]


@cases(np.ones(3), HUGE, **NO_MEMORY)
@cases(np.ones(3), BEYOND, **TOO_BIG)
def tiled(x, n):
    return np.tile(x, reps=n)


@cases(np.ones(3), HUGE, **NO_MEMORY)
@cases(np.ones(3), 1 << 61, **TOO_BIG)
def padded(x, n):
    return np.pad(x, n)


@cases(np.ones(3), **NO_MEMORY)
def repeated_by_known_counts(x):
    return np.repeat(x, [1, 1 << 45, 3])


@cases(np.arange(3.0), np.array([1, 2, 3]))
@cases(np.ones(3), np.array([1 << 62, 1 << 62, 3]), **TOO_BIG)
def repeated_by_counts(x, counts):
    return np.repeat(x, counts)


@cases(np.arange(3.0), **NO_MEMORY)
def edges_of_bins(x):
    return np.histogram(x, bins=1 << 45)


@cases(1.0)
def a_list_that_is_known(x):
    try:
        return ([0] * (1 << 60))[0] + x
    except MemoryError:
        return x + 1.0


@cases(1 << 25, **NO_MEMORY)
@cases(1 << 32, **TOO_BIG)
def identity(n):
    return np.eye(n).trace()


@cases(1 << 24, **NO_MEMORY)
def triangle(n):
    return np.tri(n)


@cases(np.ones((1 << 15, 1)), **NO_MEMORY)
def of_an_operator(x):
    return (np.broadcast_to(x, (1 << 15, 1 << 28)) * 2.0).sum()


@cases(np.ones(2), 5)
@cases(np.ones(2), HUGE)
@cases(np.ones(2), BEYOND)
def handled(x, n):
    try:
        made = np.zeros(n)
    except MemoryError:
        x[0] = 5.0
        return -1.0
    except ValueError as error:
        x[1] = 7.0
        return str(error)
    return made.sum() + x[0]


@cases(np.ones(2), HUGE, **NO_MEMORY)
def after_a_store(x, n):
    x[0] = 3.0
    y = np.empty(n)
    x[1] = 4.0
    return y


@cases(np.ones(2), HUGE)
@cases(np.ones(2), BEYOND)
@cases(-np.ones(2), HUGE, **NO_MEMORY)
@cases(-np.ones(2), BEYOND, **TOO_BIG)
def on_one_path(x, n):
    if x[0] < 0:
        return np.ones(n).sum()
    return x.sum()


@pytest.mark.parametrize("function, args, options", cases.params)
def test_programs(function: Any, args: Any, options: Any) -> None:
    check(function, *args, **options)


def a_view(x):
    return np.broadcast_to(x, (1 << 50, 3))[7]


def of_jax(n):
    return jnp.zeros(n)[3]


@pytest.mark.parametrize(("function", "argument"), [(a_view, np.arange(3.0)), (of_jax, BEYOND)])
def test_other_types_that_xla_cannot_hold_are_refused(function: Any, argument: Any) -> None:
    with pytest.raises(pystage.StagingError, match="PS816"):
        pystage.compile(function)(argument)


def counted(x):
    return np.bincount(x)


def along_no_axis(x):
    return np.sum(x, axis=1 << 40)


@pytest.mark.parametrize(
    "function, argument, code, error",
    [
        (counted, np.array([HUGE]), "PS816", MemoryError),
        (along_no_axis, np.ones(2), "PS205", ValueError),
    ],
)
def test_what_only_the_plain_run_says_is_left_to_it(
    function: Any, argument: Any, code: str, error: type[Exception]
) -> None:
    with pytest.raises(pystage.StagingError, match=code):
        pystage.compile(function)(argument)
    with pytest.raises(error), pytest.warns(pystage.FallbackWarning):
        pystage.compile(function, fallback="python")(argument)


def test_a_library_function_itself() -> None:
    with pytest.raises(ValueError, match="array is too big"):
        pystage.compile(np.zeros)(BEYOND)


def test_an_argument_of_any_size() -> None:
    def first(x):
        return x[0] + 1.0

    view = np.broadcast_to(np.float64(2.0), (1 << 50,))
    with pytest.raises(pystage.StagingError, match="PS816"):
        pystage.compile(first)(view)
    with pytest.warns(pystage.FallbackWarning):
        assert pystage.compile(first, fallback="python")(view) == 3.0


def test_what_xla_cannot_allocate_runs_as_python() -> None:
    """The plain run has no memory either; what it has changed before, it has changed once."""

    def sort(x, n):
        x[0] += 1.0
        return jnp.sort(jnp.zeros(n, jnp.int8))[:2] + x[0]

    x = np.ones(3)
    with pytest.raises(pystage.StagingError, match="PS816"):
        pystage.compile(sort)(x, HUGE)
    assert x[0] == 1.0
    with pytest.raises(jax.errors.JaxRuntimeError), pytest.warns(pystage.FallbackWarning):
        pystage.compile(sort, fallback="python")(x, HUGE)
    assert x[0] == 2.0


def test_a_bound_that_is_too_large_is_no_exception_of_the_plain_run() -> None:
    """NumPy makes an array of no rows; that of as many as there may be it cannot make."""

    def rows(x):
        try:
            return np.zeros((len(x[x > 0]), 1 << 44)).shape[0]
        except MemoryError:
            return -1

    x = -np.ones(4)
    assert rows(x) == 0
    with pytest.raises(pystage.StagingError, match="PS816"):
        pystage.compile(rows)(x)
