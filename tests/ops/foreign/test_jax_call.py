"""`JaxCall` beyond its samples: settings, structure, keys, effects, caches, and where it is emitted."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.extend.mlir import ir as mlir_ir
from jax.interpreters import mlir as jax_mlir

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.mlir import Emitter
from pystage.compiler.hlo.types import FLOAT32, FLOAT64, INT32, INT64, UINT32, ArrayType, ShapeError
from pystage.compiler.ops import Add, Call, Compare, Constant, JaxCall, While
from pystage.compiler.ops.foreign.jax_call import ArrayLeaf, JaxCallError, JaxSettings, Leaf, Static

from ..running import application, run_xla, stablehlo

NARROW = JaxSettings()
WIDE = JaxSettings(enable_x64=True)
VECTOR = ArrayType(FLOAT32, (3,))
MATRIX = ArrayType(FLOAT32, (3, 3))


def described(value: Any) -> Leaf:
    return value if isinstance(value, ArrayLeaf) else Static(value)


def bound(function: Callable[..., Any], *args: Any, settings: JaxSettings = NARROW, **kwargs: Any) -> JaxCall:
    return JaxCall.bind(function, args, kwargs, described, settings)[0]


def traced(value: Any) -> bool:
    return isinstance(value, jax.core.Tracer)


# -- settings


@pytest.mark.parametrize("x64", [False, True])
def test_settings_are_those_of_the_thread(x64: bool) -> None:
    with jax.enable_x64(x64), jax.default_matmul_precision("highest"), jax.numpy_rank_promotion("raise"):
        found = JaxSettings.current()
    assert found == JaxSettings(x64, "standard", "raise", "highest", "threefry2x32", True)
    before = JaxSettings.current()
    with found.active():
        assert JaxSettings.current() == found
    assert JaxSettings.current() == before


def test_settings_are_restored_if_one_is_refused() -> None:
    before = JaxSettings.current()
    with pytest.raises(ValueError, match="got perhaps"):
        JaxSettings(not before.enable_x64, numpy_rank_promotion="perhaps").active()
    assert JaxSettings.current() == before


@pytest.mark.parametrize("settings, dtype", [(JaxSettings(), FLOAT32), (WIDE, FLOAT64)])
def test_64_bits_as_the_user_has_set(settings: JaxSettings, dtype: np.dtype) -> None:
    """Whatever the flag is where the program is traced and lowered: `run_xla` sets it."""
    wide = ArrayLeaf(ArrayType(FLOAT64, (3,)))
    call = bound(jnp.cumsum, wide, settings=settings)
    with jax.enable_x64(settings is not WIDE):
        assert call.infer(wide.type) == (ArrayType(dtype, (3,)),)
        assert bound(jnp.zeros, 2, settings=settings).infer() == (ArrayType(dtype, (2,)),)
    x = np.array([1, 2, 3.5])
    (found,) = run_xla(application(call, wide.type), (x,))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.cumsum(x))


def test_integers_that_do_not_fit_wrap_as_in_jax() -> None:
    leaf = ArrayLeaf(ArrayType(INT64, (2,)))
    call = bound(jnp.negative, leaf)
    x = np.array([5, 2**40 + 3])
    (found,) = run_xla(application(call, leaf.type), (x,))
    np.testing.assert_array_equal(found, np.array([-5, -3], np.int32))
    (reference,) = call.reference(x)
    np.testing.assert_array_equal(found, reference)


def test_matmul_precision_reaches_the_program() -> None:
    leaf = ArrayLeaf(MATRIX)
    precise = bound(jnp.matmul, leaf, leaf, settings=JaxSettings(default_matmul_precision="highest"))
    assert "HIGHEST" in stablehlo(application(precise, MATRIX, MATRIX))
    assert "HIGHEST" not in stablehlo(application(bound(jnp.matmul, leaf, leaf), MATRIX, MATRIX))


# -- arguments and results


def test_weak_types_go_in_and_come_out() -> None:
    scalar = ArrayType(FLOAT64)
    weak, strong = ArrayLeaf(scalar, weak=True), ArrayLeaf(scalar)
    single = ArrayLeaf(ArrayType(FLOAT32))
    assert bound(jnp.add, single, weak, settings=WIDE).infer(single.type, scalar)[0].dtype == FLOAT32
    assert bound(jnp.add, single, strong, settings=WIDE).infer(single.type, scalar)[0].dtype == FLOAT64
    assert bound(jnp.sin, weak, settings=WIDE).result.leaves == (ArrayLeaf(scalar, weak=True),)
    assert bound(jnp.sin, strong, settings=WIDE).result.leaves == (ArrayLeaf(scalar),)


def test_structure_and_static_leaves_come_back() -> None:
    def function(pair: Any, *, name: str) -> Any:
        return {"sum": pair[0] + pair[1], "name": name, "rank": jnp.ndim(pair[0]), "none": None}

    call = bound(function, (ArrayLeaf(VECTOR), ArrayLeaf(VECTOR)), name="x")
    trace = call.result
    assert trace.types == (VECTOR,)
    values = [leaf.value if isinstance(leaf, Static) else leaf.type for leaf in trace.leaves]
    found = jax.tree_util.tree_unflatten(trace.tree, values)
    assert found == {"sum": VECTOR, "name": "x", "rank": 1, "none": None}
    assert type(found["rank"]) is int


def test_operands_are_the_array_leaves_in_order() -> None:
    args = ([1.5, "a"], {"y": 2, "x": 3})
    call, operands = JaxCall.bind(
        max, args, {}, lambda v: ArrayLeaf(VECTOR) if isinstance(v, int) else Static(v), JaxSettings()
    )
    assert operands == [3, 2]  # a dict is a pytree in order of its keys
    assert [leaf.value for leaf in call.leaves if isinstance(leaf, Static)] == [1.5, "a"]


def test_a_layer_is_an_argument() -> None:
    @jax.tree_util.register_pytree_node_class
    class Scale:
        def __init__(self, factor: Any) -> None:
            self.factor = factor

        def __call__(self, x: Any) -> Any:
            return self.factor * x

        def tree_flatten(self) -> Any:
            return (self.factor,), None

        @classmethod
        def tree_unflatten(cls, aux: Any, children: Any) -> Any:
            return cls(*children)

    call = bound(operator.call, Scale(ArrayLeaf(VECTOR)), ArrayLeaf(VECTOR))
    x = np.arange(3, dtype=np.float32)
    (found,) = run_xla(application(call, VECTOR, VECTOR), (x, x))
    np.testing.assert_array_equal(found, x * x)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_typed_keys_travel_as_data(impl: str) -> None:
    key = jax.random.key(3, impl=impl)
    data = np.asarray(jax.random.key_data(key))
    leaf = ArrayLeaf(ArrayType(UINT32, data.shape), key=impl)
    split = bound(jax.random.split, leaf)
    assert split.result.leaves == (ArrayLeaf(ArrayType(UINT32, (2, *data.shape)), key=impl),)
    (found,) = run_xla(application(split, leaf.type), (data,))
    np.testing.assert_array_equal(found, jax.random.key_data(jax.random.split(key)))
    draw = bound(jax.random.normal, leaf, (4,))
    (found,) = run_xla(application(draw, leaf.type), (data,))
    np.testing.assert_array_equal(found, jax.random.normal(key, (4,)))


def test_arrays_that_the_callable_closes_over_are_constants() -> None:
    table = jnp.arange(3, dtype=np.float32) * 7
    call = bound(lambda x: x + table, ArrayLeaf(VECTOR))
    x = np.ones(3, np.float32)
    (found,) = run_xla(application(call, VECTOR), (x,))
    np.testing.assert_array_equal(found, [1, 8, 15])


def test_references_that_stay_inside_are_no_effect() -> None:
    def function(x: Any) -> Any:
        total = jax.new_ref(x)
        total[...] += 1
        return total[...]

    call = bound(function, ArrayLeaf(VECTOR))
    assert call.pure
    (found,) = run_xla(application(call, VECTOR), (np.zeros(3, np.float32),))
    np.testing.assert_array_equal(found, np.ones(3))


# -- what is the same call


@pytest.mark.parametrize(
    "one, other",
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        (0j, complex(-0.0, 0)),
        (np.float32(1), np.float64(1)),
        (slice(1), slice(1.0)),
        ("1", 1),
    ],
)
def test_static_values_that_differ(one: Any, other: Any) -> None:
    assert Static(one) != Static(other)
    assert bound(jnp.sin, one) != bound(jnp.sin, other)


@pytest.mark.parametrize(
    "value", [1, 1.5, float("nan"), 2j, "a", None, slice(1, None, 2), jnp.sin, np.dtype("f4")]
)
def test_static_values_that_are_the_same(value: Any) -> None:
    assert Static(value) == Static(value)
    assert hash(Static(value)) == hash(Static(value))


def test_what_cannot_be_hashed_is_known_by_identity() -> None:
    one, other = np.arange(3), np.arange(3)
    assert Static(one) == Static(one) and hash(Static(one)) == hash(Static(one))
    assert Static(one) != Static(other)


def test_a_call_is_traced_once() -> None:
    runs = []

    def function(x: Any) -> Any:
        runs.append(traced(x))
        return x + 1

    for _ in range(3):
        call = bound(function, ArrayLeaf(VECTOR))
        call.infer(VECTOR)
        assert call.pure
        stablehlo(application(call, VECTOR))
    assert runs == [True]


# -- errors


def test_the_exception_of_jax_is_the_cause() -> None:
    with pytest.raises(JaxCallError, match="dot: ") as raised:
        bound(jnp.dot, ArrayLeaf(VECTOR), ArrayLeaf(ArrayType(FLOAT32, (4,)))).infer(
            VECTOR, ArrayType(FLOAT32, (4,))
        )
    assert isinstance(raised.value.__cause__, TypeError)
    assert not raised.value.needs_constant
    assert isinstance(raised.value, ShapeError)


@pytest.mark.parametrize("function", [jnp.zeros, range, operator.not_, np.asarray, float])
def test_what_needs_a_constant_says_so(function: Callable[..., Any]) -> None:
    count = ArrayType(INT32)
    with pytest.raises(JaxCallError) as raised:
        bound(function, ArrayLeaf(count, weak=True)).infer(count)
    assert raised.value.needs_constant


@pytest.mark.parametrize("ordered", [True, False])
def test_effects(ordered: bool) -> None:
    def function(x: Any) -> Any:
        io_callback(seen.append, None, x, ordered=ordered)
        return x + 1

    seen: list[Any] = []
    call = bound(function, ArrayLeaf(VECTOR))
    if ordered:
        with pytest.raises(JaxCallError, match="must happen in order"):
            call.infer(VECTOR)
        return
    assert not call.pure
    body = Region((VECTOR,))
    b = Builder(body)
    assert b.op(call, *body.params) is not b.op(call, *body.params)
    (found,) = run_xla(application(call, VECTOR), (np.zeros(3, np.float32),))
    jax.effects_barrier()
    np.testing.assert_array_equal(found, np.ones(3))
    np.testing.assert_array_equal(seen, np.zeros((1, 3)))


# -- where it is emitted


def test_inside_private_functions_and_loops() -> None:
    """`expm` is a function with loops and branches of its own; the callee is called in the body of a loop."""
    call = bound(jax.scipy.linalg.expm, ArrayLeaf(MATRIX))
    callee = Region((MATRIX,))
    callee.results = (Builder(callee).op(call, *callee.params),)
    function = Function("exponential", callee)

    count = ArrayType(INT32)
    body = Region((MATRIX,))
    b = Builder(body)
    condition, step = Region((count, MATRIX)), Region((count, MATRIX))
    with b.region(condition):
        condition.results = (b.op(Compare("LT"), condition.params[0], b.op(Constant(np.int32(2)))),)
    with b.region(step):
        i, x = step.params
        once = b.op(Call(function), x)
        step.results = (b.op(Add(), i, b.op(Constant(np.int32(1)))), b.op(Add(), once, b.op(call, x)))
    start = b.op(Constant(np.int32(0)))
    body.results = (b.apply(While(), (start, body.params[0]), (condition, step)).results[1],)

    program = Function("main", body)
    x = np.random.default_rng(1).standard_normal((3, 3)).astype(np.float32) / 9
    (found,) = run_xla(program, (x,))
    (wanted,) = interpret(program, (x,))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    text = stablehlo(program)
    assert text.count("func.func private @expm") == 1


def test_outside_jax_it_is_a_function_of_the_module() -> None:
    call = bound(jnp.linalg.slogdet, ArrayLeaf(MATRIX))
    function = application(call, MATRIX)
    context = jax_mlir.make_ir_context()
    with context, mlir_ir.Location.unknown():
        module = mlir_ir.Module.create()
        e = Emitter(lambda callee: callee.name, mlir_ir.Location.unknown())
        types = [[e.type(t) for t in ts] for ts in (function.param_types, function.result_types)]
        with mlir_ir.InsertionPoint(module.body):
            main = mlir_ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": mlir_ir.StringAttr.get("main"),
                    "function_type": mlir_ir.TypeAttr.get(mlir_ir.FunctionType.get(*types)),
                },
                regions=1,
            )
        e.emit_region(function.body, main.regions[0], "func.return")
        assert module.operation.verify()
        text = str(module)
    assert "call @slogdet" in text and "func.func private @slogdet" in text
