"""Gradients of functions that run on lazy tensors are the slopes of the plain function."""

from __future__ import annotations

import enum
import linecache
import os
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage import lazy

pytestmark = pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
W = np.random.default_rng(0).normal(size=(3, 2))


@pytest.fixture(autouse=True)
def _lazily(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pystage.config, "_fallback", "lazy")


def products(w: Any) -> Any:
    h = np.tanh(np.ones((4, 3)) @ w) * eval("2.0")
    return (h**2).sum()


def branches(w: Any) -> Any:
    y = w * eval("1.0")
    if y.sum() > 0:
        y = y * 3
    for _ in range(3):
        y = np.sin(y) + w
    return y.mean()


def stores(w: Any) -> Any:
    y = np.zeros((3, 2)) + w * eval("1.0")
    y[0] *= 2
    y[:, 1] = w[:, 0] ** 2
    v = y.T
    v[0] += w[:, 1]
    return (y * y).sum()


def prints(w: Any) -> Any:
    total = (w * eval("1.0")).sum()
    print(f"{total:.2f}")
    return total * total


def goes_on(w: Any) -> Any:
    y = w * eval("1.0")
    kept = np.zeros(3) + y[0, 0] * 0
    for i in range(45):
        y = np.sin(y) + w * 0.5
        kept[i % 3] = kept[(i + 1) % 3] + y[i % 3, 0]
    return (y * y).sum() + kept.sum()


def slope_of_a_slope(w: Any) -> Any:
    g = pystage.grad(lambda v: (v**3 * w).sum() * eval("1.0"))(w)
    return (g * g).sum() * eval("1.0")


def heads(w: Any) -> Any:
    """Reshapes a transposed view: NumPy copies it."""
    y = np.tanh(w.reshape(3, 2, 1).transpose(1, 0, 2) * 2.0)
    y = y @ y.transpose(0, 2, 1) * eval("1.0")
    flat = y.transpose(1, 0, 2).reshape(3, -1) + np.reshape(y.T, (3, 6))
    flat[0] *= y[:, 0, 0].sum()
    return (flat**3).sum() + (np.ravel(w.T) * np.arange(6)).sum()


def slopes(function: Any, w: Any, step: float = 1e-6) -> Any:
    found = np.zeros_like(w)
    for place in np.ndindex(*w.shape):
        up, down = w.copy(), w.copy()
        up[place] += step
        down[place] -= step
        found[place] = (function(up) - function(down)) / (2 * step)
    return found


@pytest.mark.parametrize("function", [products, branches, stores, prints, goes_on, heads, slope_of_a_slope])
def test_gradients_are_slopes(function: Any, capsys: Any) -> None:
    expected = slopes(function, W) if function is not slope_of_a_slope else 54 * W**5
    found = pystage.grad(function)(W)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)
    value, gradient = pystage.value_and_grad(function)(lazy.asarray(W))
    assert type(value) is type(gradient) is lazy.LazyTensor
    np.testing.assert_allclose(float(value), function(W))
    np.testing.assert_allclose(np.array(gradient), expected, rtol=1e-5, atol=1e-8)


def test_numbers_structures_and_aux() -> None:
    def loss(parts: Any, k: float) -> Any:
        return eval("1.0") * parts["a"] ** 3 * k + (parts["b"] ** 2).sum(), "aux"

    gradient, aux = pystage.grad(loss, has_aux=True)({"a": 2.0, "b": np.array([1.0, 3.0])}, 2.0)
    assert (gradient["a"], type(gradient["a"]), aux) == (24.0, float, "aux")
    assert gradient["b"].tolist() == [2.0, 6.0]
    scalar = lazy.asarray(np.array([2.0, 5.0])).sum()
    found = pystage.grad(lambda x: x * x * eval("1.0"))(scalar)
    assert (type(found), float(found)) == (lazy.LazyTensor, 14.0)
    assert pystage.grad(lambda x: eval("4.0"))(2.0) == 0.0


@pytest.mark.parametrize(
    "function",
    [
        lambda w: w.sum() * float(w.sum()) * eval("1.0"),
        lambda w: np.unique(w * eval("1.0")).sum(),
        lambda w: (w * w.tolist()[0][0] * eval("1.0")).sum(),
    ],
)
def test_what_leaves_the_record_has_no_derivative(function: Any) -> None:
    with pytest.raises(pystage.StagingError, match="PS701"):
        pystage.grad(function)(W)


