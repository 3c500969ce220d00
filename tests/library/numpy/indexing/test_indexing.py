"""Indexing: loads, stores, masks and `x.at`, against NumPy and JAX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, PlainContext, Raised, check, refused
from pystage.compiler.analysis.ranges import Interval
from pystage.compiler.hlo.types import INT64
from pystage.compiler.library.context import Context
from pystage.compiler.library.jax.at import At as AtObject
from pystage.compiler.library.jax.at import AtIndex, at_attribute
from pystage.compiler.library.numpy.indexing.bounded import length
from pystage.compiler.library.numpy.subscripts.subscripts import array_getitem, array_setitem
from pystage.compiler.library.python import operators
from pystage.compiler.ops import Add, DynamicSlice, DynamicUpdateSlice, Gather, Multiply, Reshape, Scatter
from pystage.compiler.values.boundary import Form
from pystage.compiler.values.bounded import Bounded
from pystage.compiler.values.lattice import Abstract, Array, Const, Method, Ref, SliceObject, Tuple
from pystage.compiler.values.views import Permuted

A = np.arange(60.0).reshape(3, 4, 5)
M = np.arange(12, dtype=np.int32).reshape(3, 4)


def known(*parts: Any) -> Known:
    """An index whose integers are known."""
    return Known(parts[0] if len(parts) == 1 else parts)


def get(ctx: Context, x: Abstract, index: Abstract) -> Abstract:
    """`x[index]`."""
    return array_getitem(ctx, x, index)


def put(ctx: Context, x: Abstract, index: Abstract, value: Abstract) -> Abstract:
    """`x[index] = value`."""
    array_setitem(ctx, x, index, value)
    return Const(None)


def plain_put(x: Any, index: Any, value: Any) -> None:
    """`x[index] = value`."""
    x[index] = value


BASIC = [
    0,
    -1,
    np.int64(2),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(2, 0, -1),
    slice(-2, 100),
    slice(2, 1),
    slice(None, None, 2),
    None,
    Ellipsis,
    (),
    (0, 1),
    (0, 1, 2),
    (-1, -2, -3),
    (slice(None), 1),
    (slice(1, 3), slice(None, None, -2), slice(4, None, -3)),
    (0, Ellipsis),
    (Ellipsis, 0),
    (Ellipsis, 0, 1, 2),
    (0, 1, 2, Ellipsis),
    (None, 0, None, slice(None), 2, None),
    (slice(None, None, 2), Ellipsis, None, slice(1, 2)),
    (slice(5, 5), 0),
    (Ellipsis, slice(None, None, -1)),
]

FANCY: list[Any] = [
    np.array([0, 2, 1]),
    np.array([-1, 0]),
    np.array([[0, 1], [2, -3]]),
    (np.array([0, 1]), np.array([1, -2])),
    (np.array([0, 1]), slice(None), np.array([1, -2])),
    (slice(None), np.array([0, 3]), np.array([1, -2])),
    (slice(None), np.array([[0], [3]]), np.array([1, -2])),
    (Ellipsis, np.array([4, 0, 0])),
    (0, slice(None), np.array([1, 2])),
    (slice(None), 1, np.array([1, 2])),
    (np.array([1, 2]), None, np.array([1, 2])),
    (np.array([1, 2], np.int32), np.array([1, 2], np.uint8)),
    (slice(None, None, -1), np.array([2, 0]), slice(1, 4)),
    (np.array([0, 1]), Ellipsis, np.array([1, -2]), np.array([0, 0])),
    np.array(1),
    (np.array(1), 2),
    (np.array(1), 2, 3),
    np.zeros((0,), np.int64),
    np.zeros((2, 0), np.int64),
    (np.array([0, 2]), 1, 1),
    (1, np.array([0, 2]), 1),
]

KNOWN_FANCY: list[Any] = [
    [0, 2],
    [[0, 1], [1, 0]],
    ([0, 1], [2, 3]),
    [True, False, True],
    ([True, False, True], 0),
    (slice(None), [True, False, True, True]),
    ([True, False, True], [0, 1]),
    [],
]


@pytest.mark.parametrize("index", BASIC, ids=str)
def test_basic_loads_of_ndarrays(index: Any) -> None:
    check(get, lambda x, i: x[i], A, Known(index))


@pytest.mark.parametrize("index", BASIC, ids=str)
def test_basic_loads_of_jax_arrays(index: Any) -> None:
    check(get, lambda x, i: x[i], jnp.asarray(A, jnp.float32), Known(index))


@pytest.mark.parametrize("index", BASIC, ids=str)
def test_basic_stores(index: Any) -> None:
    value = np.random.default_rng(0).standard_normal(np.shape(A[index]))
    check(put, plain_put, A, Known(index), value[()])
    check(put, plain_put, A, Known(index), 7)
    check(put, plain_put, M.astype(float).reshape(1, 3, 4) * 2, Known((0, 1, 2)), 0.5)


INTEGERS: list[Any] = [0, -1, (0, 1), (0, 1, 2), (-1, 3, -5), (1, Ellipsis), (1, Ellipsis, -1)]


@pytest.mark.parametrize("index", INTEGERS, ids=str)
@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.uint16])
def test_staged_integers(index: Any, kind: type) -> None:
    parts = index if isinstance(index, tuple) else (index,)
    if kind is np.uint16:
        parts = tuple([p if p is Ellipsis else abs(p) % 5 for p in parts])
    staged = tuple([p if p is Ellipsis else kind(p) for p in parts])
    check(get, lambda x, i: x[i], A, staged)
    check(get, lambda x, i: x[i], jnp.asarray(A, jnp.float32), staged)
    check(put, plain_put, A, staged, 3.5)


@pytest.mark.parametrize("index", FANCY, ids=lambda i: str(i).replace("\n", ""))
def test_fancy_loads(index: Any) -> None:
    check(get, lambda x, i: x[i], A, index)
    check(get, lambda x, i: x[i], jnp.asarray(A, jnp.float32), index)


@pytest.mark.parametrize("index", FANCY, ids=lambda i: str(i).replace("\n", ""))
def test_fancy_stores(index: Any) -> None:
    value = np.random.default_rng(0).standard_normal(np.shape(A[index]))
    check(put, plain_put, A, index, value[()])
    check(put, plain_put, A, index, 7)


def lists(value: Any) -> Any:
    """Numbers as known ones, in the same lists and tuples."""
    if isinstance(value, list | tuple):
        return type(value)([lists(v) for v in value])
    return Known(value)


@pytest.mark.parametrize("index", KNOWN_FANCY, ids=str)
def test_known_lists_and_masks(index: Any) -> None:
    check(lambda ctx, x: get(ctx, x, ctx.lift(lists(index))), lambda x: x[index], A)
    value = np.random.default_rng(0).standard_normal(np.shape(A[index]))
    check(
        lambda ctx, x, v: put(ctx, x, ctx.lift(lists(index)), v),
        lambda x, v: plain_put(x, index, v),
        A,
        value,
    )


@pytest.mark.parametrize("index", [[0, 2], ([0, 1], [2, 3])], ids=str)
def test_staged_lists(index: Any) -> None:
    check(get, lambda x, i: x[i], A, index)


def test_the_last_of_repeated_stores_stands() -> None:
    check(put, plain_put, np.zeros(4), np.array([1, 1, 3, 1]), np.arange(4.0))


@pytest.mark.parametrize(
    "index",
    [
        3,
        -4,
        (0, 4),
        (0, 0, 0, 0),
        (Ellipsis, Ellipsis),
        1.0,
        "a",
        (0, 1.5),
        slice(None, None, 0),
        slice(0.5, 2),
    ],
    ids=str,
)
def test_errors_of_known_indices(index: Any) -> None:
    check(get, lambda x, i: x[i], A, Known(index))
    check(put, plain_put, A, Known(index), 1.0)


@pytest.mark.parametrize("index", [[0, 5], [True, False], ([0, 1], [0, 1, 2]), [1.0, 2.0]], ids=str)
def test_errors_of_known_lists(index: Any) -> None:
    check(lambda ctx, x: get(ctx, x, ctx.lift(lists(index))), lambda x: x[index], A)


@pytest.mark.parametrize("index", [10, -10, (0, 9), np.array([0, 7, -9])], ids=str)
def test_jax_clamps_loads_outside(index: Any) -> None:
    staged = index if isinstance(index, np.ndarray) else Known(index)
    check(get, lambda x, i: x[i], jnp.arange(12).reshape(3, 4), staged)
    check(get, lambda x, i: x[i], jnp.arange(12).reshape(3, 4), index)


@pytest.mark.parametrize("index", [[0, 1], 1.0, (0, 0, 0), "a"], ids=str)
def test_jax_errors(index: Any) -> None:
    staged = [Known(0), Known(1)] if isinstance(index, list) else Known(index)
    check(get, lambda x, _: x[index], jnp.arange(12).reshape(3, 4), staged)


def test_a_store_into_a_jax_array_raises() -> None:
    check(put, plain_put, jnp.arange(3), 0, 1)


def test_a_store_into_read_only_memory_raises() -> None:
    frozen = np.arange(3.0)
    frozen.flags.writeable = False

    def store(x: Any) -> None:
        x.flags.writeable = False  # `check` copies its arguments
        x[0] = 1.0

    check(lambda ctx, x: put(ctx, x, Const(0), Const(1.0)), store, frozen)


# ---------------------------------------------------------------- values that are stored


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "float16", "float32", "float64", "complex64"]
)
@pytest.mark.parametrize(
    "value", [1, True, 2.75, -1, np.float32(2.5), np.int64(70), np.bool_(True)], ids=repr
)
def test_stores_cast(dtype: str, value: Any) -> None:
    if dtype == "uint8" and value == -1:
        pytest.skip("a negative Python number that is not known: NumPy raises, see the next test")
    check(put, plain_put, np.zeros((2, 3), dtype), Known((0, 1)), value)
    check(put, plain_put, np.zeros((2, 3), dtype), Known(1), value)
    check(put, plain_put, np.zeros((2, 3), dtype), Known(1), np.array([value] * 3))


@pytest.mark.parametrize("value", [-1, 300, np.nan, 1j, 2**70], ids=repr)
def test_known_values_that_do_not_fit(value: Any) -> None:
    check(put, plain_put, np.zeros((2, 3), np.uint8), Known((0, 1)), Known(value))


def test_values_broadcast() -> None:
    for shape in [(), (1,), (5,), (4, 1), (1, 1, 5), (1, 4, 5)]:
        check(put, plain_put, A, Known(0), np.ones(shape))
        check(put, plain_put, A, np.array([0, 2]), np.ones(shape))
    for shape in [(4,), (2, 4, 5), (3, 5)]:
        check(put, plain_put, A, Known(0), np.ones(shape))
    check(put, plain_put, A, np.array([0, 2]), np.ones((3, 4, 5)))
    check(put, plain_put, A, Known((0, 0, 0)), np.ones(2))


def test_lists_are_stored() -> None:
    check(put, plain_put, M, Known(0), [1, 2.5, 3, 4])


def test_stores_through_views() -> None:
    def store(x: Any, i: int) -> None:
        y = x[1:]
        z = y[:, ::2].T[::-1]
        z[0, i] = 100.0
        z[1] = 5
        y[0][1] = -1

    def staged(ctx: Context, x: Abstract, i: Abstract) -> Abstract:
        whole = SliceObject(Const(None), Const(None), Const(None))
        y = get(ctx, x, SliceObject(Const(1), Const(None), Const(None)))
        z = get(ctx, y, Tuple((whole, SliceObject(Const(None), Const(None), Const(2)))))
        assert isinstance(z, Ref)
        from_end = SliceObject(Const(None), Const(None), Const(-1))
        transposed = Ref(z.cell, (*z.path, Permuted((1, 0))))
        z = get(ctx, transposed, from_end)
        put(ctx, z, Tuple((Const(0), i)), Const(100.0))
        put(ctx, z, Const(1), Const(5))
        put(ctx, get(ctx, y, Const(0)), Const(1), Const(-1))
        return Const(None)

    check(staged, store, np.arange(12.0).reshape(3, 4), 1)


# ---------------------------------------------------------------- slices at computed places


def window(size: int, low: float, high: float) -> Callable[..., Abstract]:
    """`x[i : i + size]` for `i` in a range."""

    def staged(ctx: Context, x: Abstract, i: Array) -> Abstract:
        stop = ctx.op(Add(), i.value, ctx.constant(size, INT64))
        start = Array(i.value, Form.PYTHON, False, (low, high))
        return get(ctx, x, SliceObject(start, Array(stop, Form.PYTHON), Const(None)))

    return staged


def test_windows_of_known_size() -> None:
    check(window(3, 0, 7), lambda x, i: x[i : i + 3], np.arange(10), 4)
    check(window(3, 0, 7), lambda x, i: x[i : i + 3], jnp.arange(10), 4)


@pytest.mark.parametrize("ends", [(-math.inf, math.inf), (0, 8), (-1, 7), (0, math.inf)])
def test_windows_that_may_be_cut_off_are_selections(ends: Interval) -> None:
    def size(ctx: Context, x: Abstract, i: Array) -> Abstract:
        part = window(3, *ends)(ctx, x, i)
        assert isinstance(part, Bounded)
        return length(ctx, part)

    check(size, lambda x, i: len(x[i : i + 3]), np.arange(10), 4)


def test_windows_at_multiples() -> None:
    def staged(ctx: Context, x: Abstract, i: Array) -> Abstract:
        two = ctx.constant(2, INT64)
        start = Array(ctx.op(Multiply(), i.value, two), Form.PYTHON, False, (0, 8))
        after = ctx.op(Add(), i.value, ctx.constant(1, INT64))
        return get(
            ctx, x, SliceObject(start, Array(ctx.op(Multiply(), after, two), Form.PYTHON), Const(None))
        )

    check(staged, lambda x, i: x[i * 2 : (i + 1) * 2], np.arange(10), 3)


# ---------------------------------------------------------------- masks


MASKS = [A > 20.0, A[:, :, 0] > 20.0, A[:, 0, 0] > 5.0]


@pytest.mark.parametrize("mask", MASKS, ids=lambda m: str(m.shape))
@pytest.mark.parametrize("value", [1.5, np.float32(2), np.ones(1)], ids=repr)
def test_masked_stores(mask: np.ndarray, value: Any) -> None:
    check(put, plain_put, A, mask, value)


def test_masked_stores_of_trailing_axes() -> None:
    check(put, plain_put, A, A[:, :, 0] > 20, np.arange(5.0))
    check(put, plain_put, A, (slice(None), A[0, :, 0] > 5, 0), 7.0)
    check(put, plain_put, A, (slice(None), A[0, :, 0] > 5), np.arange(5.0))
    check(put, plain_put, A, A[:, 0, 0] > 5, np.arange(20.0).reshape(4, 5))


def test_a_mask_selects_from_another_array() -> None:
    def staged(ctx: Context, x: Abstract, y: Abstract, mask: Abstract) -> Abstract:
        return put(ctx, x, mask, get(ctx, y, mask))

    def plain(x: Any, y: Any, mask: Any) -> None:
        x[mask] = y[mask]

    check(staged, plain, A, A * 10, A > 20)
    check(staged, plain, M, M * 2.5, M > 3)
    check(staged, plain, A, A * 10, A[:, 0, 0] > 20)


def test_other_uses_of_masked_elements_are_refused() -> None:
    refused("PS221", lambda ctx, x, m: get(ctx, x, Tuple((m, Const(None), m))), A[:, :3], A[:, 0, 0] > 5)
    refused("PS203", lambda ctx, x, m: get(ctx, x, m), A, True)


# ---------------------------------------------------------------- x.at


def update(name: str) -> Callable[..., Abstract]:
    """`x.at[index].name(value)`."""

    def staged(ctx: Context, x: Array, index: Abstract, *args: Abstract) -> Abstract:
        at = get(ctx, AtObject(x), index)
        assert isinstance(at, AtIndex)
        method = at_attribute(at, name)
        assert isinstance(method, Method)
        return ctx.call(method, args)

    return staged


def plain_update(name: str) -> Callable[..., Any]:
    """`x.at[index].name(value)`."""
    return lambda x, index, *args: getattr(x.at[index], name)(*args)


AT: list[Any] = [
    Known(0),
    Known((1, 2)),
    Known(slice(1, None)),
    Known((slice(None), 7)),
    Known(-9),
    1,
    (1, -1),
    (0, 9),
    np.array([0, 2, 2]),
    np.array([0, 9, -9]),
    (np.array([0, 2]), np.array([1, 1])),
    (slice(None), np.array([3, 3, 0])),
    Known((slice(None), slice(None, None, 2))),
]


@pytest.mark.parametrize("index", AT, ids=str)
@pytest.mark.parametrize("name", ["set", "add", "multiply", "mul", "min", "max", "get"])
def test_at(index: Any, name: str) -> None:
    x = jnp.arange(12.0).reshape(3, 4)
    args = () if name == "get" else (2.5,)
    check(update(name), plain_update(name), x, index, *args)


@pytest.mark.parametrize("name", ["set", "add", "multiply", "min", "max"])
def test_at_a_mask(name: str) -> None:
    x = jnp.arange(12.0).reshape(3, 4)
    check(update(name), plain_update(name), x, x > 4, 2.5)
    check(update(name), plain_update(name), x.astype(int), x > 4, 2)


def test_at_modes_are_refused() -> None:
    def staged(ctx: Context, x: Array) -> Abstract:
        method = at_attribute(AtIndex(x, Const(0)), "set")
        assert isinstance(method, Method)
        return ctx.call(method, [Const(1.0)], {"mode": Const("clip")})

    refused("PS203", staged, jnp.arange(3.0))
    assert at_attribute(AtIndex(Array.__new__(Array), Const(0)), "shape") is None


# ---------------------------------------------------------------- cost


def kinds(ctx: PlainContext) -> list[str]:
    """The operations of the program without constants."""
    return [type(op.kind).__name__ for op in ctx.body.walk() if op.operands]


def bounded(ctx: Context, index: Abstract, upper: int) -> Abstract:
    """An index that is known to lie in `0 … upper`."""
    assert isinstance(index, Array)
    return Array(index.value, index.form, False, (0, upper))


def test_an_element_costs_one_operation() -> None:
    ctx = PlainContext()
    x, i, j = ctx.lift(A[0]), ctx.lift(1), ctx.lift(2)
    index = Tuple((bounded(ctx, i, 3), bounded(ctx, j, 4)))
    get(ctx, x, index)
    assert kinds(ctx) == [DynamicSlice.__name__, Reshape.__name__]
    ctx = PlainContext()
    x, i, j = ctx.lift(A[0]), ctx.lift(1), ctx.lift(2)
    put(ctx, x, Tuple((bounded(ctx, i, 3), bounded(ctx, j, 4))), ctx.lift(1.5))
    assert kinds(ctx) == [Reshape.__name__, DynamicUpdateSlice.__name__]


def test_a_store_of_a_view_onto_itself_costs_nothing() -> None:
    ctx = PlainContext()
    x = ctx.lift(A)
    put(ctx, x, Const(0), get(ctx, x, Const(0)))
    assert kinds(ctx) == []


def test_fancy_indexing_costs_one_gather() -> None:
    ctx = PlainContext()
    x, i = ctx.lift(A), ctx.lift(np.array([0, 1], np.uint8))
    get(ctx, x, i)
    put(ctx, x, i, Const(0.0))
    assert [k for k in kinds(ctx) if k in (Gather.__name__, Scatter.__name__)] == ["Gather", "Scatter"]
    assert "Select" not in kinds(ctx)


def test_python_numbers_have_no_items() -> None:
    with pytest.raises(Raised, match="'float' object is not subscriptable"):
        get(PlainContext(), Array(PlainContext().param(np.array(1.0)), Form.PYTHON), Const(0))


def test_elementwise_work_on_masked_elements() -> None:
    def staged(ctx: Context, x: Abstract, m: Abstract, y: Abstract) -> Abstract:
        chosen = get(ctx, x, m)
        raised = operators.binary(
            ctx, "+", operators.binary(ctx, "*", chosen, y), operators.unary(ctx, "-", chosen)
        )
        put(ctx, x, m, ctx.call(Const(np.sqrt), [ctx.call(Const(np.abs), [raised])]))
        return ctx.call(Const(len), [chosen])

    def plain(x: Any, m: Any, y: Any) -> Any:
        chosen = x[m]
        x[m] = np.sqrt(np.abs(chosen * y + -chosen))
        return len(chosen)

    check(staged, plain, A - 20, A > 7, 2.5)
    check(staged, plain, A - 20, A[:, :, 1] > 7, np.float32(3))
