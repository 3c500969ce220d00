"""`pystage.custom_vjp`: the same functions and rules under JAX's own `custom_vjp` are the oracle.

Every builder gets the decorator, `pystage.custom_vjp` or `jax.custom_vjp`, and gives a function that uses what it
decorates; the rules are wrong on purpose, so that a gradient shows which of them was used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import check

import pystage

X = np.array([0.3, -1.2, 0.7])
Y = np.array([2.0, 0.5, -1.0])
Build = Callable[[Any], Callable[..., Any]]


def straight(custom: Any) -> Any:
    @custom
    def f(x: Any, y: Any) -> Any:
        return jnp.sin(x) * y

    def fwd(x: Any, y: Any) -> Any:
        return f(x, y), (jnp.cos(x), jnp.sin(x), y)

    def bwd(kept: Any, ct: Any) -> Any:
        cos, sin, y = kept
        return 3.0 * cos * ct * y, sin * ct

    f.defvjp(fwd, bwd)
    return f


def summed(custom: Any) -> Any:
    f = straight(custom)
    return lambda x, y: jnp.sum(f(x, y) * y)


def in_a_loop(custom: Any) -> Any:
    f = straight(custom)

    def program(x: Any, y: Any) -> Any:
        for i in range(3):
            x = f(x, y) + f(y, x) * i
        return jnp.sum(x)

    return program


def in_a_callee(custom: Any) -> Any:
    f = straight(custom)

    def twice(x: Any, y: Any) -> Any:
        return f(f(x, y), y)

    return lambda x, y: jnp.sum(twice(x, y) + twice(y, x))


def clipped(custom: Any) -> Any:
    @functools.partial(custom, nondiff_argnums=(0, 1))
    def f(low: Any, high: Any, x: Any) -> Any:
        return x

    def fwd(low: Any, high: Any, x: Any) -> Any:
        return x, None

    def bwd(low: Any, high: Any, kept: Any, ct: Any) -> Any:
        return (jnp.clip(ct, low, high),)

    f.defvjp(fwd, bwd)
    return lambda x, y: jnp.sum(f(-0.5, 0.5, x) * y)


def applied(custom: Any) -> Any:
    @functools.partial(custom, nondiff_argnums=(0,))
    def f(function: Any, x: Any) -> Any:
        return function(x)

    def fwd(function: Any, x: Any) -> Any:
        return function(x), x

    def bwd(function: Any, x: Any, ct: Any) -> Any:
        return (function(x) * ct,)

    f.defvjp(fwd, bwd)
    return lambda x, y: jnp.sum(f(jnp.cos, x) + f(lambda z: z * z, y))


def structures(custom: Any) -> Any:
    @custom
    def f(weights: Any, pair: Any, n: Any) -> Any:
        return {"a": weights["w"] * pair[0], "b": (jnp.sum(pair[1]) * n, n)}

    def fwd(weights: Any, pair: Any, n: Any) -> Any:
        return f(weights, pair, n), (weights, pair)

    def bwd(kept: Any, ct: Any) -> Any:
        weights, (first, second) = kept
        by_pair = weights["w"] * ct["a"] * 2.0, jnp.full(second.shape, ct["b"][0])
        return {"b": None, "w": first * ct["a"]}, by_pair, None

    f.defvjp(fwd, bwd)

    def program(x: Any, y: Any) -> Any:
        found = f({"w": x, "b": y}, (y, x * y), 2)
        return jnp.sum(found["a"]) * found["b"][0] * found["b"][1]

    return program


def straight_through(custom: Any) -> Any:
    @custom
    def f(x: Any) -> Any:
        return jnp.round(x)

    f.defvjp(lambda x: (jnp.round(x), None), lambda kept, ct: (ct,))
    return lambda x, y: jnp.sum(f(x * y) * f(y + 0.3) * y)


def one_result_twice(custom: Any) -> Any:
    @custom
    def f(x: Any) -> Any:
        y = x * 2.0
        return y, y

    f.defvjp(lambda x: (f(x), None), lambda kept, ct: (ct[0] * 3.0 + ct[1] * 5.0,))

    def program(x: Any, y: Any) -> Any:
        first, second = f(x)
        return jnp.sum(first * y + second * second)

    return program


def named_and_defaulted(custom: Any) -> Any:
    @custom
    def f(x: Any, y: Any, scale: Any = 2.0) -> Any:
        return x * y * scale

    def fwd(x: Any, y: Any, scale: Any) -> Any:
        return x * y * scale, (x, y, scale)

    def bwd(kept: Any, ct: Any) -> Any:
        x, y, _ = kept
        return ct * y, ct * x, jnp.sum(ct * x)

    f.defvjp(fwd, bwd)
    return lambda x, y: jnp.sum(f(y=x, x=y) + f(x, y, scale=jnp.sum(y)))


def other_values_forward(custom: Any) -> Any:
    @custom
    def f(x: Any) -> Any:
        return x * 2.0

    f.defvjp(lambda x: (x * 7.0, x), lambda x, ct: (ct * x,))
    return lambda x, y: jnp.sum(f(x) * f(y) * f(x))


def mapped_inside(custom: Any) -> Any:
    f = straight(custom)
    vmap = pystage.vmap if custom is pystage.custom_vjp else jax.vmap

    def program(x: Any, y: Any) -> Any:
        square = jnp.outer(x, y)
        own = vmap(f)(square, square.T)
        shared = vmap(f, in_axes=(0, None))(square, y)
        return jnp.sum(own * shared)

    return program


def of_an_index(custom: Any) -> Any:
    f = straight(custom)
    return lambda x, y: f(x[0], y[1]) * f(y, x)[2]


BUILDERS = [
    summed, in_a_loop, in_a_callee, clipped, applied, structures, straight_through, one_result_twice,
    named_and_defaulted, other_values_forward, mapped_inside, of_an_index,
]  # fmt: skip
BUILD = pytest.mark.parametrize("build", BUILDERS, ids=lambda b: b.__name__)


def same(ours: Any, theirs: Any) -> None:
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-9), ours, theirs)


@pytest.fixture(autouse=True)
def wide() -> Any:
    with jax.enable_x64(True):
        yield


@BUILD
def test_without_a_derivative_it_is_the_function(build: Build) -> None:
    check(build(pystage.custom_vjp), jnp.asarray(X), jnp.asarray(Y), tolerance=1e-12)


@BUILD
def test_gradients(build: Build) -> None:
    x, y = jnp.asarray(X), jnp.asarray(Y)
    ours = pystage.value_and_grad(build(pystage.custom_vjp), (0, 1))(x, y)
    theirs = jax.value_and_grad(build(jax.custom_vjp), (0, 1))(x, y)
    same(ours, theirs)
    assert not np.allclose(ours[1][0], jax.grad(build(lambda f, **_: Plain(f)))(x, y))


class Plain:
    """A decorator without rules."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun

    def defvjp(self, *_: Any) -> None:
        """Forgets the rule."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*args, **kwargs)


@BUILD
def test_under_transformations_of_jax(build: Build) -> None:
    x, y = jnp.asarray(X), jnp.asarray(Y)
    ours, theirs = pystage.compile(build(pystage.custom_vjp)), build(jax.custom_vjp)
    same(jax.grad(ours, (0, 1))(x, y), jax.grad(theirs, (0, 1))(x, y))
    same(jax.jit(jax.grad(ours))(x, y), jax.grad(theirs)(x, y))
    xs, ys = jnp.stack([x, y, x * y]), jnp.stack([y, x, x])
    same(jax.vmap(jax.grad(ours))(xs, ys), jax.vmap(jax.grad(theirs))(xs, ys))

    def many(function: Any) -> Any:
        return jax.grad(lambda x, y: jnp.sum(jax.vmap(function, (0, None))(xs * x, y)), (0, 1))(x, y)

    same(many(ours), many(theirs))
    same(jax.grad(build(pystage.custom_vjp))(x, y), jax.grad(theirs)(x, y))


@BUILD
def test_of_second_order(build: Build) -> None:
    def slope(grad: Any, custom: Any) -> Any:
        function = build(custom)
        return grad(lambda x, y: jnp.sum(grad(function)(x, y) ** 2))

    x, y = jnp.asarray(X), jnp.asarray(Y)
    same(slope(pystage.grad, pystage.custom_vjp)(x, y), slope(jax.grad, jax.custom_vjp)(x, y))


def test_mapped_and_checkpointed_from_outside() -> None:
    xs, ys = jnp.stack([X, Y]), jnp.stack([Y, X])
    ours, theirs = summed(pystage.custom_vjp), summed(jax.custom_vjp)
    same(pystage.vmap(pystage.grad(ours))(xs, ys), jax.vmap(jax.grad(theirs))(xs, ys))
    same(
        pystage.grad(lambda xs: jnp.sum(pystage.vmap(ours, (0, None))(xs, Y)))(xs),
        jax.grad(lambda xs: jnp.sum(jax.vmap(theirs, (0, None))(xs, Y)))(xs),
    )
    same(
        pystage.grad(lambda x: pystage.checkpoint(ours)(x * 2.0, x))(xs[0]),
        jax.grad(lambda x: jax.checkpoint(theirs)(x * 2.0, x))(xs[0]),
    )
    value, pull = pystage.vjp(ours, xs[0], ys[0])
    wanted, other = jax.vjp(theirs, xs[0], ys[0])
    same((value, pull(2.0)), (wanted, other(2.0)))


double = pystage.custom_vjp(lambda x: x * 2.0)
double.defvjp(lambda x: (x * 2.0, None), lambda kept, ct: (ct * 3.0,))


def until(x: Any, end: Any) -> Any:
    while np.sum(x) < end:
        x = double(x) if x[0] > 1.0 else double(double(x))
    return np.sum(x)


def test_in_loops_of_unknown_length_and_branches() -> None:
    assert until(X + 2, 100.0) == pystage.compile(until)(X + 2, 100.0)
    np.testing.assert_allclose(pystage.grad(until)(X + 2, 100.0), np.full(3, 3.0**5))
    np.testing.assert_allclose(pystage.grad(until)(np.array([0.5, 3.0]), 50.0), np.full(2, 3.0**4))


@dataclass
class Layer:
    w: Any
    name: str


def test_arrays_numbers_and_objects() -> None:
    @pystage.custom_vjp
    def f(layer: Any, parts: Any, scale: Any) -> Any:
        return Layer(layer.w * scale, layer.name), [parts[0] + scale, 2.5]

    def fwd(layer: Any, parts: Any, scale: Any) -> Any:
        return f(layer, parts, scale), (layer, scale)

    def bwd(kept: Any, ct: Any) -> Any:
        layer, scale = kept
        made, (first, known) = ct
        return Layer(made.w * 10.0, layer.name), [first * 20.0], scale + known

    f.defvjp(fwd, bwd)

    def program(x: Any, parts: Any, scale: Any) -> Any:
        made, listed = f(Layer(x, "a"), parts, scale)
        return np.sum(made.w * Y) + listed[0] * listed[1]

    check(program, X, [1.5], 2.0)
    by_x, by_parts, by_scale = pystage.grad(program, (0, 1, 2))(X, [1.5], 2.0)
    np.testing.assert_allclose(by_x, Y * 10.0)
    assert by_parts == [50.0] and by_scale == 2.0


def test_views_are_arguments_like_others() -> None:
    f = pystage.custom_vjp(lambda x: x * 2.0)
    f.defvjp(lambda x: (x * 2.0, None), lambda kept, ct: (ct * 3.0,))

    def program(x: Any) -> Any:
        rows = x.reshape(2, 2)
        return np.sum(f(rows[1]) * rows[0]) + np.sum(rows)

    check(program, np.arange(4.0))
    np.testing.assert_allclose(pystage.grad(program)(np.arange(4.0)), [5, 7, 1, 4])


@pystage.compile
def with_its_own(x: Any, scale: Any) -> Any:
    @pystage.custom_vjp
    def f(y: Any) -> Any:
        return y * 2.0

    def bwd(kept: Any, ct: Any) -> Any:
        return (ct * scale,)

    f.defvjp(lambda y: (y * 2.0, None), bwd)
    return pystage.value_and_grad(lambda y: np.sum(f(y) ** 2))(x)


def test_made_in_staged_source() -> None:
    value, slope = with_its_own(X, 5.0)
    assert value == pytest.approx(float(np.sum(4 * X * X)))
    np.testing.assert_allclose(slope, 4 * X * 5.0)


def test_a_call_before_defvjp() -> None:
    bare = pystage.custom_vjp(lambda x: x * 2.0)

    for called in (bare, pystage.compile(lambda x: bare(x)), pystage.grad(bare)):
        with pytest.raises(
            AttributeError, match="No VJP defined for custom_vjp function <lambda> using defvjp"
        ):
            called(2.0)


def test_arithmetic_that_raises_in_a_rule_gives_nan() -> None:
    f = pystage.custom_vjp(lambda x: x * 2.0)
    f.defvjp(lambda x: (x * 2.0, x), lambda x, ct: (ct / x,))
    assert pystage.grad(f)(4.0) == 0.25
    assert np.isnan(pystage.grad(f)(0.0))


def ruled(
    fwd: Any = lambda x: (x * 2.0, x), bwd: Any = lambda x, ct: (ct,), fun: Any = lambda x: x * 2.0
) -> Any:
    f = pystage.custom_vjp(fun)
    f.defvjp(fwd, bwd)
    return f


def stored(x: Any) -> Any:
    x[0] = 1.0
    return x * 2.0


def raising(x: Any, ct: Any) -> Any:
    if x[0] > 0.0:
        raise ValueError("positive")
    return (ct,)


def sometimes(x: Any) -> Any:
    return (x * 2.0, None if x[0] > 0.0 else x * 3.0)


REFUSED = [
    (ruled(bwd=lambda x, ct: (ct, ct)), "PS704", "2 cotangents for 1 arguments"),
    (ruled(bwd=lambda x, ct: ct), "PS704", "no tuple of cotangents"),
    (ruled(bwd=lambda x, ct: (ct[:2],)), "PS704", r"shape \(2,\) for an argument of shape \(3,\)"),
    (ruled(bwd=lambda x, ct: ((ct, ct),)), "PS704", "no number or array"),
    (ruled(bwd=lambda x, ct: (ct * 1j,)), "PS704", "complex"),
    (ruled(fwd=lambda x: x * 2.0), "PS704", "no pair"),
    (ruled(fwd=lambda x: (x[:2], x)), "PS704", r"float64\[2\] where the function gives float64\[3\]"),
    (ruled(fwd=lambda x: ((x, x), x)), "PS704", "another structure"),
    (ruled(fun=lambda x: x), "PS707", "array that was there before"),
    (ruled(fun=lambda x: x.T), "PS707", "a view"),
    (ruled(fun=lambda x: (x * 2.0)[::-1]), "PS707", "a view"),
    (ruled(fun=stored), "PS707", "changes what was there before"),
    (ruled(bwd=raising), "PS707", "backward rule may raise ValueError"),
    (ruled(bwd=lambda x, ct: (print(x), (ct,))[1]), "PS707", "backward rule prints"),
    (ruled(fwd=lambda x: (x * 2.0, input("x"))), "PS401", "input"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "code", "text"), REFUSED)
def test_what_has_no_derivative(f: Any, code: str, text: str) -> None:
    def program(x: Any) -> Any:
        return np.sum(f(x))

    check(program, X)
    with pytest.raises(pystage.StagingError, match=code) as caught:
        pystage.grad(program)(X)
    assert caught.match(text)
    if code == "PS704":
        with pytest.raises(pystage.StagingError, match=code):
            jax.grad(pystage.compile(program))(jnp.asarray(X))


def test_forward_mode_is_refused() -> None:
    f = summed(pystage.custom_vjp)
    for derivative in (
        lambda: pystage.jvp(f, (X, Y), (X, Y)),
        lambda: pystage.jacobian(f)(X, Y),
        lambda: jax.jvp(
            pystage.compile(f), (jnp.asarray(X), jnp.asarray(Y)), (jnp.asarray(X), jnp.asarray(Y))
        ),
    ):
        with pytest.raises(pystage.StagingError, match="PS705"):
            derivative()
    same(pystage.hessian(double)(2.0), 0.0)


def test_what_it_closes_over_has_no_rule() -> None:
    def program(x: Any, scale: Any) -> Any:
        f = pystage.custom_vjp(lambda y: y * scale)
        f.defvjp(lambda y: (y * scale, None), lambda kept, ct: (ct * scale,))
        return np.sum(f(x))

    np.testing.assert_allclose(pystage.grad(program)(X, 2.0), np.full(3, 2.0))
    with pytest.raises(pystage.StagingError, match="PS706"):
        pystage.grad(program, 1)(X, 2.0)


def test_a_list_that_is_given_back() -> None:
    f = ruled(fun=lambda parts: parts)

    def program(x: Any) -> Any:
        parts = [x, 2.0]
        made = f(parts)
        return made is parts, made[1] * 3.0

    check(program, 2.0)
    with pytest.raises(pystage.StagingError, match="PS707"):
        pystage.grad(lambda x: program(x)[1] + f([x, x])[0])(2.0)


def test_a_result_that_is_none_on_some_paths() -> None:
    f = ruled(fun=sometimes)

    def program(x: Any) -> Any:
        found = f(x)[1]
        return np.float64(0.0) if found is None else np.sum(found)

    check(program, X)
    with pytest.raises(pystage.StagingError, match=r"PS70[47]"):
        pystage.grad(program)(X)


def test_rules_of_jax_are_kept() -> None:
    """What is decorated with `jax.custom_vjp` keeps its rule in staged source."""
    f = straight(jax.custom_vjp)

    def program(x: Any, y: Any) -> Any:
        return jnp.sum(f(x, y) * y)

    x, y = jnp.asarray(X), jnp.asarray(Y)
    check(program, x, y, tolerance=1e-12)
    same(pystage.grad(program, (0, 1))(x, y), jax.grad(program, (0, 1))(x, y))
    same(jax.grad(pystage.compile(program), (0, 1))(x, y), jax.grad(program, (0, 1))(x, y))


@jax.custom_jvp
def steep(x: Any, y: Any) -> Any:
    return jnp.sin(x) * y


@steep.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return steep(x, y), 5.0 * jnp.cos(x) * y * dx + 7.0 * dy * x


@jax.custom_jvp
def by_parts(x: Any) -> Any:
    return x * 2.0


by_parts.defjvps(lambda tangent, result, x: tangent * 3.0)


def test_rules_of_jax_for_tangents_are_pulled_back() -> None:
    def program(x: Any, y: Any) -> Any:
        for _ in range(2):
            x = steep(x, y)
        return jnp.sum(x * y)

    x, y = jnp.asarray(X), jnp.asarray(Y)
    check(program, x, y, tolerance=1e-12)
    same(pystage.grad(program, (0, 1))(x, y), jax.grad(program, (0, 1))(x, y))
    same(jax.grad(pystage.compile(program), (0, 1))(x, y), jax.grad(program, (0, 1))(x, y))
    again = pystage.grad(lambda x, y: jnp.sum(pystage.grad(program)(x, y) ** 2))(x, y)
    same(again, jax.grad(lambda x, y: jnp.sum(jax.grad(program)(x, y) ** 2))(x, y))
    check(lambda x: by_parts(x), x, tolerance=1e-12)
    with pytest.raises(pystage.StagingError, match=r"PS707.*defjvps"):
        pystage.grad(lambda x: jnp.sum(by_parts(x)))(x)
