"""Which program serves a call: types, static values, guards, hidden inputs, structure, aliasing, threads."""

from __future__ import annotations

import threading
import time
import warnings
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage.compiler.diagnostics.errors as errors
from pystage.compiler.hlo.types import FLOAT64, ArrayType
from pystage.compiler.ops import Add, Constant, Multiply, Negate
from pystage.compiler.values.boundary import (
    ConstantTemplate,
    ContainerTemplate,
    Form,
    GuardKind,
    PathStep,
    PathTemplate,
    StaticSpec,
    StructureSpec,
    Write,
)
from pystage.compiler.values.demand import NeedsConstant
from pystage.runtime.dispatch.dispatch import THRASH
from pystage.runtime.dispatch.entries import MAX_SPECIALISATIONS
from pystage.runtime.reports.warnings import SpecialisationWarning
from tests.runtime.sketch import Sketch, argument, compiled, variable

WORLD: dict[str, Any] = {}


def build_double(s: Sketch) -> Any:
    return s.output(s.doubled(), s.leaves[0].form)


def test_one_inference_for_each_combination_of_types() -> None:
    f, infer = compiled(lambda x: x + x, build_double)
    for _ in range(2):
        for x in (jnp.ones(3), jnp.ones(4), jnp.ones(3, int), np.ones(3), np.ones(3, np.float32), 1.0, 2):
            np.testing.assert_array_equal(f(x), x + x)
    assert infer.calls == 7
    assert len(f.signatures()) == 7


def test_static_leaves_are_told_apart_by_value_and_type() -> None:
    def build(s: Sketch) -> Any:
        kind = s.args[1]
        assert isinstance(kind, StaticSpec)
        return ContainerTemplate(
            tuple, (0, 1), (s.output(s.doubled(), Form.JAX), ConstantTemplate(kind.value)), 0
        )

    f, infer = compiled(lambda x, k: (x + x, k), build)
    x = jnp.ones(2)
    functions = [lambda: 1, lambda: 1]
    values = ["a", "b", None, True, False, functions[0], functions[1], np.dtype("f4"), int, ..., WORLD.get]
    for _ in range(2):
        for value in values:
            assert f(x, value)[1] is value
    assert infer.calls == len(values)


def test_equal_dict_keys_of_different_types_are_different_structures() -> None:
    def build(s: Sketch) -> Any:
        (d,) = s.args
        assert isinstance(d, StructureSpec)
        return ContainerTemplate(tuple, (0,), (ConstantTemplate(d.keys), s.output(s.doubled(), Form.JAX)), 0)

    f, _ = compiled(lambda d: None, build)
    for _ in range(2):
        for key in (1, True, 1.0, "1"):
            (got,), _ = f({key: jnp.ones(2)})
            assert type(got) is type(key)


def test_the_order_of_a_dict_is_part_of_its_structure() -> None:
    def build(s: Sketch) -> Any:
        (d,) = s.args
        assert isinstance(d, StructureSpec)
        return ConstantTemplate(d.keys)

    f, _ = compiled(lambda d: tuple(d), build)
    a, b = jnp.ones(1), jnp.ones(2)
    assert f({"a": a, "b": b}) == ("a", "b")
    assert f({"b": b, "a": a}) == ("b", "a")


@dataclass
class Layer:
    weight: Any
    name: str = "layer"


class Slotted:
    __slots__ = ("a", "b", "never")

    def __init__(self) -> None:
        self.a = jnp.ones(2)
        self.b = 3.0


class WithProperty(Layer):
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise AssertionError("no user code runs")


def test_objects_are_opened_by_their_fields() -> None:
    seen: list[Any] = []

    def build(s: Sketch) -> Any:
        (spec,) = s.args
        assert isinstance(spec, StructureSpec)
        seen.append((spec.cls, spec.keys))
        return s.output(s.doubled(min(s.params)), Form.JAX)

    f, infer = compiled(lambda o: None, build)
    for value in (
        Layer(jnp.ones(2)),
        Slotted(),
        [jnp.ones(2)],
        range(3),
        slice(0, 2.0),
        Layer(jnp.ones(2)).__eq__,
    ):
        f(value)
        f(value)
    assert infer.calls == len(seen)
    assert [k for _, k in seen[:3]] == [("weight", "name"), ("a", "b"), (0,)]
    assert jax.tree_util.all_leaves([Layer(1)])