def test_an_ndarray_holds_no_tensor() -> None:
    def stored(w: Any) -> Any:
        rows = np.zeros((2, *w.shape))
        for i in range(2):
            rows[i] = w * eval("1.0")
        return rows.sum()

    with pytest.raises(pystage.StagingError) as caught:
        pystage.grad(stored)(W)
    (problem,) = caught.value.diagnostics
    assert problem.code == "PS701" and problem.span is not None and "lazy.zeros" in str(caught.value)
    assert "rows[i] = w" in linecache.getline(problem.span.file, problem.span.line)


def test_an_ndarray_holds_no_number_of_the_record() -> None:
    def stored(w: Any) -> Any:
        sums = np.zeros(2)
        for i in range(2):
            sums[i] = (w * eval("1.0")).sum()
        return sums.sum()

    with pytest.raises(pystage.StagingError, match="PS701") as caught:
        pystage.grad(stored)(W)
    (problem,) = caught.value.diagnostics
    assert "sums[i] = " in linecache.getline(problem.span.file, problem.span.line)


def test_arrays_of_jax_are_left_to_jax() -> None:
    with pytest.raises(pystage.StagingError, match="PS701"):
        pystage.grad(lambda x: (x * eval("1.0")).sum())(jnp.ones(3))


@pytest.mark.parametrize("function", [lambda w: w * eval("1.0"), lambda w: int(eval("1"))])
def test_only_one_real_number_is_differentiated(function: Any) -> None:
    with pytest.raises(TypeError):
        pystage.grad(function)(W)


def unstaged(w: Any) -> Any:
    os.getpid()
    return np.sum(w * w * w)


def test_what_is_differentiated_by_is_not_overwritten() -> None:
    w = lazy.asarray(np.ones((64, 64)))
    lazy.sync()
    for _ in range(2):
        slope = pystage.grad(unstaged)(w)
        lazy.sync()
        assert slope[0, 0] == 3.0
        assert w[0, 0] == 1.0


def test_what_has_no_slope_passes_through_a_structure() -> None:
    def of_b(d: Any) -> Any:
        os.getpid()
        return (d["b"] * 2.0).sum()

    counts = np.arange(2)
    found = pystage.grad(of_b)({"a": 1, "b": np.ones(2), "c": counts, "d": "name"})
    assert (found["a"], found["d"]) == (1, "name") and found["c"] is not counts
    np.testing.assert_array_equal(found["b"], 2.0)
    np.testing.assert_array_equal(found["c"], counts)


@dataclass
class Norm:
    scale: Any
    mean: Any
    kept: Any = None


@dataclass(frozen=True, slots=True)
class Scale:
    by: Any
    name: str


@jax.tree_util.register_dataclass
@dataclass
class Registered:
    w: Any
    rate: float = field(metadata={"static": True})


class Rate(enum.Enum):
    HIGH = 0.5


class Model:
    def __init__(self, norm: Norm, make: Any) -> None:
        self.rate = Rate.HIGH
        self.parts = [norm, norm, Scale(make([2.0, 3.0]), "scale"), Registered(make([1.0, -1.0]), 0.5)]
        self.calls = 0


def changes(model: Any, x: Any) -> Any:
    """Keeps a running mean, counts, appends, gives a weight another name and stores into it by that."""
    first, same, scale, registered = model.parts
    y = (x * first.scale + same.scale) * scale.by * registered.w * registered.rate * model.rate.value
    first.mean = 0.9 * first.mean + 0.1 * y.sum()
    first.kept = first.scale
    first.kept[0] = 7.0
    model.calls += 1
    model.parts.append(model.calls)
    return (y * y).sum(), first.kept


def changed(make: Any, grad: Any) -> list[Any]:
    model = Model(Norm(make([0.5, 1.5]), 1.0), make)
    (value, kept), g = grad(model, make([1.0, 2.0]))
    norm = model.parts[0]
    assert kept is norm.kept is norm.scale and model.parts[1] is norm
    assert (
        type(g) is Model and g.parts[0] is g.parts[1] and g.parts[2].name == "scale" and g.rate is Rate.HIGH
    )
    assert model.calls == 1 and model.parts[4:] == [1]
    held = (value, kept, norm.scale, norm.mean, *[part.by for part in (model.parts[2], g.parts[2])])
    slopes = (g.parts[0].scale, g.parts[0].mean, g.parts[3].w, g.parts[3].rate)
    return [np.asarray(each).tolist() for each in (*held, *slopes)]


