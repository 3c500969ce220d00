"""Compares a step with the plain function, over calls with the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pystage import lazy


class Pair:
    """An argument, and what it is in the plain run; its stores last from call to call."""

    def __init__(self, plain: Any, given: Any) -> None:
        self.plain, self.given = plain, given

    def __getitem__(self, key: Any) -> Pair:
        return Pair(self.plain[key], self.given[key])


def tensor(array: Any) -> Pair:
    """An ndarray, and a lazy tensor."""
    plain = np.array(array)
    return Pair(plain, lazy.asarray(plain))


def ndarray(array: Any) -> Pair:
    """Two ndarrays."""
    return Pair(np.array(array), np.array(array))


def side(value: Any, name: str) -> Any:
    """A structure with one side of its pairs."""
    if isinstance(value, Pair):
        return getattr(value, name)
    if isinstance(value, list | tuple):
        new = [side(each, name) for each in value]
        return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
    return type(value)({k: side(v, name) for k, v in value.items()}) if isinstance(value, dict) else value


def outcome(function: Callable[..., Any], args: Any) -> Any:
    try:
        return function(*args)
    except lazy.StepError:
        raise
    except Exception as error:
        return type(error), str(error)


def compare(plain: Any, found: Any) -> None:
    if isinstance(plain, list | tuple | dict):
        assert type(found) is type(plain) and len(found) == len(plain)
        if isinstance(plain, dict):
            assert list(found) == list(plain)
            plain, found = list(plain.values()), list(found.values())
        for each in zip(plain, found, strict=True):
            compare(*each)
    elif isinstance(plain, np.ndarray | np.generic):
        assert isinstance(found, type(plain)) and found.dtype == plain.dtype
        np.testing.assert_allclose(np.array(found), plain, rtol=1e-9, atol=1e-12)
    elif isinstance(plain, float):
        assert type(found) is float
        np.testing.assert_allclose(found, plain, rtol=1e-12)
    else:
        assert type(found) is type(plain) and found == plain


def check(function: Callable[..., Any], *calls: tuple[Any, ...], recorded: int | None = None) -> None:
    """Asserts that a step does in these calls what the function does on ndarrays, recorded so often."""
    lazy.reset_metrics()
    step = lazy.step(function)
    for call in calls:
        for _ in range(2 if len(calls) == 1 else 1):
            plain = outcome(function, side(call, "plain"))
            found = outcome(step, side(call, "given"))
            compare(plain, found)
            compare(side(call, "plain"), side(call, "given"))
    if recorded is not None:
        assert lazy.metrics().recorded.total() == recorded


def refused(function: Callable[..., Any], *args: Any, match: str = "") -> None:
    with pytest.raises(lazy.StepError, match=match):
        lazy.step(function)(*args)


ONES = np.ones(3)
