"""`jax.numpy`, `jax.nn` and `jax.lax` in staged source, control-flow operators included."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Cases, check
from jax import lax

cases = Cases()

X = jnp.array([[0.5, -1.5, 2.0], [-0.25, 3.0, 0.0]], jnp.float32)
V = jnp.array([1.0, 2.0, 3.0], jnp.float32)
N = jnp.array([[3, -1, 4], [1, 5, -9]], jnp.int32)
IMAGE = jnp.arange(2 * 6 * 6 * 3, dtype=jnp.float32).reshape(2, 6, 6, 3) / 100
KERNEL = jnp.linspace(-1.0, 1.0, 3 * 3 * 3 * 2, dtype=jnp.float32).reshape(3, 3, 3, 2)


# ---------------------------------------------------------------- jax.numpy


@cases(X)
def elementwise(x):
    return (
        (jnp.abs(x), jnp.floor(x), jnp.sign(x), jnp.round(x), jnp.negative(x), jnp.square(x)),
        (jnp.exp(x), jnp.tanh(x), jnp.sin(x), jnp.log1p(jnp.abs(x)), jnp.sqrt(jnp.abs(x))),
        (jnp.maximum(x, 0), jnp.minimum(x, 1.0), jnp.where(x > 0, x, 0.0), jnp.clip(x, -1, 1)),
        (jnp.power(jnp.abs(x), 1.5), jnp.arctan2(x, 2.0), jnp.logaddexp(x, 0.0), jnp.isnan(x)),
    )


@cases(N)
def integers(n):
    return (
        n // 2,
        n % 3,
        jnp.bitwise_and(n, 3),
        n << 1,
        jnp.abs(n),
        jnp.sign(n),
        n.astype(jnp.float32),
        jnp.mod(n, 4),
    )


@cases.each((X,), (N,))
def reductions(x):
    return (
        (x.sum(), jnp.sum(x, axis=0), x.mean(axis=-1, keepdims=True), jnp.max(x), x.min(axis=1)),
        (
            jnp.prod(x),
            jnp.argmax(x, axis=1),
            jnp.argmin(x),
            x.argmax(),
            jnp.any(x > 0),
            jnp.all(x > 0, axis=0),
        ),
        (jnp.var(x), jnp.std(x, axis=0), jnp.cumsum(x, axis=1)),
    )


@cases(X)
def shapes(x):
    return (
        (
            x.T,
            x.reshape(3, 2),
            jnp.reshape(x, -1),
            jnp.transpose(x),
            x.ravel(),
            x[None],
            jnp.expand_dims(x, 1),
        ),
        (jnp.concatenate([x, x]), jnp.stack([x, x], axis=1), jnp.squeeze(x[:, None]), jnp.tile(x, 2)),
        (
            jnp.broadcast_to(x, (2, 2, 3)),
            jnp.flip(x, 0),
            jnp.roll(x, 1),
            jnp.pad(x, 1),
            jnp.repeat(x, 2, axis=1),
        ),
        (jnp.swapaxes(x, 0, 1), jnp.moveaxis(x, 0, 1), jnp.split(x, 3, axis=1)),
    )


@cases(3.0)
def creation(y):
    return (
        (jnp.zeros((2, 2)), jnp.ones(3), jnp.full(2, y), jnp.arange(4), jnp.linspace(0, 1, 3), jnp.eye(2)),
        (
            jnp.array([1.0, y]),
            jnp.asarray([1, 2]),
            jnp.zeros_like(V),
            jnp.zeros(2, jnp.int32),
            jnp.float32(y),
        ),
    )


@cases(X, V)
def products(x, v):
    return (
        x @ v,
        jnp.dot(x, v),
        jnp.matmul(x, x.T),
        jnp.einsum("ij,j->i", x, v),
        jnp.outer(v, v),
        jnp.tensordot(x, v, 1),
    )


@cases(X, V)
def linear_algebra(x, v):
    q, r = jnp.linalg.qr(x.T)
    return jnp.linalg.norm(v), jnp.abs(r), jnp.linalg.inv(x @ x.T + jnp.eye(2))


@cases(jnp.array([3.0, 1.0, 2.0]))
def sorting(x):
    return jnp.sort(x), jnp.argsort(x), jnp.median(x), jnp.searchsorted(jnp.sort(x), 2.5)


# ---------------------------------------------------------------- jax.nn


@cases(X)
def activations(x):
    return (
        (jax.nn.relu(x), jax.nn.sigmoid(x), jax.nn.softplus(x), jax.nn.gelu(x), jax.nn.silu(x)),
        (jax.nn.leaky_relu(x), jax.nn.elu(x), jax.nn.tanh(x), jax.nn.relu6(x)),
        (jax.nn.softmax(x), jax.nn.softmax(x, axis=0), jax.nn.log_softmax(x), jax.nn.logsumexp(x, axis=1)),
        jax.nn.one_hot(jnp.array([0, 2]), 3),
    )


# ---------------------------------------------------------------- jax.lax operations


@cases(X, V)
def lax_elementwise(x, v):
    return (
        (lax.add(x, x), lax.mul(x, x), lax.max(x, x * 2), lax.neg(x), lax.exp(x), lax.rsqrt(jnp.abs(x) + 1)),
        (lax.select(x > 0, x, -x), lax.clamp(-1.0, x, 1.0), lax.convert_element_type(x, jnp.int32)),
        (lax.integer_pow(v, 3), lax.pow(v, 0.5), lax.erf(x), lax.square(x), lax.stop_gradient(x)),
    )


@cases(X, V)
def lax_structure(x, v):
    return (
        (lax.reshape(x, (3, 2)), lax.transpose(x, (1, 0)), lax.rev(x, (1,)), lax.concatenate([v, v], 0)),
        (
            lax.slice(v, (1,), (3,)),
            lax.dynamic_slice(v, (1,), (2,)),
            lax.dynamic_update_slice(v, v[:1], (2,)),
        ),
        (lax.broadcast(v, (2,)), lax.broadcast_in_dim(v, (2, 3), (1,)), lax.pad(v, 0.0, [(1, 1, 0)])),
        (lax.iota(jnp.int32, 4), lax.expand_dims(v, (0,)), lax.squeeze(v[None], (0,)), lax.top_k(v, 2)),
        (lax.dynamic_slice_in_dim(v, 1, 2), lax.dynamic_index_in_dim(x, 1), lax.slice_in_dim(v, 0, 2)),
    )


@cases(X, V)
def lax_reductions_and_products(x, v):
    return (
        lax.reduce(x, 0.0, lax.add, (0,)),
        lax.dot_general(x, v, (((1,), (0,)), ((), ()))),
        lax.reduce(x, -jnp.inf, lax.max, (0, 1)),
        lax.cumsum(v),
        lax.argmax(v, 0, jnp.int32),
    )


@cases(IMAGE, KERNEL)
def convolutions(image, kernel):
    numbers = ("NHWC", "HWIO", "NHWC")
    return (
        lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=numbers),
        lax.conv_general_dilated(image, kernel, (2, 2), "VALID", dimension_numbers=numbers),
        lax.conv_general_dilated(image, kernel, (1, 1), [(0, 1), (2, 0)], (2, 1), (1, 2), numbers),
        lax.conv(image.transpose(0, 3, 1, 2), kernel.transpose(3, 2, 0, 1), (1, 1), "SAME"),
    )


@cases(IMAGE)
def pooling(image):
    window, strides = (1, 2, 2, 1), (1, 2, 2, 1)
    largest = lax.reduce_window(image, -jnp.inf, lax.max, window, strides, "VALID")
    total = lax.reduce_window(image, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")
    return largest, total / 9.0


# ---------------------------------------------------------------- jax.lax control flow


@cases.each((2.0,), (-2.0,))
def lax_cond(x):
    return lax.cond(x > 0, lambda y: y * 2, lambda y: y - 1, jnp.float32(x))


@cases.each((jnp.float32(2.0), V), (jnp.float32(-2.0), V))
def lax_cond_of_structure(c, v):
    k = v.sum()

    def positive(state):
        return {"v": state["v"] + k, "n": state["n"] + 1}

    return lax.cond(c > 0, positive, lambda state: state, {"v": v, "n": jnp.int32(0)})


@cases.each((0, V), (1, V), (2, V))
def lax_switch(i, v):
    return lax.switch(i, [lambda x: x, lambda x: x * 2, lambda x: -x], v)


@cases(jnp.float32(100.0))
def lax_while_loop(x):
    def body(state):
        value, steps = state
        return value / 2, steps + 1

    return lax.while_loop(lambda state: state[0] > 1.0, body, (x, jnp.int32(0)))


@cases.each((V, 5), (V, 0))
def lax_fori_loop(v, n):
    return lax.fori_loop(0, n, lambda i, x: x * 0.5 + i, v)


@cases(jnp.zeros(3))
def lax_fori_loop_of_known_length(v):
    return lax.fori_loop(2, 6, lambda i, x: x.at[i % 3].add(1.0), v)


@cases(X)
def lax_scan(x):
    def step(carry, row):
        carry = carry + row.sum()
        return carry, {"carry": carry, "row": row * 2}

    return lax.scan(step, jnp.float32(0.0), x)


@cases(V, X)
def lax_scan_of_structure(v, x):
    def step(carry, inputs):
        i, row = inputs
        h, count = carry
        return (jnp.tanh(h * 0.5 + row), count + i), h.sum()

    return lax.scan(step, (v, jnp.int32(0)), (jnp.arange(2), x))


@cases(V)
def lax_scan_without_inputs(v):
    carry, out = lax.scan(lambda c, _: (c * 2, c[0]), v, None, length=4)
    reverse, _ = lax.scan(lambda c, x: (c * 0.5 + x, None), jnp.float32(0.0), v, reverse=True)
    return carry, out, reverse


@cases(X)
def lax_map(x):
    return lax.map(lambda row: row * row.sum(), x)


@cases(jnp.float32(3.0))
def lax_loops_nested(x):
    def outer(i, total):
        return lax.fori_loop(0, i, lambda j, t: t + j * x, total)

    return lax.fori_loop(0, 4, outer, jnp.float32(0.0))


# ---------------------------------------------------------------- Python control flow over jax.Arrays


@cases.each((V,), (-V,))
def python_branch(v):
    if v.sum() > 0:
        return v * 2
    return v - 1


@cases(V)
def python_while(v):
    steps = 0
    while jnp.max(v) > 0.5:
        v = v / 2
        steps += 1
    return v, steps


@cases(X)
def python_for_over_rows(x):
    total = jnp.zeros(3)
    for row in x:
        total = total + row * row
    return total


@cases(V, 4)
def python_for_with_indexed_updates(v, n):
    for i in range(n):
        v = v.at[i % 3].add(i)
    return v


@cases.each((jnp.float32(0.5),), (jnp.float32(8.0),))
def python_while_on_a_scalar(x):
    while x > 1.0:
        x = x / 3
    return x


# ---------------------------------------------------------------- the long tail, lowered by JAX


@cases(jax.random.key(0))
def random_numbers(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a, (3,)), jax.random.uniform(b, (2,)), jax.random.randint(key, (2,), 0, 10), b


@cases(jax.random.split(jax.random.key(0), 3))
def keys_in_another_shape(keys):
    return (
        lax.stack([keys, keys[::-1]]),
        lax.unstack(lax.tile(keys[None], (2, 1))),
        lax.collapse(keys[None], 0),
    )


@cases(jax.random.PRNGKey(3))
def random_numbers_of_raw_keys(key):
    key, sub = jax.random.split(key)
    return jax.random.bernoulli(sub, 0.5, (4,)), key


@cases(V, X)
def unusual_functions(v, x):
    return (
        jnp.fft.fft(v),
        jnp.polyval(v, x),
        jnp.unwrap(v),
        jnp.trapezoid(v),
        jax.scipy.special.gammaln(v),
        jnp.cov(x),
    )


@cases(V)
def vmap_and_jit_of_jax_functions(v):
    return jax.vmap(jnp.sin)(v), jax.jit(jnp.cos)(v)


@cases({"w": X, "b": V})
def tree_map(params):
    return jax.tree.map(jnp.zeros_like, params), jax.tree.map(lambda p: p * 2, params)


# ---------------------------------------------------------------- the batch dimensions of vmap


@cases(jnp.arange(6.0).reshape(2, 3))
def nested_axes(x):
    rows = jax.vmap(lambda a: a[0] + a[1][0], in_axes=((0, (1,)),))((x, (x.T,)))
    return rows, jax.vmap(lambda a: a[0] + a[1][0], in_axes=[(0, [None])])((x, [x[0]]))


@cases.each(
    *[(jnp.ones((2, 2)), axes, 0) for axes in (True, (True,), (1.0,), ((0, True),))],
    (jnp.ones((2, 2)), 0, True),
    raises=TypeError,
)
def axes_that_are_no_integers(x, in_axes, out_axes):
    return jax.vmap(lambda a: a + 1, in_axes, out_axes)(x)


# ---------------------------------------------------------------- NumPy and JAX in one program


@cases(np.array([1.0, 2.0, 3.0]), V)
def numpy_and_jax(x, v):
    return x * 2, v * 2, x.sum(), v.sum(), x + v, v * np.float32(2), np.zeros(3) + v


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


@pytest.mark.parametrize("program", [jax.jit, jax.grad, jax.vmap], ids=["jit", "grad", "vmap"])
def test_jax_transformations_of_library_programs_are_values(program):
    def apply(x):
        return program(jnp.sin)(x)

    check(apply, V if program is not jax.grad else V[0])


@pytest.mark.parametrize("transform", [jax.grad, jax.value_and_grad, jax.hessian, jax.jacfwd])
def test_a_derivative_by_jax_is_compiled_itself(transform):
    def loss(x):
        return (x * x * x).sum()

    x = jnp.arange(3.0)
    wanted, found = transform(loss)(x), pystage.compile(transform(loss))(x)
    for a, b in zip(jax.tree.leaves(wanted), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def functions_of_each_number(v):
    by_place = (
        v.at[0].apply(lambda a: a * 2),
        v.at[1:].apply(lambda a: a - a.sum() + 1),
        v.at[:0].apply(jnp.sin),
    )
    by_mask = (
        v.at[v > 0].apply(lambda a: jnp.where(a > 1, a, -a)),
        v.at[jnp.array([0, 1])].apply(lambda a: 1.0),
    )
    return by_place, by_mask


def test_apply_calls_its_function_for_each_number():
    check(functions_of_each_number, V, zeros=True)
    check(lambda x: x.at[:1].apply(lambda a: a - a.sum()), jnp.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    "function", [lambda a: a > 0, lambda a: 1, lambda a: 1j, lambda a: jnp.ones(2)], ids=range(4)
)
@pytest.mark.parametrize("index", [0, slice(2)])
def test_apply_takes_no_other_type(function, index):
    with pytest.raises(ValueError, match="Cannot lower|shape"):
        V.at[index].apply(function)
    check(lambda v: v.at[index].apply(function), V, refused="PS651")


@pytest.mark.parametrize("function", [lambda r: r, lambda r: (r * 2, {"r": r}), jnp.asarray])
def test_vmap_leaves_ndarrays_that_it_hands_on(function):
    check(lambda x: jax.vmap(function)(x), np.array(V), refused="PS606")
    check(lambda x: jax.vmap(function)(x), V)


@pytest.mark.parametrize(
    "call",
    [
        lambda v: np.array([v[0], v[1]]),
        lambda v: np.array([a for a in v if a > 0]),
        lambda v: np.asarray([[a, a] for a in v if a > 0]),
        lambda v: np.sum([a for a in v]),
    ],
)
def test_lists_of_bfloat16_numbers_of_jax_are_no_arrays(call):
    v = jnp.array([1, 0, 2], jnp.bfloat16)
    with pytest.raises(TypeError, match="expected number"):
        call(v)
    check(call, v, refused="PS203")