def test_a_field_that_comes_or_goes_is_another_structure() -> None:
    def build(s: Sketch) -> Any:
        (spec,) = s.args
        assert isinstance(spec, StructureSpec)
        return ConstantTemplate(spec.keys)

    f, _ = compiled(lambda o: None, build)
    layer = Layer(jnp.ones(2))
    assert f(layer) == ("weight", "name")
    layer.extra = 1.0  # type: ignore[attr-defined]
    assert f(layer) == ("weight", "name", "extra")


def test_hidden_inputs_are_read_at_each_call_and_guards_compared() -> None:
    WORLD.update(scale=2.0, mode="add")

    def build(s: Sketch) -> Any:
        scale = s.read(variable(WORLD, "scale"), ArrayType(FLOAT64), Form.PYTHON)
        mode = WORLD["mode"]
        s.guard(GuardKind.EQUAL, variable(WORLD, "mode"), mode)
        op = Add() if mode == "add" else Multiply()
        return s.output(s.b.op(op, s.params[0], scale), Form.PYTHON)

    f, infer = compiled(lambda x: x + WORLD["scale"], build)
    assert f(3.0) == 5.0
    WORLD["scale"] = 4.0
    assert f(3.0) == 7.0
    assert infer.calls == 1
    WORLD["mode"] = "multiply"
    assert f(3.0) == 12.0
    WORLD["mode"] = "add"
    assert f(3.0) == 7.0
    assert infer.calls == 2


@pytest.mark.parametrize(
    ("kind", "before", "same", "after"),
    [
        (GuardKind.IS, np, np, jnp),
        (GuardKind.EQUAL, 1, 1, True),
        (GuardKind.EQUAL, 1, 1, 1.0),
        (GuardKind.EQUAL, (1, 2), (1, 2), (1, 2.0)),
        (GuardKind.EQUAL, "a", "".join(["a"]), "b"),
        (GuardKind.EQUAL, {1, 2}, {2, 1}, {1}),
        (GuardKind.LAYOUT, [1, 2], [3, 4], [1, 2, 3]),
        (GuardKind.LAYOUT, {"a": 1}, {"a": 2}, {"b": 1}),
        (GuardKind.LAYOUT, [1, 2], [3, 4], (1, 2)),
        (GuardKind.LAYOUT, Layer(1), Layer(2), WithProperty),
    ],
    ids=str,
)
def test_a_guard_holds_for_what_is_the_same_and_fails_for_what_is_not(
    kind: GuardKind, before: Any, same: Any, after: Any
) -> None:
    WORLD["it"] = before

    def build(s: Sketch) -> Any:
        s.guard(kind, variable(WORLD, "it"), WORLD["it"])
        return s.output(s.doubled(), Form.JAX)

    f, infer = compiled(lambda x: x, build)
    for value, calls in ((before, 1), (same, 1), (after, 2), (before, 2)):
        WORLD["it"] = value
        f(jnp.ones(2))
        assert infer.calls == calls
    del WORLD["it"]
    with pytest.raises(KeyError):
        f(jnp.ones(2))


def test_a_set_that_changes_in_place_fails_its_guard() -> None:
    WORLD["it"] = {1, 2}

    def build(s: Sketch) -> Any:
        s.guard(GuardKind.EQUAL, variable(WORLD, "it"), WORLD["it"])
        return ConstantTemplate(len(WORLD["it"]))

    f, _ = compiled(lambda: len(WORLD["it"]), build)
    assert f() == 2
    WORLD["it"].add(3)
    assert f() == 3


def test_absent_means_that_the_object_itself_has_no_such_attribute() -> None:
    layer = Layer(1)
    WORLD["layer"] = layer

    def build(s: Sketch) -> Any:
        has = "bias" in vars(layer)
        path = variable(WORLD, "layer", (PathStep.ATTRIBUTE, "bias"))
        s.guard(GuardKind.EQUAL if has else GuardKind.ABSENT, path, layer.bias if has else None)  # type: ignore[attr-defined]
        return ConstantTemplate(has)

    f, infer = compiled(lambda: None, build)
    assert f() is False and f() is False
    layer.bias = 1  # type: ignore[attr-defined]
    assert f() is True
    del layer.bias  # type: ignore[attr-defined]
    assert f() is False
    assert infer.calls == 2