def test_objects_hold_gradients_and_what_the_function_changes() -> None:
    """As where the function is staged."""
    grad = pystage.value_and_grad(changes, has_aux=True)
    staged = pystage.value_and_grad(pystage.compile(changes, fallback="error"), has_aux=True)
    found, wanted = changed(lambda x: lazy.asarray(np.array(x)), grad), changed(np.array, staged)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_python_numbers_promote_no_array() -> None:
    """Floats of an argument are weak, also in what is computed from them and kept."""

    def decays(part: Any, w: Any) -> Any:
        part["rate"] = part["rate"] * 0.5 + eval("0.0")
        part["mean"] = part["rate"] * w
        return (part["mean"] * w).sum()

    for make in (np.array, lazy.asarray):
        w = make(np.ones(3, np.float32))
        part = {"rate": 3.0}
        value, gradient = pystage.value_and_grad(decays)(part, w)
        assert value.dtype == part["mean"].dtype == np.float32 and float(value) == 4.5
        assert type(part["mean"]) is type(w)
        assert (part["rate"], type(part["rate"])) == (1.5, float)
        assert gradient["rate"] == 1.5 and type(gradient["rate"]) is float
    value, slope = pystage.value_and_grad(lambda x: x * x * eval("1.0"))(2.0)
    assert (value, type(value), slope) == (4.0, float, 4.0)
    assert pystage.grad(lambda x: pystage.grad(lambda y: y**3 * eval("1.0"))(x) * 1.0)(2.0) == 12.0


def test_ndarrays_are_what_a_function_leaves_in_objects_of_ndarrays() -> None:
    def counts(norm: Any, log: Any, fails: bool) -> Any:
        os.getpid()
        norm.mean = 0.5 * norm.mean + norm.scale.sum()
        norm.kept = norm.scale * 2.0
        log.append(norm.kept)
        if fails:
            raise KeyError(len(log))
        return (norm.scale**2).sum()

    for fails in (False, True):
        norm: Any = Norm(np.ones(3), 2.0)
        log: list[Any] = []
        try:
            gradient = pystage.grad(counts)(norm, log, fails)
            assert not fails and type(gradient.scale) is np.ndarray
        except KeyError:
            assert fails
        assert type(norm.kept) is np.ndarray and norm.kept is log[0] and type(norm.mean) is np.float64
        assert norm.kept.tolist() == [2.0, 2.0, 2.0] and norm.mean == 4.0


def test_an_object_that_a_function_failed_on_holds_what_it_held() -> None:
    def fails(norm: Any) -> Any:
        raise KeyError(norm.scale.shape)

    scale = lazy.asarray(np.ones(3))
    norm = Norm(scale, 1.0)
    with pytest.raises(KeyError):
        pystage.grad(fails)(norm)
    assert norm.scale is scale and norm.mean == 1.0
    with pytest.raises(pystage.StagingError, match="PS701"):
        pystage.grad(fails)(Norm(scale, jnp.ones(3)))
    assert norm.scale is scale


def test_an_argument_that_the_call_does_not_have() -> None:
    with pytest.raises(pystage.StagingError, match="PS702"):
        pystage.grad(unstaged, 1)(np.ones(3))


@pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
def test_compiled_functions_say_what_happens_to_their_derivatives() -> None:
    x = np.ones(3)
    np.testing.assert_array_equal(pystage.grad(pystage.compile(unstaged, fallback="lazy"))(x), 3.0 * x)
    with pytest.raises(pystage.StagingError, match="PS601"):
        pystage.grad(pystage.compile(unstaged, fallback="error"))(x)


def test_what_the_function_stores_into_its_argument_reaches_the_caller() -> None:
    """Also where it raises, and of an ndarray whose function is not staged."""

    def stores(x: Any) -> Any:
        time.time()
        x[0] = 5.0
        if x.shape[0] == 3:
            raise KeyError("three")
        return (x * x).sum()

    for make in (lazy.asarray, np.array):
        x, y = make(np.arange(4.0)), make(np.arange(3.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, gradient = pystage.value_and_grad(stores)(x)
            with pytest.raises(KeyError):
                pystage.value_and_grad(stores)(y)
        assert float(value) == 39.0 and np.asarray(gradient).tolist() == [0.0, 2.0, 4.0, 6.0]
        assert np.asarray(x).tolist() == [5.0, 1.0, 2.0, 3.0] and np.asarray(y).tolist() == [5.0, 1.0, 2.0]


def test_a_store_into_an_ndarray_says_what_to_store_into() -> None:
    def loss(x: Any) -> Any:
        h = np.zeros(3)
        h[1] = x[1] * 2
        return h.sum()

    with pytest.raises(pystage.StagingError, match=r"store into a tensor, as of `lazy.zeros\(shape\)`"):
        pystage.grad(loss)(lazy.asarray(np.ones(3)))
