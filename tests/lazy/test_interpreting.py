"""Programs that are interpreted until that has cost what compiling them would."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from pystage import lazy
from pystage.lazy import interpreting
from pystage.lazy.interpreting_cost import LARGEST

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    lazy.sync()
    lazy.reset_metrics()
    yield


def counts() -> tuple[int, int, int]:
    """Programs that were compiled, and found, and segments that were interpreted."""
    found = lazy.metrics()
    return found.compiles, found.cache_hits, found.interpreted


def program(x: Any, k: float) -> Any:
    y = np.exp(x * k) @ x.T
    return np.where(y > 2, y, -y).sum(axis=0)


X = np.linspace(0, 1, 12).reshape(3, 4)


def test_a_program_is_interpreted_before_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    x = lazy.asarray(X)
    for k in (1.5, 2.5):
        np.testing.assert_allclose(program(x, k).numpy(), program(X, k), rtol=1e-15)
    assert counts() == (0, 0, 2)
    assert "2 segments interpreted" in lazy.report()
    monkeypatch.setattr(interpreting, "COMPILING", 0)
    monkeypatch.setattr(interpreting, "COMPILING_CALL", 0)
    for k in (3.5, 4.5):
        np.testing.assert_allclose(program(x, k).numpy(), program(X, k))
    assert counts() == (1, 1, 2)


def test_what_costs_more_than_compiling_is_compiled_at_once() -> None:
    large = np.ones(LARGEST // 8 + 1)
    assert float((lazy.asarray(large) * 2 + 1)[-1]) == 3
    assert counts() == (1, 0, 0)
    wide = np.ones((400, 400))
    np.testing.assert_allclose((lazy.asarray(wide) @ wide).numpy(), wide @ wide)
    assert counts() == (2, 0, 0)


def test_results_have_memory_of_their_own() -> None:
    x = lazy.asarray(X)
    y, z = x.reshape(-1) + 0, x.T.copy()
    w = np.broadcast_to(x[0], (2, 4)).copy()
    lazy.sync()
    assert counts() == (0, 0, 1)
    x[:] = 7
    y[0] = 5
    lazy.sync()
    np.testing.assert_array_equal(z, X.T)
    np.testing.assert_array_equal(w, [X[0], X[0]])
    np.testing.assert_array_equal(y, [5, *X.ravel()[1:]])
    assert counts()[0] == 0


def test_others_can_use_what_was_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(1024.0)
    a, b = lazy.asarray(x) + 1, lazy.asarray(x) * 3
    lazy.sync()
    assert counts() == (0, 0, 1)
    np.testing.assert_array_equal(np.from_dlpack(a), x + 1)
    np.testing.assert_array_equal(jax.dlpack.from_dlpack(b), x * 3)
    step = lazy.step(lambda t: t * 2)
    np.testing.assert_array_equal(step(b), x * 6)
    np.testing.assert_array_equal(step(b + 1), x * 6 + 2)
    monkeypatch.setattr(interpreting, "COMPILING", float("-inf"))
    c = lazy.asarray(x) + 1
    c += a  # a program overwrites what was interpreted, or not, but never what others see
    d = a.copy()
    del a
    np.testing.assert_array_equal(c, 2 * x + 2)
    np.testing.assert_array_equal(d, x + 1)


def test_the_lines_of_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise MemoryError("no room")

    x = lazy.asarray(X) + 1
    with monkeypatch.context() as patch:
        patch.setattr(interpreting, "interpret", fails)
        with pytest.raises(MemoryError) as raised:
            x.tolist()
    assert "test_interpreting.py" in "".join(raised.value.__notes__)
    np.testing.assert_array_equal(x, X + 1)