def test_a_builtin_is_guarded_against_a_variable_of_its_name() -> None:
    namespace: dict[str, Any] = {}

    def build(s: Sketch) -> Any:
        found = namespace.get("abs", abs)
        s.guard(GuardKind.IS, variable(namespace, "abs"), found)
        return ConstantTemplate(found)

    f, _ = compiled(lambda: None, build)
    assert f() is abs
    namespace["abs"] = max
    assert f() is max
    del namespace["abs"]
    assert f() is abs


def test_types_that_read_different_things_of_the_world_have_families_of_their_own() -> None:
    WORLD.update(a=jnp.float32(1.0), b=jnp.float32(2.0))

    def build(s: Sketch) -> Any:
        name = "a" if s.leaves[0].type.rank == 1 else "b"
        value = s.read(variable(WORLD, name), ArrayType(np.dtype(np.float32)), Form.JAX)
        s.guard(GuardKind.EQUAL, variable(WORLD, "mode"), WORLD["mode"])
        return s.output(s.b.op(Negate(), value), Form.JAX)

    WORLD["mode"] = 1
    f, infer = compiled(lambda x: None, build)
    for _ in range(3):
        assert f(jnp.ones(3)) == -1.0
        assert f(jnp.ones((3, 3))) == -2.0
        assert f(jnp.ones(4)) == -1.0
    WORLD["b"] = jnp.float32(5.0)
    assert f(jnp.ones((3, 3))) == -5.0
    WORLD["mode"] = 2
    calls = infer.calls
    assert f(jnp.ones(3)) == -1.0 and f(jnp.ones(3)) == -1.0
    assert infer.calls == calls + 1


def test_arguments_that_must_be_constants_are() -> None:
    def build(s: Sketch) -> Any:
        if 1 not in s.static:
            raise NeedsConstant(1, None, "the shape of np.zeros")
        return s.output(s.b.op(Constant(np.full(s.static[1], 2.0))), Form.NDARRAY)

    f, infer = compiled(lambda x, n: np.full(n, 2.0), build)
    for _ in range(2):
        for n in (1, 2, 3):
            assert f(1.0, n).shape == (n,)
    assert infer.calls == 4
    assert "for n = 3 (the shape of np.zeros)" in f.signatures()[-1]


def test_a_constant_that_only_some_types_need() -> None:
    def build(s: Sketch) -> Any:
        if s.leaves[0].type.rank == 2:
            if 1 not in s.static:
                raise NeedsConstant(1, None, "an axis")
            return ConstantTemplate(s.static[1])
        return s.output(s.doubled(), Form.JAX)

    f, _ = compiled(lambda x, n: None, build)
    for _ in range(2):
        assert f(jnp.ones(2), 3)[0] == 2
        assert f(jnp.ones((2, 2)), 3) == 3
        assert f(jnp.ones((2, 2)), 4) == 4
        assert f(jnp.ones(3), 4)[0] == 2


def test_one_ndarray_twice_is_one_leaf_and_another_program() -> None:
    def build(s: Sketch) -> Any:
        a, b = s.args
        s.store(argument("a"), s.doubled())
        return ConstantTemplate(a.index == b.index)  # type: ignore[union-attr]

    f, infer = compiled(lambda a, b: None, build)
    x, y = np.ones(2), np.ones(2)
    assert f(x, y) is False
    assert f(x, x) is True
    assert f(y, x) is False
    assert infer.calls == 2
    np.testing.assert_array_equal(x, [4, 4])
    np.testing.assert_array_equal(y, [2, 2])


def test_a_program_that_depends_on_which_lists_are_one() -> None:
    def build(s: Sketch) -> Any:
        a, b = s.args
        s.alias_sensitive = True
        return ConstantTemplate(a.identity == b.identity)  # type: ignore[union-attr]

    f, infer = compiled(lambda a, b: a is b, build)
    x, y = [1.0], [1.0]
    for _ in range(2):
        assert f(x, y) is False
        assert f(x, x) is True
    assert infer.calls == 2


