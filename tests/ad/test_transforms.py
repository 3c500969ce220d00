"""`pystage.grad` and its relatives, outside of staged source and inside it, against differences and JAX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage.config import config

from .programs import PROGRAMS, X
from .test_functions import IDS, differences, directions_for


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=IDS)
def test_grad_outside(function, args):
    count = len(args)
    value, gradients = pystage.value_and_grad(function, tuple(range(count)))(*args)
    assert value == pytest.approx(float(function(*[np.copy(a) if np.ndim(a) else a for a in args])), rel=1e-9)
    directions = directions_for(args)
    slope = sum(float(np.sum(g * t)) for g, t in zip(gradients, directions))
    assert slope == pytest.approx(differences(function, args, directions), rel=1e-5, abs=1e-6)
    for gradient, argument in zip(gradients, args):
        assert np.shape(gradient) == np.shape(argument)
        assert type(gradient) is (np.ndarray if np.ndim(argument) else float)


@dataclass
class Layer:
    w: Any
    b: Any
    name: str
    width: int


def loss(layers, x):
    for layer in layers:
        x = np.tanh(layer.w @ x + layer.b)
    return np.sum(x * x)


def make_layers():
    rng = np.random.default_rng(0)
    return [Layer(rng.standard_normal((3, 3)), 0.1 * i, f"layer {i}", 3) for i in range(2)]


def test_gradients_have_the_structure_of_the_argument():
    layers, x = make_layers(), X[:3]
    gradient = pystage.grad(loss)(layers, x)
    assert [type(g) for g in gradient] == [Layer, Layer] and gradient is not layers
    assert [(g.name, g.width) for g in gradient] == [("layer 0", 3), ("layer 1", 3)]
    assert type(gradient[0].b) is float and gradient[0].w.shape == (3, 3)
    step = 1e-6
    for change in ("w", "b"):
        moved = [make_layers(), make_layers()]
        for sign, copy in zip((step, -step), moved):
            setattr(copy[0], change, getattr(copy[0], change) + sign)
        slope = (loss(moved[0], x) - loss(moved[1], x)) / (2 * step)
        assert np.sum(getattr(gradient[0], change)) == pytest.approx(slope, rel=1e-5)


def train(layers, x, rate):
    for _ in range(5):
        gradient = pystage.grad(loss)(layers, x)
        for layer, slope in zip(layers, gradient):
            layer.w -= rate * slope.w
            layer.b = layer.b - rate * slope.b
    return loss(layers, x)


def test_grad_inside_staged_source_is_a_part_of_the_program():
    layers, wanted = make_layers(), make_layers()
    found = pystage.compile(train)(layers, X[:3], 0.05)
    gradient = pystage.grad(loss)
    for _ in range(5):
        for layer, slope in zip(wanted, gradient(wanted, X[:3])):
            layer.w -= 0.05 * slope.w
            layer.b = layer.b - 0.05 * slope.b
    assert found == pytest.approx(float(loss(wanted, X[:3])), rel=1e-10)
    for ours, theirs in zip(layers, wanted):
        np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-10)
        assert ours.b == pytest.approx(theirs.b, rel=1e-10)


def jax_loss(params, x):
    hidden = jax.nn.relu(params["w"] @ x + params["b"])
    q, _ = jnp.linalg.qr(params["w"])
    return jnp.sum(jax.nn.log_softmax(hidden) ** 2) + jnp.sum(jnp.sort(q, axis=0)[0]) + jnp.cumsum(x)[-1]


def test_gradients_of_jax_code_are_those_of_jax():
    key = jax.random.key(0)
    params = {"w": jax.random.normal(key, (4, 4)), "b": jnp.ones(4)}
    x = jnp.arange(4.0)
    ours, theirs = pystage.grad(jax_loss, (0, 1))(params, x), jax.grad(jax_loss, (0, 1))(params, x)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert isinstance(a, jax.Array) and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_both_uses_of_one_array_count_apart():
    def product(x, y):
        return np.sum(x * y * y)

    x = X.copy()
    np.testing.assert_allclose(pystage.grad(product)(x, x), x * x)
    np.testing.assert_allclose(pystage.grad(product, (0, 1))(x, x)[1], 2 * x * x)


def test_what_the_function_stores_is_stored():
    def scaled(x, out):
        out[:] = 2.0 * x
        x[0] = 5.0
        return np.sum(out * out) + x[0]

    x, out = X.copy(), np.zeros(4)
    gradient = pystage.grad(scaled)(x, out)
    np.testing.assert_allclose(gradient, 8.0 * X)
    np.testing.assert_array_equal(out, 2.0 * X)
    np.testing.assert_array_equal(x, [5.0, *X[1:]])


def cubes(x):
    return np.sum(x**3) + x[0] * x[1]


class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second


def swapped(pair, times):
    for _ in range(times):
        pair.first, pair.second = pair.second, pair.first
        pair.first[0] *= 2.0
    return np.sum(2.0 * pair.first + 3.0 * pair.second)


@pytest.mark.parametrize(("times", "first", "second"), [(0, [2, 2], [3, 3]), (3, [6, 3], [8, 2])])
def test_objects_are_the_callers_after_they_were_swapped(times, first, second):
    pair = Pair(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    arrays = [pair.first, pair.second]
    gradient = pystage.grad(swapped)(pair, times)
    np.testing.assert_allclose(gradient.first, first)
    np.testing.assert_allclose(gradient.second, second)
    assert pair.first is arrays[times % 2] and pair.second is arrays[(times + 1) % 2]


def test_a_list_that_one_path_rotates():
    def rotated(xs, n):
        if n > 5:
            return 0.0
        if n > 2:
            same = xs
            same[0][0] += 1.0
        else:
            xs.append(xs.pop(0))
        return 0.0

    def total(xs, n):
        rotated(xs, n)
        return np.sum(xs[0]) + 2.0 * np.sum(xs[1])

    for n, wanted in ((1, [0, 1, 2]), (3, [1, 2, 0]), (7, [1, 2, 0])):
        gradient = pystage.grad(total)([np.ones(2), np.ones(2), np.ones(2)], n)
        np.testing.assert_allclose(gradient, np.repeat(wanted, 2).reshape(3, 2))


def test_a_value_that_is_computed_in_many_steps():
    """The passes after inference look at all of them, as deep as they go."""
    weights = np.array([1.0, 2.0, 3.0])

    def total(d):
        for _ in d["b"]:
            for _ in d["b"]:
                if d["a"] > d["a"]:
                    d["b"] = np.full((3,), d["a"], np.float64)
                d["b"][-3] += 1
                d.setdefault("c", d["a"])
        return np.sum(d["b"] * weights) + int(d["b"][-3])

    found = pystage.grad(total)({"a": 1, "b": np.array([1.0, -2.0, 3.0])})
    np.testing.assert_array_equal(found["b"], weights)


def test_complex_numbers_made_real_in_a_loop():
    def total(a, b):
        def spread():
            _ = b * 1
            a[0] = -0.25
            return np.broadcast_to(a, (2, 3)).astype(np.complex128)

        for _ in range(3):
            b = spread()
        return np.sum(a)

    by_a, by_b = pystage.grad(total, (0, 1))(np.ones(3), np.full((2, 3), 1j))
    np.testing.assert_array_equal(by_a, [0.0, 1.0, 1.0])
    np.testing.assert_array_equal(by_b, np.zeros((2, 3)))


def test_a_place_does_not_vary():
    def largest(x):
        return x[np.argmax(x)] * x[0]

    x = np.array([2.0, 5.0, 3.0])
    assert pystage.jvp(largest, (x,), (np.ones(3),)) == (10.0, 7.0)
    np.testing.assert_allclose(pystage.hessian(largest)(x), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_second_derivatives():
    wanted = np.diag(6.0 * X)
    wanted[0, 1] = wanted[1, 0] = 1.0
    np.testing.assert_allclose(pystage.hessian(cubes)(X), wanted)
    product = pystage.compile(lambda x, v: pystage.jvp(pystage.grad(cubes), (x,), (v,))[1])
    np.testing.assert_allclose(product(X, np.ones(4)), wanted @ np.ones(4))
    twice = pystage.grad(lambda x: np.sum(pystage.grad(cubes)(x) * X))
    np.testing.assert_allclose(twice(X), wanted @ X)
    assert pystage.grad(pystage.grad(lambda x: x**4))(2.0) == 48.0


def outer(x, y):
    return np.outer(x, y) * y[0]


def test_jacobians():
    x, y = X[:2].copy(), X[:3].copy()
    found = pystage.jacobian(outer, (0, 1))(x, y)
    wanted = jax.jacobian(lambda x, y: jnp.outer(x, y) * y[0], (0, 1))(jnp.asarray(x), jnp.asarray(y))
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert pystage.jacobian(lambda x: x * x)(3.0) == 6.0


def test_a_jacobian_runs_the_function_once(capfd):
    def stored(x, y, log):
        y[0] = y[0] * 2.0 + x[0]
        log.append(x[1])
        print("once")
        return np.outer(x * y[0], y)

    x, y, log = X[:2].copy(), X[:3].copy(), []
    found = pystage.jacobian(stored, (0, 1))(x, y, log)
    assert capfd.readouterr().out == "once\n"
    after, kept = X[:3].copy(), []
    stored(X[:2].copy(), after, kept)
    np.testing.assert_allclose(y, after)
    assert log == kept
    for position, wanted in enumerate(found):
        start = [X[:2], X[:3]]
        for i, step in enumerate(1e-6 * np.eye(len(start[position]))):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in start]
                moved[position] += sign * step
                ends.append(stored(*moved, []))
            np.testing.assert_allclose(wanted[..., i], (ends[0] - ends[1]) / 2e-6, atol=1e-7)


@pytest.mark.parametrize("budget", [0, 64, 200, 1 << 20])
def test_a_jacobian_in_blocks(budget, monkeypatch, capfd):
    def stored(x, y, log):
        log[0] = x[1] * 2.0
        print("once", x[0])
        h = np.outer(np.sin(x), y)
        for _ in range(2):
            h = h * np.cos(h)
        while h[0, 0] > 1e-3:
            h = h * 0.5
        return np.sum(h, axis=1) * y[0]

    x, y = np.linspace(0.3, 1, 5), np.linspace(1, 2, 3)
    log = np.zeros(1)
    wanted = pystage.jacobian(stored, (0, 1))(x, y, log)
    capfd.readouterr()
    monkeypatch.setattr(config, "_residual_bytes", budget)
    blocks, again = pystage.jacobian(lambda x, y, log: stored(x, y, log), (0, 1)), np.zeros(1)
    for found, whole in zip(blocks(x, y, again), wanted, strict=True):
        np.testing.assert_allclose(found, whole, rtol=1e-12)
    assert again == log
    assert capfd.readouterr().out == "once 0.3\n"
    assert ("8x5x3" in blocks.lower(x, y, log).as_text()) == (budget == 1 << 20)


def test_a_jacobian_in_blocks_that_raises(monkeypatch):
    monkeypatch.setattr(config, "_residual_bytes", 64)

    def raising(x):
        if x[0] > 2:
            raise ValueError("too great")
        return np.outer(x, x)[0].copy()

    np.testing.assert_allclose(pystage.jacobian(raising)(np.ones(4))[:, 1:], np.eye(4)[:, 1:])
    with pytest.raises(ValueError, match="too great"):
        pystage.jacobian(raising)(np.full(4, 3.0))
    found = jax.jit(pystage.jacobian(lambda x: jnp.outer(x, x)[1]))(jnp.arange(4.0))
    np.testing.assert_allclose(found, jax.jacobian(lambda x: jnp.outer(x, x)[1])(jnp.arange(4.0)))


def test_jacobians_of_what_is_no_array_are_refused():
    for function in (lambda x: [x, x], lambda x: {"a": x}):
        with pytest.raises(pystage.StagingError, match=r"PS606.*Jacobian"):
            pystage.jacobian(function)(X)
    with pytest.raises(pystage.StagingError, match=r"PS606.*Jacobian"):
        pystage.jacobian(lambda x: x["a"] * 2.0)({"a": X})
    np.testing.assert_array_equal(pystage.jacobian(lambda x: np.ones(2))(X), np.zeros((2, 4)))


def test_jacobians_of_parts_of_arrays():
    wanted = jax.jacobian(lambda x: jnp.outer(x, x)[1])(jnp.asarray(X))
    np.testing.assert_allclose(pystage.jacobian(lambda x: np.outer(x, x)[1])(X), wanted, rtol=1e-6)
    np.testing.assert_array_equal(pystage.jacobian(lambda x: x[::2])(X), np.eye(4)[::2])


def test_jacobians_of_the_argument_itself():
    def itself(x):
        return x

    def changed(x):
        x[1] = x[0] * 3.0
        return x

    np.testing.assert_array_equal(pystage.jacobian(itself)(X.copy()), np.eye(4))
    np.testing.assert_array_equal(pystage.jacobian(itself)(jnp.ones(3)), np.eye(3))
    np.testing.assert_array_equal(pystage.jacobian(changed)(X.copy())[1], [3.0, 0.0, 0.0, 0.0])
    assert pystage.jacobian(itself)(2.0) == 1.0


def test_directional_derivatives():
    def parts(p, k):
        return {"sum": p[0] + p[1], "product": p[0] * p[1] * k, "count": 3}

    value, moved = pystage.jvp(parts, ((2.0, 3.0), 2.0), ((1.0, 0.5), 0.0))
    assert value == {"sum": 5.0, "product": 12.0, "count": 3}
    assert moved["sum"] == 1.5 and moved["product"] == 8.0
    with pytest.raises(TypeError, match="equal shapes"):
        pystage.jvp(np.sin, (X,), (np.ones(3),))


def test_integers_pass_through_beside_directions():
    def counted(p):
        p["n"] = p["n"] + 1
        return p["n"], p["m"], {"n": p["n"], "y": p["y"] * p["m"]}

    value, moved = pystage.jvp(counted, ({"n": 2, "m": 3, "y": X},), ({"n": 2, "m": 3, "y": X},))
    assert value[:2] == moved[:2] == (3, 3) and value[2]["n"] == moved[2]["n"] == 3
    np.testing.assert_allclose(moved[2]["y"], 3 * X)


def test_aux_and_keywords():
    def with_aux(x, *, power):
        return np.sum(x**power), {"largest": np.max(x)}

    gradient, aux = pystage.grad(with_aux, has_aux=True)(X, power=2)
    np.testing.assert_allclose(gradient, 2 * X)
    assert aux["largest"] == 2.0
    (value, _), gradient = pystage.value_and_grad(with_aux, has_aux=True)(X, power=2)
    assert value == pytest.approx(float(np.sum(X**2)))


def test_what_does_not_depend_on_the_argument_has_zeros():
    np.testing.assert_array_equal(pystage.grad(lambda x: 3.0)(X), np.zeros(4))
    np.testing.assert_array_equal(pystage.grad(lambda x: np.sum(np.floor(x)))(X), np.zeros(4))
    assert pystage.grad(lambda x, y: y * y, 0)(1.0, 2.0) == 0.0


def test_bad_input():
    with pytest.raises(TypeError, match=r"scalar-output functions. Output had shape: \(4,\)"):
        pystage.grad(lambda x: x * 2.0)(X)
    with pytest.raises(TypeError, match="real- or complex-valued inputs"):
        pystage.grad(lambda n: n * 2.0)(3)
    for integer in (lambda x: len(x) + int(x[0]), lambda x: 3):
        with pytest.raises(TypeError, match="real-valued outputs, but got int"):
            pystage.grad(integer)(X)
    for nothing in (lambda x: (x[0], x[1]), lambda x: None, lambda x: "a"):
        with pytest.raises(TypeError, match="Output was no number"):
            pystage.grad(nothing)(X)
    with pytest.raises(pystage.StagingError, match="PS702"):
        pystage.grad(cubes, 1)(X)
    for argnums in (1.5, "a", (0, None)):
        with pytest.raises(TypeError, match="argnums must be an int or a sequence of ints"):
            pystage.grad(cubes, argnums)(X)


def test_operations_without_a_rule_are_refused():
    with pytest.raises(pystage.StagingError, match=r"PS701.*np\.nextafter"):
        pystage.grad(lambda x: np.sum(np.nextafter(x, 2.0)))(X)
    with pytest.raises(pystage.StagingError, match=r"PS701.*reduce"):
        pystage.grad(lambda x: jax.lax.reduce(x, 0.0, lambda a, b: a * b + a, (0,)))(jnp.ones(3))
    both = pystage.grad(lambda x: np.sum(np.nextafter(pystage.stop_gradient(x), 2.0) * x))
    np.testing.assert_allclose(both(X), np.nextafter(X, 2.0))


def test_a_function_that_fell_back_has_no_derivative():
    @pystage.compile(fallback="python")
    def fell_back(x):
        with open(__file__) as file:
            file.read()
        return x * x

    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert fell_back(3.0) == 9.0
    with pytest.raises(pystage.StagingError, match="PS601"):
        pystage.grad(fell_back)(3.0)
    inside = pystage.compile(lambda x: pystage.grad(fell_back)(x), fallback="python")
    with pytest.raises(pystage.StagingError, match="PS601"), pytest.warns(UserWarning):
        inside(3.0)


def test_the_branch_not_taken_gives_no_nan():
    def safe(x):
        return np.sqrt(x) if x > 0.0 else x

    assert pystage.grad(safe)(-1.0) == 1.0
    assert pystage.grad(safe)(0.0) == 1.0


def test_stop_gradient():
    def partly(x, pair):
        kept = pystage.stop_gradient(x)
        kept[0] = 7.0
        a, b = pystage.stop_gradient(pair)["p"]
        return np.sum(x * kept) + a * b * x[1]

    def gradient(x):
        return pystage.grad(partly)(x, {"p": (2.0, 3.0)})

    np.testing.assert_allclose(pystage.compile(gradient)(X), [7.0, X[1] + 6.0, *X[2:]])
    copied = pystage.stop_gradient([X])
    assert copied[0] is not X and np.array_equal(copied[0], X)
    assert pystage.grad(lambda x: x * pystage.stop_gradient(x))(3.0) == 3.0
    assert pystage.jvp(lambda x: pystage.stop_gradient(x) + 1.0, (3.0,), (1.0,)) == (4.0, 0.0)


def test_jax_stop_gradient():
    def partly(x, pair):
        kept = jax.lax.stop_gradient({"x": x, "pair": pair})
        return jnp.sum(x * kept["x"]) + kept["pair"][1] * x[0] + jax.lax.stop_gradient(x[0]) ** 2

    args = jnp.array([1.0, 2.0, 3.0]), (1, 5.0)
    np.testing.assert_array_equal(pystage.grad(partly)(*args), jax.grad(partly)(*args))


class Scale:
    """Two of them are equal whatever they hold."""

    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return self.by * x * x

    def __eq__(self, other):
        return isinstance(other, Scale)

    def __hash__(self):
        return 1


def test_what_is_kept_is_kept_by_identity():
    assert [pystage.grad(Scale(by))(2.0) for by in (1.0, 3.0)] == [4.0, 12.0]
    one, two = Scale(1.0), Scale(3.0)
    assert [pystage.grad(f)(2.0) for f in (one.__call__, two.__call__)] == [4.0, 12.0]
    assert pystage.grad(one.__call__) is pystage.grad(one.__call__)


def test_a_gradient_of_a_gradient_in_closures():
    def nested(x, y):
        def inner(z):
            return np.sum(pystage.grad(lambda w: np.sum(w**3 * y * z))(x) ** 2)

        return np.sum(pystage.grad(inner)(y))

    x, y = X[:3].copy(), X[1:4].copy()
    np.testing.assert_allclose(pystage.compile(nested)(x, y), np.sum(18 * x**4 * y**3))
    np.testing.assert_allclose(pystage.grad(nested)(x, y), 72 * x**3 * y**3)
