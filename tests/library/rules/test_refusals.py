"""What NumPy has and a program cannot have is refused by name, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checking import check

import pystage
from pystage.compiler.library.rules.refusals import reason_of

RNG = np.random.default_rng(0)
X = np.arange(3.0)


def _loop(x: Any) -> Any:
    total = 0.0
    for element in np.nditer(x):
        total = total + np.sum(element)
    return total


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + np.random.default_rng(0).gamma(2.0, size=3) if x[0] >= 0 else x,
        lambda x: RNG.bytes(3) and x,
        lambda x: np.roots(x),
        _loop,
    ],
    ids=["draw", "bytes", "roots", "nditer"],
)
def test_refused_by_name(function: Callable[[Any], Any]) -> None:
    check(function, X, refused="PS606")


def test_the_help_names_what_draws_in_a_program() -> None:
    with pytest.raises(pystage.StagingError, match=r"help: .*jax\.random"):
        pystage.compile(lambda x: x + np.random.rand(3) if x[0] >= 0 else x)(X)


def test_reasons() -> None:
    assert reason_of(np.roots) is not None
    assert reason_of(np.sum) is None
