"""Lazy tensors in buckets: the results of NumPy at each size, and one program for each bucket."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pystage
from pystage import lazy

RNG = np.random.default_rng(0)
W = RNG.standard_normal((3, 4))


def reductions(x: Any, y: Any) -> Any:
    return (
        x.sum(axis=0),
        x.mean(),
        x.std(axis=1),
        y.max(),
        y.argmin(),
        (y > 0).sum(),
        x.T @ x,
        y.sum() / len(y),
    )


def elements(x: Any, y: Any) -> Any:
    z = x * y[:, None] + 1.0
    return z, np.sort(y), np.cumsum(y), y[-1] + 0.0, np.concatenate([y, y]), np.where(y > 0, y, 0), -z.T


def parts(x: Any, y: Any) -> Any:
    return y[1:] - y[:-1], x[:, 1], x[2:-2] * 2, y[:3], y[-3:], x[::2], y[::-1] + y, x[1:3, :2], y[3:]


def shapes(x: Any, y: Any) -> Any:
    flat = x.reshape(len(x) * 3)
    return x.reshape(len(x), 3, 1) + 1, y.reshape(-1, 1) * x, np.stack([y, y * 2]), x.transpose(), flat.max()


def sized(x: Any, y: Any) -> Any:
    return np.zeros_like(x) + y[:, None], np.ones(len(y)) + y, y * np.arange(len(y)), np.full(len(y), 2.0) @ y


def stores(x: Any, y: Any) -> Any:
    z = x + 0.0
    z[0] = 7.0
    z[:, 1] += y
    z[-1] *= 2
    z += 1
    y = y * 1.0
    y[y > 0] = 0.5
    return z, y


def products(x: Any, y: Any) -> Any:
    h = np.tanh(x @ W)
    e = np.exp(h - h.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True), y @ x, np.outer(y, y).sum(axis=0)


def slopes(x: Any, y: Any) -> Any:
    def loss(w: Any, x: Any) -> Any:
        h = np.tanh(x @ w)
        d = h[:, 0] * h[:, 1] - y
        d[0] = d[1] * 2
        return np.mean(d[1:] ** 2) + h.max() / len(y)

    return pystage.value_and_grad(loss, (0, 1))(lazy.asarray(W) if type(x) is lazy.LazyTensor else W, x)


def training(x: Any, y: Any) -> Any:
    w = lazy.asarray(W) if type(x) is lazy.LazyTensor else W.copy()
    losses = []
    for _ in range(3):
        value, slope = pystage.value_and_grad(lambda w: np.mean((np.tanh(x @ w)[:, 0] - y) ** 2))(w)
        w -= 0.1 * slope
        losses.append(value)
    return w, losses


def arrays_of(result: Any) -> list[Any]:
    return [a for each in result for a in (each if isinstance(each, list | tuple) else [each])]


def run(program: Callable[..., Any], x: Any, y: Any, rule: Any = "pow2") -> list[Any]:
    result = arrays_of(program(lazy.asarray(x, bucket={0: rule}), lazy.asarray(y, bucket={0: rule})))
    lazy.sync()
    return result


@pytest.mark.parametrize(
    "program", [reductions, elements, parts, shapes, sized, stores, products, slopes, training]
)
def test_the_results_are_those_of_numpy(program: Callable[..., Any]) -> None:
    counts = []
    for size in (9, 12, 16, 15, 7):
        x, y = RNG.standard_normal((size, 3)), RNG.standard_normal(size)
        lazy.reset_metrics()
        found = run(program, x, y)
        counts.append(lazy.metrics().compiles)
        for ours, theirs in zip(found, arrays_of(program(x, y)), strict=True):
            assert (ours.dtype, ours.shape) == (theirs.dtype, np.shape(theirs))
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12, atol=1e-14)
    assert counts[0] and counts[4] and not any(counts[1:4]), counts


def test_what_is_computed_later_stays_in_buckets() -> None:
    """Results of a barrier have the buckets of what they come from, also where they are stored into."""
    counts = []
    for size in (9, 12, 16):
        x = RNG.standard_normal((size, 3))
        lazy.reset_metrics()
        y = np.exp(lazy.asarray(x, bucket={0: "pow2"}))
        lazy.sync()
        y[1:] += 1.0
        z = y.sum(axis=0)
        lazy.sync()
        counts.append(lazy.metrics().compiles)
        expected = np.exp(x)
        expected[1:] += 1.0
        np.testing.assert_allclose(z, expected.sum(axis=0), rtol=1e-12)
    assert counts == [2, 0, 0]


def test_batches_of_a_loader() -> None:
    batches = [(RNG.standard_normal((size, 3)), RNG.standard_normal(size)) for size in (16, 16, 11, 9, 12)]
    lazy.reset_metrics()
    for (x, y), (p, q) in zip(lazy.Loader(batches, bucket={0: 16}), batches, strict=True):
        np.testing.assert_allclose((x * y[:, None]).sum(axis=0), (p * q[:, None]).sum(axis=0), rtol=1e-12)
    assert lazy.metrics().compiles <= 2  # the first call of a kind keeps its operands


def test_steps_share_programs() -> None:
    def train(w: Any, x: Any, y: Any, rate: float) -> Any:
        value, slope = pystage.value_and_grad(lambda w: np.mean((np.tanh(x @ w)[:, 0] - y) ** 2))(w)
        w -= rate * slope
        return value, np.exp(x[1:])

    step = lazy.step(train)
    counts = []
    w, v = lazy.asarray(W), lazy.asarray(W)
    for size in (9, 12, 16, 12, 9):
        x, y = RNG.standard_normal((size, 3)), RNG.standard_normal(size)
        expected, _ = train(v, lazy.asarray(x), lazy.asarray(y), 0.1 * size)
        lazy.sync()
        lazy.reset_metrics()
        buckets = {0: "pow2"}
        value, rest = step(w, lazy.asarray(x, bucket=buckets), lazy.asarray(y, bucket=buckets), 0.1 * size)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(w, v, rtol=1e-12)
        assert rest.shape == (size - 1, 3)
        np.testing.assert_allclose(rest, np.exp(x[1:]), rtol=1e-12)
        counts.append(lazy.metrics().compiles)
        assert lazy.metrics().steps.total() == 1
    assert counts == [1, 0, 0, 0, 0]


def test_loops_over_windows() -> None:
    counts = []
    for size in (40, 50, 60):
        y = RNG.standard_normal(size)
        lazy.reset_metrics()
        t = lazy.asarray(y, bucket={0: 32})
        for k in range(2, 9):
            np.testing.assert_allclose((t[k : k + 3] * t[k]).sum(), (y[k : k + 3] * y[k]).sum(), rtol=1e-12)
        counts.append(lazy.metrics().compiles)
    assert counts == [1, 0, 0]


def test_what_is_not_staged_in_buckets_has_a_program_for_each_size() -> None:
    def transforms(x: Any, y: Any) -> Any:
        return np.einsum("ij,i->j", x, y), np.linalg.inv(x.T @ x)

    lazy.reset_metrics()
    for size in (9, 12):
        x, y = RNG.standard_normal((size, 3)), RNG.standard_normal(size)
        for ours, theirs in zip(run(transforms, x, y), transforms(x, y), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert lazy.metrics().compiles > 2


def test_numbers_that_are_no_literals() -> None:
    for size in (9, 12):
        x = RNG.standard_normal(size)
        x[2] = np.nan
        t = lazy.asarray(x, bucket={0: "pow2"})
        found = np.nan_to_num(t, nan=np.inf), np.full_like(t, np.nan), t * np.float32(0.1) + np.float64(0.1)
        expected = (
            np.nan_to_num(x, nan=np.inf),
            np.full_like(x, np.nan),
            x * np.float32(0.1) + np.float64(0.1),
        )
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_under_autocast_there_are_no_buckets() -> None:
    x, w = np.ones((9, 3), np.float32), np.ones((3, 2), np.float32)
    with pystage.autocast("bfloat16"):
        y = lazy.asarray(x, bucket={0: "pow2"}) @ w
        lazy.sync()
    np.testing.assert_allclose(y, x @ w)


def test_rules_and_sizes() -> None:
    x = RNG.standard_normal((5, 3))
    for rule in ("pow2", 4, (3, 7), (2, 3)):  # the last has no bucket for five rows
        np.testing.assert_allclose(run(lambda x, y: [x.sum(axis=0)], x, x[:, 0], rule)[0], x.sum(axis=0))
    for size in (0, 1):
        np.testing.assert_allclose(
            run(lambda x, y: [x.sum(axis=0)], x[:size], x[:size, 0])[0], x[:size].sum(0)
        )
    for wrong, text in (
        ({-1: 8}, "counted from 0"),
        ({0: "pow3"}, "not 'pow3'"),
        ({2: 8}, "has no axis 2"),
    ):
        with pytest.raises(ValueError, match=text):
            lazy.asarray(x, bucket=wrong)


def test_sizes_that_keep_changing_suggest_buckets() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", pystage.SpecialisationWarning)
        for size in range(20, 32):
            np.log1p(lazy.asarray(RNG.random((size, 7)))).sum().item()
    (warning,) = told
    assert "`lazy.asarray(x, bucket={0: 'pow2'})` lets sizes share programs" in str(warning.message)
    assert warning.filename == __file__
