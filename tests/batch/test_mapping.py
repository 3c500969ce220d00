"""`pystage.vmap`: the batched function against a Python loop over the elements of the batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 4))
W = RNG.standard_normal(4)


def newton(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 60:
            break
    return steps


def guarded(x):
    """A loop that would not end for elements that do not take the branch."""
    y = x
    if x > 0:
        while y < 100:
            y = y * 2
    return y


def branches(x):
    if x[0] > 0:
        return np.sqrt(x[0]) * x
    if x[1] > 0:
        return x - 1
    return x * 0


def sorted_by_hand(x):
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x, np.argmax(x), np.cumsum(x)[-1]


def early(x):
    for v in x:
        if v > 0.5:
            return v
    return -1.0


def inner(x):
    def step(y):
        return y * 2 if y > 0 else y - 1

    return step(step(x[0])) + step(x[1])


def structure(x):
    return {"sum": x.sum(), "pair": [x[0], x[1:]], "constant": 1.5, "nothing": None}


def library(x):
    m = np.outer(x, x) + np.eye(4)
    return (
        np.linalg.solve(m, x),
        np.sort(x)[::-1],
        np.fft.fft(x),
        x[np.argsort(x)],
        np.where(x > 0, x, 0).max(),
    )


@pytest.mark.parametrize(
    ("function", "lanes"),
    [
        (newton, np.array([1.0, 2.0, 9.0, 100.0])),
        (collatz, np.arange(1, 40)),
        (guarded, np.array([-1.0, 3.0, 0.0, 60.0])),
        (branches, X),
        (sorted_by_hand, X),
        (early, X),
        (inner, X),
        (structure, X),
        (library, X),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_every_element_is_the_plain_call(function: Any, lanes: Any) -> None:
    found = pystage.vmap(function)(lanes)
    each = [function(lane) for lane in lanes]
    same(found, each)


def same(found: Any, each: list[Any]) -> None:
    if isinstance(each[0], dict):
        assert found.keys() == each[0].keys()
        for key in found:
            same(found[key], [e[key] for e in each])
    elif isinstance(each[0], tuple | list):
        assert type(found) is type(each[0])
        for i, part in enumerate(found):
            same(part, [e[i] for e in each])
    elif each[0] is None:
        assert found is None
    else:
        wanted = np.stack(each)
        assert isinstance(found, np.ndarray) and found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_axes_in_and_out() -> None:
    found = pystage.vmap(lambda a, b: a @ b, (None, 1), 1)(X, X.T)
    np.testing.assert_allclose(found, X @ X.T)
    found = pystage.vmap(lambda a, b, c: (a + b + c, b), (0, -1, None), (1, 0))(X, X.T, 1.0)
    np.testing.assert_allclose(found[0], (2 * X + 1).T)
    np.testing.assert_allclose(found[1], X)
    found = pystage.vmap(lambda d, w: d["x"] @ w + d["b"], ({"x": 0, "b": None}, None))({"x": X, "b": 2.0}, W)
    np.testing.assert_allclose(found, X @ W + 2)
    np.testing.assert_allclose(pystage.vmap(lambda x, w: x * w)(X, w=X), X * X)


@dataclass
class Model:
    w: np.ndarray
    b: float


def test_objects_and_nesting() -> None:
    model = Model(RNG.standard_normal((3, 4)), 0.5)

    def predict(model, x):
        return np.tanh(model.w @ x + model.b)

    found = pystage.vmap(predict, (None, 0))(model, X)
    np.testing.assert_allclose(found, np.stack([predict(model, x) for x in X]))
    gradients = pystage.vmap(pystage.grad(lambda m, x: predict(m, x).sum()), (None, 0))(model, X)
    assert gradients.w.shape == (5, 3, 4) and gradients.b.shape == (5,)
    table = pystage.vmap(lambda x: pystage.vmap(lambda y: x @ y)(X))(X)
    np.testing.assert_allclose(table, X @ X.T)


def test_inside_of_staged_source() -> None:
    @pystage.compile
    def program(xs, w):
        return pystage.vmap(lambda x: newton(x @ w + 20.0))(xs).sum()

    np.testing.assert_allclose(program(X, W), sum(newton(x @ W + 20.0) for x in X))
    slope = pystage.grad(program)(X, W)
    np.testing.assert_allclose(slope, [W / (2 * newton(x @ W + 20.0)) for x in X], rtol=1e-6)


def test_the_first_lane_that_raises() -> None:
    def positive(x):
        if x < 0:
            raise ValueError(f"{x} is negative")
        return x

    assert pystage.vmap(positive)(np.array([1.0, 2.0])).tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"^-2\.0 is negative$"):
        pystage.vmap(positive)(np.array([1.0, -2.0, -3.0]))
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 4"):
        pystage.vmap(lambda i: W[i])(np.array([1, 7, 9]))


def test_keys_and_jax_arrays() -> None:
    keys = jax.random.split(jax.random.key(0), 3)

    def draw(key):
        return jax.random.normal(key, (2,))

    found = pystage.vmap(draw)(keys)
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(found, jax.vmap(draw)(keys))
    found = pystage.vmap(lambda x: (jnp.sin(x), 2.0))(jnp.arange(3.0))
    assert found[1].dtype == jnp.float32 and found[1].shape == (3,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pystage.vmap(newton)(1.0), "rank should be at least 1, but is only 0"),
        (lambda: pystage.vmap(newton, 1)(W), "rank should be at least 2, but is only 1"),
        (lambda: pystage.vmap(lambda a, b: a)(X, W), "inconsistent sizes"),
        (lambda: pystage.vmap(lambda a, b: a, (0,))(X, X), "got 1 of them for 2 arguments"),
        (lambda: pystage.vmap(newton, None)(W), "at least one non-None value"),
        (lambda: pystage.vmap(newton, 0, 2)(W), "out_axes is 2 for a result with 1 axes"),
    ],
)
def test_axes_that_do_not_fit(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_jax_maps_the_batched_program() -> None:
    compiled = pystage.compile(newton)
    xs = jnp.array([2.25, 4.0, 9.0])
    np.testing.assert_allclose(jax.vmap(compiled)(xs), [1.5, 2, 3], rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(compiled))(xs), [1 / 3, 1 / 4, 1 / 6], rtol=1e-5)
    np.testing.assert_allclose(jax.jacrev(jax.vmap(compiled))(xs), np.diag([1 / 3, 1 / 4, 1 / 6]), rtol=1e-5)
    np.testing.assert_allclose(jax.jacfwd(jax.vmap(compiled))(xs), np.diag([1 / 3, 1 / 4, 1 / 6]), rtol=1e-5)
    text = jax.jit(jax.vmap(compiled)).lower(xs).as_text()
    assert text.count("stablehlo.while") == 1
    product = pystage.compile(lambda a, b: a @ b)
    assert jax.vmap(product, (None, 0), 1)(jnp.ones(3), jnp.ones((4, 3, 2))).shape == (2, 4)


MODEL = Model(RNG.standard_normal((3, 4)), 0.5)
MODELS = Model(RNG.standard_normal((5, 4)), 2.0)


def test_an_object_of_the_world_has_all_its_attributes() -> None:
    @pystage.compile
    def program(x):
        gradient = pystage.grad(lambda m: ((m.w @ x) ** 2).sum() * m.b)(MODEL)
        return gradient, pystage.vmap(lambda m: m.w @ x + m.b, ({"w": 0, "b": None},))(MODELS)

    gradient, sums = program(X[0])
    np.testing.assert_allclose(gradient.w, MODEL.b * 2 * np.outer(MODEL.w @ X[0], X[0]))
    assert gradient.b == pytest.approx(((MODEL.w @ X[0]) ** 2).sum())
    np.testing.assert_allclose(sums, MODELS.w @ X[0] + 2.0)


def test_one_object_in_several_places() -> None:
    @pystage.compile
    def twice(square):
        held = [square]
        return pystage.vmap(lambda a, b: a[0] - b[0], (0, 1))(held, held)

    square = RNG.standard_normal((3, 3))
    np.testing.assert_allclose(twice(square), square - square.T)

    def shared(row):
        held = [row * 2]
        return held, held

    first, second = pystage.vmap(shared, 0, 1)(X)
    assert first is second
    np.testing.assert_allclose(first[0], (X * 2).T)


def test_messages_are_those_of_one_lane() -> None:
    def always(x):
        raise ValueError(f"always {x}")

    def by_flag(x, flag):
        if flag > 0:
            raise ValueError(f"shared {x}")
        return x

    with pytest.raises(ValueError, match=r"^always 3\.0$"):
        pystage.vmap(always)(np.array([3.0, 4.0]))
    with pytest.raises(ValueError, match=r"^shared 3\.0$"):
        pystage.vmap(by_flag, (0, None))(np.array([3.0, 4.0]), 1.0)


def doubled_until(x):
    while x < 100:
        x = x * 2
    return x


def test_a_callee_in_an_arm_ends_for_elements_that_do_not_take_it() -> None:
    def lane(x):
        if x > 0:
            return doubled_until(x)
        return x

    lanes = np.array([-1.0, 3.0, 0.0])
    assert pystage.vmap(lane)(lanes).tolist() == [lane(x) for x in lanes]


def test_several_arms() -> None:
    def lane(i, x):
        return jax.lax.switch(i, [lambda x: x + 1, lambda x: x * 2, lambda x: -x], x)

    index, xs = jnp.array([0, 1, 2, 7]), jnp.arange(4.0)
    np.testing.assert_allclose(pystage.vmap(lane)(index, xs), jax.vmap(lane)(index, xs))


def test_an_empty_batch() -> None:
    def checked(x):
        if x.sum() < 0:
            raise ValueError("negative")
        return x[int(x[0])] * 2

    def always(x):
        raise ValueError("always")

    mapped = pystage.vmap(checked)(np.zeros((0, 3)))
    assert mapped.shape == (0,) and mapped.dtype == np.float64
    with pytest.raises(pystage.StagingError, match="PS606"):
        pystage.vmap(always)(np.zeros((0, 3)))
