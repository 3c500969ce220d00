"""A call that received NumPy memory has finished reading it when it returns."""

from __future__ import annotations

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

ALIGNMENT = 64
"""XLA reads memory in place that is aligned to so many bytes."""

CAPTURED = np.zeros(0)


def aligned(size: int, offset: int) -> np.ndarray[Any, Any]:
    """A float64 array whose memory begins `offset` bytes after an aligned address."""
    memory = np.zeros(size * 8 + 2 * ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT + offset
    found = memory[start : start + size * 8].view(np.float64)
    assert found.ctypes.data % ALIGNMENT == offset
    return found


def to_jax(x: Any) -> Any:
    return jnp.sin(jnp.asarray(x)) + 1


def to_numpy(x: Any) -> Any:
    return np.sin(x) + 1


def to_both(x: Any) -> Any:
    return np.sin(x).sum(), jnp.asarray(x) + 1


def to_nothing(x: Any) -> None:
    np.sin(x)


def captured() -> Any:
    return jnp.asarray(CAPTURED) + 1


@pytest.mark.parametrize("offset", [0, 8], ids=["aligned", "unaligned"])
@pytest.mark.parametrize("size", [1_000, 10_000_000])
@pytest.mark.parametrize("function", [to_jax, to_numpy, to_both, to_nothing])
def test_an_argument_may_change_right_after_the_call(function: Any, size: int, offset: int) -> None:
    staged = pystage.compile(function)
    x = aligned(size, offset)
    for value in (1.0, 2.0, 3.0):
        x[:] = value
        got = staged(x)
        x[:] = -1e9
        x[:] = value
        expected = function(x)
        x[:] = -1e9
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
            got_flat, expected_flat = np.asarray(a).ravel(), np.asarray(b).ravel()
            np.testing.assert_allclose(got_flat[:5], expected_flat[:5], rtol=1e-6)
            np.testing.assert_allclose(got_flat[-5:], expected_flat[-5:], rtol=1e-6)


@pytest.mark.parametrize("offset", [0, 8], ids=["aligned", "unaligned"])
@pytest.mark.parametrize("size", [1_000, 10_000_000])
def test_a_captured_array_may_change_right_after_the_call(
    size: int, offset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = pystage.compile(captured)
    x = aligned(size, offset)
    monkeypatch.setitem(globals(), "CAPTURED", x)
    for value in (1.0, 2.0, 3.0):
        x[:] = value
        got = staged()
        x[:] = -1e9
        assert (np.asarray(got) == value + 1).all()


def test_an_ndarray_that_is_given_out_is_not_the_argument() -> None:
    x = aligned(1_000_000, 0)
    got = pystage.compile(lambda x: x.reshape(-1, 2) + 0.0)(x)
    assert not np.shares_memory(got, x)
    assert got.flags.writeable


def test_jax_arrays_stay_asynchronous() -> None:
    @pystage.compile
    def slow(x: Any) -> Any:
        for _ in range(300):
            x = jnp.tanh(x @ x)
        return x

    x = jnp.ones((300, 300))
    slow(x).block_until_ready()
    got = slow(x)
    # Dispatched, not computed: a run takes tens of milliseconds.
    assert not got.is_ready()
    got.block_until_ready()


def test_large_inputs_in_threads() -> None:
    """Unaligned inputs are copied into memory that calls share, one after the other."""
    staged = pystage.compile(to_numpy)
    failures: list[str] = []

    def work(value: float) -> None:
        x = aligned(200_000, 8)
        for step in range(10):
            x[:] = value + step
            got = staged(x)
            if not (np.abs(got - (np.sin(value + step) + 1)) < 1e-12).all():
                failures.append(f"{value} + {step}")

    threads = [threading.Thread(target=work, args=(100.0 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
