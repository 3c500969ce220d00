"""`jax.lax`'s control flow with staged functions: values, types, weak types, kinds and refusals as the plain run."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import check
from jax import lax

V = jnp.asarray([1.0, 2.0, 3.0], jnp.float32)


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


# ---------------------------------------------------------------- cond and switch


def cond_with_operands(flag, x):
    return lax.cond(flag, lambda a, b: a * b, lambda a, b: a + b, x, 2.0)


def cond_with_a_closure(flag, x):
    return lax.cond(flag, lambda: {"b": x + 1, "a": (x, None)}, lambda: {"a": (x * 2, None), "b": x})


def cond_with_the_keyword(flag, x):
    return lax.cond(flag, lambda a: a[0], lambda a: a[1], operand=(x, x + 1))


def cond_of_a_number(flag, x):
    return lax.cond(flag + 0.5, jnp.sin, jnp.cos, x)


def cond_weak_in_one_branch(flag, x):
    return lax.cond(flag, lambda: 1.0, lambda: jnp.float32(2)), lax.cond(
        flag, lambda: jnp.float32(2), lambda: 1.0
    )


def cond_of_numpy(flag, x):
    return lax.cond(flag, lambda: np.ones(2), lambda: np.zeros(2, np.float32))


def cond_known(flag, x):
    return lax.cond(True, lambda a: a, lambda a: a + 1, x)


@pytest.mark.parametrize("flag", [True, False, jnp.bool_(True), jnp.bool_(False), np.bool_(True)])
@pytest.mark.parametrize(
    "function",
    [
        cond_with_operands,
        cond_with_a_closure,
        cond_with_the_keyword,
        cond_weak_in_one_branch,
        cond_of_numpy,
        cond_known,
    ],
)
def test_cond(function, flag):
    check(function, flag, V)


@pytest.mark.parametrize("number", [0, 1, -0.5, jnp.float32(0.5), jnp.int32(-1)])
def test_cond_of_a_number(number):
    check(cond_of_a_number, number, V)


def cond_dtypes(flag, x):
    return lax.cond(flag, lambda: 1, lambda: 2.0)


def cond_shapes(flag, x):
    return lax.cond(flag, lambda: {"a": x}, lambda: {"a": x[:1]})


def cond_structures(flag, x):
    return lax.cond(flag, lambda: (x, x), lambda: [x, x])


def cond_of_an_array(flag, x):
    return lax.cond(x > 0, lambda: x, lambda: x)


def cond_of_strings(flag, x):
    return lax.cond(flag, lambda: "a", lambda: "b")


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (cond_dtypes, "PS654"),
        (cond_shapes, "PS654"),
        (cond_structures, "PS653"),
        (cond_of_an_array, "PS655"),
        (cond_of_strings, "PS204"),
    ],
)
def test_cond_refusals(function, code):
    with pytest.raises(TypeError):
        function(jnp.bool_(True), V)
    check(function, jnp.bool_(True), V, refused=code)


def switch_over_three(i, x):
    return lax.switch(i, [lambda a: a, lambda a: a * 2.5, lambda a: -a], x)


def switch_weak(i, x):
    return lax.switch(i, [lambda a: a, lambda a: jnp.float32(a * 2)], 1.5)


def switch_with_one_branch(i, x):
    return lax.switch(i, [lambda a: (a, 1)], 1.5)


@pytest.mark.parametrize("index", [0, 1, 2, 5, -1, jnp.int32(1), np.int64(2), jnp.uint8(200)], ids=repr)
@pytest.mark.parametrize("function", [switch_over_three, switch_weak, switch_with_one_branch])
def test_switch(function, index):
    check(function, index, V)


@pytest.mark.parametrize("index", [1.5, True])
def test_switch_refuses_other_indices(index):
    with pytest.raises(TypeError):
        switch_over_three(index, V)
    check(switch_over_three, index, V, refused="PS655")


# ---------------------------------------------------------------- while_loop and fori_loop


def while_counts(n):
    return lax.while_loop(lambda c: c < n, lambda c: c + 1, 0)


def while_becomes_float(n):
    return lax.while_loop(lambda c: c < n, lambda c: c + 1.5, 0)


def while_of_a_dict(n):
    start = {"i": 0, "x": np.ones(2), "key": (1.5, None)}
    return lax.while_loop(lambda c: c["i"] < n, lambda c: {**c, "i": c["i"] + 1, "x": c["x"] * 2}, start)


def while_hands_on(n):
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1], c[2]), (0, 2.5, "x" and 3))


def while_hands_on_what_it_tests(n):
    return lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1]), (0, n))


def while_strengthens(n):
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] + jnp.float32(1)), (0, 2))


def newton(n):
    def close(x):
        return jnp.abs(x * x - n) > 1e-3

    return lax.while_loop(close, lambda x: 0.5 * (x + n / x), n * 1.0)


@pytest.mark.parametrize("n", [4, 4.5, np.float64(6), jnp.float32(3)], ids=repr)
@pytest.mark.parametrize(
    "function",
    [
        while_counts,
        while_becomes_float,
        while_of_a_dict,
        while_hands_on,
        while_hands_on_what_it_tests,
        while_strengthens,
        newton,
    ],
)
def test_while_loop(function, n, x64):
    check(function, n)


def while_structure(n):
    return lax.while_loop(lambda c: c[0] < n, lambda c: [c[0] + 1, c[1]], (0, 1))


def while_shape(n):
    return lax.while_loop(lambda c: jnp.sum(c) < n, lambda c: jnp.ones(2), jnp.float32(0))


def while_dtype(n):
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.int8(1)), (0, True))


def while_condition(n):
    return lax.while_loop(lambda c: 1, lambda c: c, 0)


@pytest.mark.parametrize(
    ("function", "code"),
    [(while_structure, "PS653"), (while_shape, "PS654"), (while_dtype, "PS654"), (while_condition, "PS655")],
)
def test_while_loop_refusals(function, code):
    with pytest.raises(TypeError):
        function(3)
    check(function, 3, refused=code)


def fori_sums(n, x):
    return lax.fori_loop(0, n, lambda i, c: c + i * x, jnp.zeros(3))


def fori_weak(n, x):
    return lax.fori_loop(0, n, lambda i, c: c + i, 0), lax.fori_loop(1, n, lambda i, c: i * 1.5, 0.0)


def fori_index(n, x):
    return lax.fori_loop(n, 5, lambda i, c: i, 0)


def fori_stores(n, x):
    return lax.fori_loop(0, n, lambda i, c: c.at[i % 3].set(c[i % 3] * 2 + i), x)


def fori_hands_on(n, x):
    return lax.fori_loop(0, n, lambda i, c: (c[0], c[1] + 1), (2.5, 1))


def fori_nested(n, x):
    return lax.fori_loop(0, n, lambda i, c: lax.fori_loop(0, i, lambda j, d: d + j * x, c), jnp.zeros(3))


@pytest.mark.parametrize("n", [0, 1, 4, np.int64(3), jnp.int32(2)], ids=repr)
@pytest.mark.parametrize(
    "function", [fori_sums, fori_weak, fori_index, fori_stores, fori_hands_on, fori_nested]
)
def test_fori_loop(function, n):
    check(function, n, V)


def fori_known(x):
    return lax.fori_loop(0, 10, lambda i, c: c + i * x, x, unroll=2), lax.fori_loop(
        5, 2, lambda i, c: c + 1, 0
    )


def test_fori_loop_of_known_length():
    check(fori_known, V)


@pytest.mark.parametrize("n", [2.5, jnp.int16(3)])
def test_fori_loop_refuses_other_bounds(n):
    def count(n):
        return lax.fori_loop(np.int32(0), n, lambda i, c: c + 1, 0)

    with pytest.raises(TypeError):
        count(n)
    check(count, n, refused="PS655")


# ---------------------------------------------------------------- scan and map


class State(NamedTuple):
    total: object
    count: object


def scan_sums(xs):
    return lax.scan(lambda c, x: (c + x, c * 2), 0.0, xs)


def scan_structures(xs):
    def step(state, row):
        return State(state.total + row["x"], state.count + 1), (row["y"], {"n": state.count, "one": 1})

    return lax.scan(step, State(jnp.zeros(()), 0), {"x": xs, "y": jnp.stack([xs, xs], 1)})


def scan_backwards(xs):
    return lax.scan(lambda c, x: (c + x, c), jnp.float32(0), xs, reverse=True)


def scan_without_xs(xs):
    return lax.scan(lambda c, _: (c * 1.5, c), 1, None, length=3, unroll=3)


def scan_without_ys(xs):
    return lax.scan(lambda c, x: (c + x, None), jnp.float32(0), xs)


def scan_of_nothing(xs):
    return lax.scan(lambda c, x: (c + x, np.ones(2)), 1.0, xs[:0])


def scan_hands_on(xs):
    return lax.scan(lambda c, x: (c, x), (1.5, "c" and 2), xs)


def scan_returns_a_list(xs):
    return lax.scan(lambda c, x: [c + x, x], jnp.float32(0), xs)


def scan_nested(xs):
    def row(c, x):
        return lax.scan(lambda d, y: (d + x * y, d), c, xs)

    return lax.scan(row, xs[0] * 0.0, xs)


def mapped(xs):
    return lax.map(lambda x: x + 1, xs), lax.map(lambda x: (x[0] * 2, 1), (xs, jnp.stack([xs, xs], 1)))


@pytest.mark.parametrize("kind", ["float", "int", "ndarray"])
@pytest.mark.parametrize(
    "function",
    [
        scan_sums,
        scan_structures,
        scan_without_xs,
        scan_of_nothing,
        scan_hands_on,
        scan_nested,
        mapped,
    ],
)
def test_scan(function, kind, x64):
    xs = {"float": jnp.arange(4.0), "int": jnp.arange(4), "ndarray": np.arange(4.0)}[kind]
    if kind == "int" and function is scan_nested:
        pytest.skip("a carry that changes its type, which is tested as a refusal")
    check(function, xs)


@pytest.mark.parametrize("function", [scan_backwards, scan_without_ys, scan_returns_a_list])
def test_scan_of_float32(function):
    check(function, V)


def test_scan_carries_keys():
    def draws(key, n):
        def step(key, _):
            key, own = jax.random.split(key)
            return key, (jax.random.normal(own), own)

        return lax.scan(step, key, None, length=3)

    check(draws, jax.random.key(3), 2)
    check(draws, jax.random.PRNGKey(3), 2)


def scan_lengths(xs):
    return lax.scan(lambda c, x: (c, x), 0, (xs, xs[:1]))


def scan_no_length(xs):
    return lax.scan(lambda c, x: (c, x), 0, None)


def scan_wrong_length(xs):
    return lax.scan(lambda c, x: (c, x), 0, xs, length=2)


def scan_no_pair(xs):
    return lax.scan(lambda c, x: c, jnp.float32(0), xs)


def scan_changes_type(xs):
    return lax.scan(lambda c, x: (c * 1.5, x), jnp.int32(0), xs)


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (scan_lengths, "PS655"),
        (scan_no_length, "PS655"),
        (scan_wrong_length, "PS655"),
        (scan_no_pair, "PS655"),
        (scan_changes_type, "PS654"),
    ],
)
def test_scan_refusals(function, code):
    with pytest.raises((TypeError, ValueError)):
        function(V)
    check(function, V, refused=code)


def test_the_body_is_a_function_of_jax():
    def angles(x):
        return lax.map(jnp.sin, x), lax.fori_loop(0, 3, lax.mul, 1), lax.cond(x[0] > 0, jnp.sin, jnp.cos, x)

    check(angles, V)


def test_reductions_with_staged_functions():
    def reduced(x):
        return (
            lax.reduce(x, 0.0, lambda a, b: a + b, (0,)),
            lax.reduce(x, -jnp.inf, lambda a, b: jnp.where(a > b, a, b), (0,)),
            lax.reduce_window(x, -jnp.inf, lambda a, b: lax.max(a, b), (2,), (1,), "SAME"),
        )

    check(reduced, V)


def test_tree_functions_with_staged_functions():
    def updated(x, factor):
        params = {"w": x, "b": [jnp.zeros(3), None]}
        scaled = jax.tree.map(lambda p, q: p - factor * q, params, params)
        named = jax.tree_util.tree_map_with_path(lambda path, p: p * len(path), params)
        none_too = jax.tree.leaves(params, is_leaf=lambda p: p is None)
        return scaled, named, len(none_too), jax.tree.reduce(lambda a, b: a + b.sum(), params, 0.0)

    check(updated, V, 0.5)


@jax.tree_util.register_dataclass
@dataclass
class Counted:
    x: object
    n: object

    def next(self):
        return Counted(self.x * 2, self.n + 1)


def test_a_registered_dataclass_is_carried():
    def counted(x):
        return lax.while_loop(lambda c: c.n < 4, lambda c: c.next(), Counted(x, 0))

    check(counted, V)


@jax.jit
def decorated(x, y):
    return x + y, y


@functools.partial(jax.jit, static_argnames="n")
def decorated_with_a_static_argument(x, n):
    return x * (n**70 // 3**68) if n > 2 else x


def test_functions_decorated_with_jit():
    def both(x):
        return (
            decorated(x, 2.0),
            decorated_with_a_static_argument(x, n=3),
            decorated_with_a_static_argument(x, n=1),
        )

    check(both, V)


def test_jit_in_staged_source():
    def inner(x, y):
        return x + y, y

    def outer(x):
        fast = jax.jit(inner)
        return (
            fast(x, 2.0),
            jax.checkpoint(lambda x, y: x * y)(x, 2.0),
            jax.jit(lambda n, x: x * n, static_argnums=0)(3, x),
        )

    check(outer, V)
