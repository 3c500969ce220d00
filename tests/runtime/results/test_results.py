"""Results are of the kind that the plain run gives, with memory of their own; mutations reach the caller."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CellType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.hlo.types import FLOAT64, ArrayType
from pystage.compiler.ops import Constant
from pystage.compiler.values.boundary import (
    AbsentTemplate,
    CallTemplate,
    CellVariable,
    ConstantTemplate,
    ContainerTemplate,
    Form,
    Global,
    Path,
    PathStep,
    PathTemplate,
    ViewTemplate,
    Write,
)
from pystage.compiler.values.views import Permuted, Reshaped, Window
from tests.runtime.sketch import Sketch, argument, compiled


def double(x: Any) -> Any:
    return x + x


def build_double(s: Sketch) -> Any:
    return s.output(s.doubled(), s.leaves[0].form)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(3.0),
        np.arange(3, dtype=np.float32),
        np.array(2.5),
        np.arange(6).reshape(2, 3).T,
        np.zeros((0, 3)),
        np.float32(2.5),
        np.int64(7),
        2.5,
        7,
        1 + 2j,
        jnp.arange(3.0),
        jnp.bfloat16(1.5),
        np.array([1.5], jnp.bfloat16),
    ],
    ids=lambda v: f"{type(v).__name__}-{getattr(v, 'dtype', '')}{getattr(v, 'shape', '')}",
)
@pytest.mark.parametrize("x64", [False, True])
def test_results_are_what_the_plain_run_gives(value: Any, x64: bool) -> None:
    with jax.enable_x64(x64):
        f, infer = compiled(double, build_double)
        plain = double(value)
        for _ in range(3):
            got = f(value)
            assert type(got) is (np.ndarray if isinstance(value, np.ndarray) else type(plain))
            if not isinstance(got, int | float | complex) or isinstance(got, np.generic):
                assert got.dtype == plain.dtype
            np.testing.assert_array_equal(got, plain)
        assert infer.calls == 1


@pytest.mark.parametrize("size", [10, 100_000])
def test_an_ndarray_of_results_is_the_callers_own(size: int) -> None:
    f, _ = compiled(double, build_double)
    x = np.arange(float(size))
    first = f(x)
    assert first.flags.writeable and first.flags.c_contiguous and first.flags.aligned
    first[:] = -1
    second = f(x)
    np.testing.assert_array_equal(second, 2 * x)
    np.testing.assert_array_equal(x, np.arange(float(size)))
    assert (first == -1).all()


def test_a_large_constant_is_given_out_anew_each_time() -> None:
    data = np.arange(100_000.0)

    def build(s: Sketch) -> Any:
        return s.output(s.b.op(Constant(data)), Form.NDARRAY)

    f, _ = compiled(lambda: data.copy(), build)
    f()[:] = 0
    np.testing.assert_array_equal(f(), data)
    np.testing.assert_array_equal(data, np.arange(100_000.0))


def test_a_large_argument_that_comes_out_unchanged_is_a_copy() -> None:
    f, _ = compiled(lambda x: x.copy(), lambda s: s.output(s.params[0], Form.NDARRAY))
    x = np.arange(100_000.0)
    y = f(x)
    assert not np.shares_memory(x, y)
    y[:] = 0
    np.testing.assert_array_equal(x, np.arange(100_000.0))


def test_one_large_result_in_two_places_is_two_arrays() -> None:
    def build(s: Sketch) -> Any:
        made = s.output(s.doubled(), Form.NDARRAY)
        return ContainerTemplate(tuple, (0, 1), (made, made), 0)

    f, _ = compiled(lambda x: (x + x, x + x), build)
    a, b = f(np.arange(100_000.0))
    a[:] = 0
    np.testing.assert_array_equal(b, 2 * np.arange(100_000.0))


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True)
class Frozen:
    value: Any
    label: str

    def __post_init__(self) -> None:
        raise AssertionError("constructors of the user do not run")


def test_containers_and_objects_are_made_without_running_user_code() -> None:
    def build(s: Sketch) -> Any:
        out = s.output(s.doubled(), Form.NDARRAY)
        shared = ContainerTemplate(list, (0,), (ConstantTemplate("x"),), 1)
        frozen = ContainerTemplate(Frozen, ("value", "label"), (out, ConstantTemplate("name")), 2)
        parts = ContainerTemplate(dict, ("b", "a"), (shared, shared), 3)
        return ContainerTemplate(Pair, ("left", "right"), (frozen, parts), 4)

    f, _ = compiled(lambda x: x, build)
    got = f(np.arange(3.0))
    assert type(got) is Pair and type(got.left) is Frozen
    np.testing.assert_array_equal(got.left.value, 2 * np.arange(3.0))
    assert got.left.label == "name"
    assert list(got.right) == ["b", "a"]
    assert got.right["a"] is got.right["b"]
    assert got.right["a"] == ["x"]


def test_a_list_may_hold_itself() -> None:
    itself = ContainerTemplate(list, (), (), 7)
    f, _ = compiled(lambda x: x, lambda s: ContainerTemplate(list, (0,), (itself,), 7))
    got = f(np.arange(3.0))
    assert got[0] is got


def test_the_callers_own_objects_come_back_as_themselves() -> None:
    def build(s: Sketch) -> Any:
        whole = PathTemplate(argument("pair"))
        part = PathTemplate(argument("pair", (PathStep.ITEM, 0)))
        return ContainerTemplate(tuple, (0, 1), (whole, part), 0)

    f, _ = compiled(lambda pair: (pair, pair[0]), build)
    pair = [np.arange(3.0), 2]
    whole, part = f(pair)
    assert whole is pair and part is pair[0]


def test_views_are_of_the_callers_memory() -> None:
    steps = (Window((1,), (2,)), Reshaped((2, 1)), Permuted((1, 0)))
    f, _ = compiled(
        lambda x: x[1:].reshape(2, 1).T, lambda s: ViewTemplate(PathTemplate(argument("x")), steps, 0)
    )
    x = np.arange(3.0)
    got = f(x)
    assert got.shape == (1, 2)
    got[0, 0] = 9
    assert x[1] == 9


class Counter:
    def __init__(self) -> None:
        self.count = 1.0
        self.gone = "x"


def test_mutations_are_applied_in_order_to_what_stood_there_before() -> None:
    def build(s: Sketch) -> Any:
        value = s.output(s.doubled(s.args[0].children[0].index), Form.PYTHON)  # type: ignore[union-attr]
        s.change(Write.ATTRIBUTE, argument("c"), "count", value)
        s.change(Write.ATTRIBUTE, argument("c"), "gone", AbsentTemplate())
        s.change(
            Write.LIST,
            argument("xs"),
            None,
            ContainerTemplate(list, (0, 1), (PathTemplate(argument("c")), value), 0),
        )
        s.change(
            Write.DICT,
            argument("d"),
            None,
            ContainerTemplate(dict, ("b", "a"), (value, ConstantTemplate(1)), 1),
        )
        return PathTemplate(argument("c", (PathStep.ATTRIBUTE, "count")))

    f, _ = compiled(lambda c, xs, d: None, build)
    counter, xs, d = Counter(), [1, 2, 3], {"a": 0}
    before = f(counter, xs, d)
    assert before == 1.0 and type(before) is float
    assert vars(counter) == {"count": 2.0}
    assert xs == [counter, 2.0]
    assert list(d.items()) == [("b", 2.0), ("a", 1)]


def test_stores_reach_ndarrays_of_any_layout() -> None:
    def build(s: Sketch) -> Any:
        s.store(argument("x"), s.doubled())
        return ConstantTemplate(None)

    f, _ = compiled(lambda x: None, build)
    base = np.arange(12.0).reshape(3, 4)
    for x in (base[:, ::2], base.T, base[::-1, 1]):
        expected = 2 * x
        assert f(x) is None
        np.testing.assert_array_equal(x, expected)


def test_globals_and_cells_are_written() -> None:
    namespace: dict[str, Any] = {"total": 0.0}
    fresh = CellType(1)

    def build(s: Sketch) -> Any:
        value = s.output(s.doubled(), Form.PYTHON)
        s.change(Write.GLOBAL, Path(Global(namespace, "total")), "total", value)
        s.change(Write.CELL, Path(CellVariable(fresh, "n")), None, value)
        return ConstantTemplate(None)

    f, _ = compiled(lambda x: None, build)
    f(2.0)
    assert namespace["total"] == 4.0 and fresh.cell_contents == 4.0


class Problem(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.extra = text


@pytest.mark.parametrize("maker, args", [(ValueError, ("no", 3)), (KeyError, ("k",)), (Problem, ("p",))])
def test_exceptions_are_new_each_time_and_end_at_the_users_line(maker: Any, args: Any) -> None:
    exception = maker(*args)
    span = Span("/there/model.py", 12, 4, 12, 30, "Model.run")

    def build(s: Sketch) -> Any:
        s.store(argument("x"), s.doubled())
        s.fail(CallTemplate(maker, tuple([ConstantTemplate(a) for a in args])), span)
        return ConstantTemplate(None)

    f, _ = compiled(lambda x: None, build)
    x = np.ones(2)
    seen = []
    for _ in range(2):
        with pytest.raises(type(exception)) as caught:
            f(x)
        assert caught.value.args == exception.args and vars(caught.value) == vars(exception)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (last.filename, last.lineno, last.name) == ("/there/model.py", 12, "run")
        assert (last.colno, last.end_colno) == (4, 30)
        seen.append(caught.value)
    assert seen[0] is not seen[1] and exception not in seen
    np.testing.assert_array_equal(x, [4.0, 4.0])


def test_jax_results_are_asynchronous_jax_arrays_of_the_right_weakness() -> None:
    def build(s: Sketch) -> Any:
        strong = s.output(s.doubled(), Form.JAX)
        weak = replace(s.output(s.doubled(), Form.JAX), weak=True)
        return ContainerTemplate(list, (0, 1), (strong, weak), 0)

    f, _ = compiled(lambda x: [x + x, x + x], build)
    strong, weak = f(jnp.float32(1.0))
    assert isinstance(strong, jax.Array) and isinstance(weak, jax.Array)
    assert (strong.weak_type, weak.weak_type) == (False, True)


def test_float64_is_given_though_jax_has_it_off() -> None:
    def build(s: Sketch) -> Any:
        type_ = ArrayType(FLOAT64, (2,))
        return s.output(s.b.op(Constant(np.full((2,), 1 / 3, type_.dtype))), Form.NDARRAY)

    f, _ = compiled(lambda: np.full(2, 1 / 3), build)
    got = f()
    assert got.dtype == np.float64 and (got == 1 / 3).all()


def add_one(d: Any, key: Any) -> None:
    d[key] += 1.0


def move_to_the_end(d: Any, key: Any) -> None:
    d[key] = d.pop(key) + 1.0


def exchange(d: Any, key: Any) -> None:
    del d[key]
    d[key * 1.0] = 2.0


def walked(function: Callable[..., None]) -> Any:
    """The keys that an iteration over a dict which has lost an entry meets while a function stores into the dict."""
    d: dict[Any, float] = {key: 1.0 + key for key in range(6)}
    del d[0]
    seen = []
    for key in d:
        function(d, key)
        seen.append(repr(key))
    return seen, repr(d)


@pytest.mark.parametrize("function", [add_one, move_to_the_end, exchange])
def test_an_iteration_over_a_dict_goes_on_where_it_is(function: Callable[..., None]) -> None:
    assert walked(pystage.compile(function)) == walked(function)