@pytest.mark.parametrize("overlap", [False, True])
def test_memory_that_a_store_would_change_elsewhere_is_refused(overlap: bool) -> None:
    def build(s: Sketch) -> Any:
        s.store(argument("a"), s.doubled())
        return ConstantTemplate(None)

    f, _ = compiled(lambda a, b: None, build)
    base = np.arange(8.0)
    even, other = base[::2], base[1::2] if not overlap else base[:4]
    if overlap:
        with pytest.raises(errors.StagingError, match=r"PS806.*`a` shares memory with `b`"):
            f(even, other)
        np.testing.assert_array_equal(base, np.arange(8.0))
    else:
        f(even, other)
        np.testing.assert_array_equal(even, 2 * np.arange(8.0)[::2])


def test_a_stored_argument_that_is_also_captured_is_refused() -> None:
    WORLD["array"] = np.ones(3)

    def build(s: Sketch) -> Any:
        s.read(variable(WORLD, "array"), ArrayType(FLOAT64, (3,)), Form.NDARRAY)
        s.store(argument("a"), s.doubled())
        return ConstantTemplate(None)

    f, _ = compiled(lambda a: None, build)
    f(np.ones(3))
    with pytest.raises(errors.StagingError, match="PS806"):
        f(WORLD["array"])
    np.testing.assert_array_equal(WORLD["array"], np.ones(3))


def test_changing_captures_are_kept_in_bounds_and_reported() -> None:
    def build(s: Sketch) -> Any:
        value = WORLD["n"]
        s.guard(GuardKind.EQUAL, variable(WORLD, "n"), value)
        return ConstantTemplate(value)

    f, infer = compiled(lambda: WORLD["n"], build)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(THRASH + 4):
            WORLD["n"] = n
            assert f() == n
    assert [w.category for w in caught] == [SpecialisationWarning]
    assert "`n` keeps changing" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert infer.calls == THRASH + 4
    for n in range(THRASH + 4 - MAX_SPECIALISATIONS, THRASH + 4):
        WORLD["n"] = n
        assert f() == n
    assert infer.calls == THRASH + 4


def test_jax_settings_are_part_of_the_signature() -> None:
    def build(s: Sketch) -> Any:
        return ContainerTemplate(
            tuple, (0, 1), (ConstantTemplate(jax.config.jax_enable_x64), s.output(s.doubled(), Form.JAX)), 0
        )

    for value in (jnp.ones(2), np.ones(2), 1.0):
        f, infer = compiled(lambda x: None, build)
        for _ in range(2):
            for x64 in (False, True):
                with jax.enable_x64(x64):
                    assert f(value)[0] is x64
        assert infer.calls == 2
    f, infer = compiled(lambda x: None, build_double)
    f(jnp.ones(2))
    with jax.numpy_dtype_promotion("strict"):
        f(jnp.ones(2))
    assert infer.calls == 2


def test_threads_compile_a_signature_once() -> None:
    def build(s: Sketch) -> Any:
        time.sleep(0.05)
        return s.output(s.doubled(), Form.NDARRAY)

    f, infer = compiled(lambda x: x + x, build)
    shapes = [(2,), (3,), (4,)]
    barrier = threading.Barrier(12)
    failures: list[BaseException] = []

    def work(shape: tuple[int, ...]) -> None:
        try:
            barrier.wait()
            for _ in range(5):
                np.testing.assert_array_equal(f(np.ones(shape)), 2 * np.ones(shape))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(shapes[i % 3],)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert infer.calls == 3


def test_an_error_leaves_nothing_behind() -> None:
    fail = [True]

    def build(s: Sketch) -> Any:
        if fail[0]:
            raise MemoryError
        return build_double(s)

    f, _ = compiled(lambda x: x + x, build)
    for x in (jnp.ones(2), np.ones(3)):
        fail[0] = True
        with pytest.raises(MemoryError):
            f(x)
        fail[0] = False
        np.testing.assert_array_equal(f(x), 2 * np.ones(x.shape))


def test_mutated_attributes_are_seen_at_the_next_call() -> None:
    def build(s: Sketch) -> Any:
        (spec,) = s.args
        assert isinstance(spec, StructureSpec)
        new = s.output(s.doubled(), Form.PYTHON)
        s.change(Write.ATTRIBUTE, argument("layer"), "weight", new)
        return PathTemplate(argument("layer", (PathStep.ATTRIBUTE, "name")))

    f, infer = compiled(lambda layer: None, build)
    layer = Layer(1.0)
    for _ in range(4):
        assert f(layer) == "layer"
    assert layer.weight == 16.0
    assert infer.calls == 1
