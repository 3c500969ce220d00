"""`pystage.vjp` and `pystage.checkpoint`, and loops that keep too much to keep it all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pystage
from pystage import config

X = np.arange(3.0) / 3
W = np.linspace(-1, 1, 6).reshape(3, 2)


def parts(x: Any, w: Any) -> Any:
    return {"a": np.tanh(x @ w), "b": [x.sum(), w[0]], "n": 3}


def expected(ct: Any, scale: float, row: Any) -> Any:
    slope = (1 - np.tanh(X @ W) ** 2) * ct
    by_w = np.outer(X, slope)
    by_w[0] += row
    return W @ slope + scale, by_w


def test_outside() -> None:
    value, pull = pystage.vjp(parts, X, W)
    np.testing.assert_allclose(value["a"], np.tanh(X @ W))
    assert value["n"] == 3
    for ct, scale in ((np.ones(2), 1.0), (np.array([2.0, -1.0]), 0.0)):
        found = pull({"a": ct, "b": [scale, np.ones(2)], "n": 0})
        for ours, theirs in zip(found, expected(ct, scale, np.ones(2)), strict=True):
            np.testing.assert_allclose(ours, theirs)


def test_inside_each_pullback_uses_what_was_kept() -> None:
    @pystage.compile
    def program(x, w, ct):
        value, pull = pystage.vjp(parts, x, w)
        first = pull({"a": ct, "b": [1.0, np.zeros(2)], "n": 0})
        second = pull({"a": ct * 2, "b": [0.0, np.ones(2)], "n": 0})
        return value, first, second

    _, first, second = program(X, W, np.ones(2))
    for found, wanted in (
        (first, expected(np.ones(2), 1.0, np.zeros(2))),
        (second, expected(2 * np.ones(2), 0.0, np.ones(2))),
    ):
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(ours, theirs)
    text = program.lower(X, W, np.ones(2)).as_text()
    assert text.count("stablehlo.tanh") == 1


def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def test_through_a_loop_with_aux() -> None:
    value, pull, aux = pystage.vjp(lambda a: (newton(a), a * 2), 9.0, has_aux=True)
    assert value == pytest.approx(3.0) and aux == 18.0
    assert pull(2.0)[0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("cotangent", "error"),
    [(np.ones(3), TypeError), ({"a": np.ones(3), "b": [1.0, X[:2]], "n": 0}, ValueError)],
)
def test_a_cotangent_that_does_not_fit(cotangent: Any, error: Any) -> None:
    _, pull = pystage.vjp(parts, X, W)
    with pytest.raises(error, match="cotangent"):
        pull(cotangent)


def deep(x: Any, layers: int) -> Any:
    for _ in range(layers):
        x = pystage.checkpoint(lambda y: np.sin(np.sin(y)))(x)
    return x.sum()


def plainly_deep(x: Any, layers: int) -> Any:
    for _ in range(layers):
        x = np.sin(np.sin(x))
    return x.sum()


def test_a_checkpoint_is_run_again() -> None:
    assert deep(X, 3) == pytest.approx(plainly_deep(X, 3))
    ours, theirs = pystage.grad(deep), pystage.grad(plainly_deep)
    np.testing.assert_allclose(ours(X, 3), theirs(X, 3), rtol=1e-12)
    again = (
        pystage.value_and_grad(lambda x: pystage.checkpoint(lambda y: np.sin(np.sin(np.sin(y))))(x).sum())
        .lower(X)
        .as_text()
    )
    once = pystage.value_and_grad(lambda x: np.sin(np.sin(np.sin(x))).sum()).lower(X).as_text()
    assert again.count("stablehlo.sine") > once.count("stablehlo.sine")
    np.testing.assert_allclose(pystage.hessian(deep)(X, 2), pystage.hessian(plainly_deep)(X, 2), rtol=1e-12)


def long(x: Any) -> Any:
    for _ in range(1000):
        x = np.sin(x) * 1.01
    return x.sum()


def test_a_loop_that_would_keep_too_much_runs_again(monkeypatch: Any) -> None:
    point = np.linspace(0.1, 1, 50)
    kept = pystage.grad(lambda x: long(x))
    assert "1000x50x" in kept.lower(point).as_text()
    monkeypatch.setattr(config, "_residual_bytes", 100_000)
    again = pystage.grad(lambda x: long(x))
    assert "1000x50x" not in again.lower(point).as_text()
    np.testing.assert_allclose(again(point), kept(point), rtol=1e-12)


def test_the_budget_is_a_number_of_bytes() -> None:
    with pytest.raises(TypeError, match="residual_bytes must be an int"):
        config.residual_bytes = 1.5  # type: ignore[assignment]
    with pytest.raises(ValueError, match="must not be negative"):
        config.residual_bytes = -1
    assert config.residual_bytes == 1 << 30
