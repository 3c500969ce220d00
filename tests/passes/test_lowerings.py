"""Lowerings that a user registers take an operation's place, where they are for the platform."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage


@pytest.fixture
def registered() -> Iterator[Any]:
    """Registers a lowering until the end of the test."""
    done: list[Any] = []

    def register(op: str, rule: Any, platform: str | None = "cpu") -> None:
        done.append(pystage.lowering(op, platform=platform))
        assert done[-1](rule) is rule

    yield register
    for decorator in done:
        decorator(None)


def rational(op: Any, x: Any) -> Any:
    return x * (27 + x * x) / (27 + 9 * x * x)


def layer(x: Any) -> Any:
    for _ in range(3):
        x = np.tanh(x) + 1
    return x


X = np.array([0.1, 0.5])


def by_hand(x: Any) -> Any:
    for _ in range(3):
        x = rational(None, x) + 1
    return x


def test_it_takes_the_place_of_an_operation(registered: Any) -> None:
    before = pystage.compile(layer, fallback="error")(X)
    registered("tanh", rational)
    lowered = pystage.compile(layer, fallback="error").lower(X)
    assert "stablehlo.tanh" not in lowered.as_text()
    np.testing.assert_allclose(lowered.compile()(X), by_hand(X), rtol=1e-12)
    np.testing.assert_allclose(pystage.compile(layer, fallback="error")(X), by_hand(X), rtol=1e-12)
    np.testing.assert_array_equal(before, layer(X))
    assert not np.allclose(before, by_hand(X), rtol=1e-6)


def test_transformations_use_it(registered: Any) -> None:
    registered("tanh", rational)
    compiled = pystage.compile(lambda x: jnp.tanh(x) * 2, fallback="error")
    x = jnp.array([0.3, 0.9])
    np.testing.assert_allclose(jax.jit(compiled)(x), rational(None, x) * 2, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(compiled)(x), rational(None, x) * 2, rtol=1e-6)
    y = rational(None, x)  # derivatives are those of the operation, in terms of what it gives
    gradient = pystage.grad(lambda x: jnp.sum(jnp.tanh(x)))(x)
    np.testing.assert_allclose(gradient, 1 - y * y, rtol=1e-5)


def test_static_operands_and_several_results(registered: Any) -> None:
    seen: list[Any] = []

    def product(op: Any, a: Any, b: Any) -> Any:
        seen.append((op.opcode, a.shape, b.dtype))
        dims = (op.lhs_contract, op.rhs_contract), (op.lhs_batch, op.rhs_batch)
        return jax.lax.dot_general(a, b, dims, precision="highest")

    registered("dot_general", product)
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    compiled = pystage.compile(lambda a, b: a @ b, fallback="error")
    np.testing.assert_allclose(compiled(a, b), a @ b)
    assert seen and seen[0] == ("dot_general", (2, 3), np.float64)


def test_it_may_decline(registered: Any) -> None:
    registered("tanh", lambda op, x: rational(op, x) if x.dtype == np.float32 else NotImplemented)
    compiled = pystage.compile(lambda x: np.tanh(x), fallback="error")
    np.testing.assert_allclose(compiled(X), np.tanh(X), rtol=1e-15)
    np.testing.assert_allclose(compiled(X.astype(np.float32)), rational(None, X), rtol=1e-6)


def test_the_platform_decides(registered: Any) -> None:
    registered("tanh", lambda op, x: x * 0, "gpu")
    assert pystage.compile(lambda x: np.tanh(x), fallback="error")(1.0) == np.tanh(1.0)
    registered("tanh", lambda op, x: x * 2, None)
    assert pystage.compile(lambda x: np.tanh(x), fallback="error")(1.0) == 2.0
    registered("tanh", lambda op, x: x * 3, "cpu")
    assert pystage.compile(lambda x: np.tanh(x), fallback="error")(1.0) == 3.0


def test_a_cached_program_is_compiled_with_it(
    registered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pystage.config, "_cache_dir", str(tmp_path / "cache"))
    caplog.set_level(logging.INFO, "pystage")
    np.testing.assert_allclose(pystage.compile(layer, fallback="error")(X), layer(X), rtol=1e-12)
    registered("tanh", rational)
    caplog.clear()
    np.testing.assert_allclose(pystage.compile(layer, fallback="error")(X), by_hand(X), rtol=1e-12)
    assert "is found in" in caplog.text
    pystage.lowering("tanh", platform="cpu")(None)
    np.testing.assert_allclose(pystage.compile(layer, fallback="error")(X), layer(X), rtol=1e-12)


def test_an_exported_program_is_lowered_where_it_is_loaded(registered: Any) -> None:
    data = pystage.compile(layer, fallback="error").export(X)
    registered("tanh", rational)
    np.testing.assert_allclose(pystage.load(data)(X), by_hand(X), rtol=1e-12)


def test_errors(registered: Any) -> None:
    with pytest.raises(ValueError, match="there is no operation 'tan_h'; did you mean 'tanh'"):
        pystage.lowering("tan_h")
    with pytest.raises(ValueError, match="'while' has no other lowering"):
        pystage.lowering("while")
    with pytest.raises(ValueError, match="platform must be one of None, 'cpu'"):
        pystage.lowering("tanh", platform="abacus")
    registered("tanh", lambda op, x: x[:1])
    with pytest.raises(TypeError, match=r"of 'tanh' gives f64\[1\], and the operation f64\[2\]"):
        pystage.compile(lambda x: np.tanh(x), fallback="error")(X)
    registered("tanh", lambda op, x: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pystage.compile(lambda x: np.tanh(x), fallback="error")(X)
