"""The public surface: what is exported, what `compile` takes, and the shape of the compiled function."""

from __future__ import annotations

import functools
import inspect
import pkgutil
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pystage
from pystage.config import TOPICS, misspelt
from pystage.runtime.reports.messages import Topic


def test_everything_public_has_a_docstring_and_a_typed_signature() -> None:
    for name in pystage.__all__:
        thing = getattr(pystage, name)
        assert inspect.getdoc(thing), name
        members = vars(thing).items() if isinstance(thing, type) else ()
        for method, function in [*members, ("", thing)]:
            if method.startswith("_") or not inspect.isfunction(function):
                continue
            assert inspect.getdoc(function), (name, method)
            parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
            assert all(p.annotation is not p.empty for p in parameters), (name, method)


def test_nothing_else_is_public() -> None:
    names = {n for n in dir(pystage) if not n.startswith("_")}
    modules = {module.name for module in pkgutil.iter_modules(pystage.__path__)}
    assert names - (modules - set(pystage.__all__)) == set(pystage.__all__)


def test_the_version_is_that_of_the_metadata() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?|0\+unknown", pystage.__version__)
    assert "__version__" in dir(pystage)


def test_the_compiler_is_not_loaded_before_a_function_is_used() -> None:
    program = """
import sys, numpy, pystage
compiled = pystage.compile(numpy.sin)
parts = "version", "compiler.hlo", "compiler.pipeline", "compiler.values", "runtime.dispatch", "lazy", "explain"
assert not {f"pystage.{part}" for part in parts} & sys.modules.keys()
assert compiled(0.0) == 0.0 and "pystage.compiler.pipeline" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_function_that_looks_like_a_compiled_one_has_programs_of_its_own() -> None:
    """`functools.wraps` copies the attributes of what it wraps."""
    first = pystage.compile(lambda x: x + 1.0, fallback="error")
    assert first(1.0) == 2.0

    @pystage.compile(fallback="error")
    @functools.wraps(first)
    def second(x: Any) -> Any:
        return x * 10.0

    assert second(1.0) == 10.0 and first(1.0) == 2.0


def test_a_plain_function_that_looks_like_a_compiled_one_is_called_as_it_is() -> None:
    first = pystage.compile(lambda x: x + 1.0, fallback="error")

    @functools.wraps(first)
    def plain(x: Any) -> Any:
        return first(x) * 10.0

    def caller(x: Any) -> Any:
        return plain(x) - 1.0

    assert pystage.compile(caller, fallback="error")(1.0) == caller(1.0) == 19.0


def test_threads_that_use_a_function_first_share_its_programs() -> None:
    compiled = pystage.compile(lambda x: x + 1.0, fallback="error")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(compiled, [1.0, 2.0, 3.0, 4.0])) == [2.0, 3.0, 4.0, 5.0]
    assert len(compiled.signatures()) == 1


# ---------------------------------------------------------------- what compile takes


def plain(a: Any, /, b: Any, c: Any = 3.0, *more: Any, d: Any, e: Any = 5.0, **others: Any) -> Any:
    """Says what it got."""
    return a, b, c, more, d, e, others


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1.0, 2.0), {"d": 4.0}),
    ((1.0,), {"d": 4.0, "b": 2.0}),
    ((1.0, 2.0, 3.0, 4.0, 5.0), {"d": 4.0, "z": 1.0, "y": 2.0}),
    ((1.0,), {"c": 1.0, "b": 2.0, "e": 0.0, "d": 4.0, "a": 9.0}),
]


@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_arguments_reach_their_parameters(args: Any, kwargs: Any) -> None:
    assert pystage.compile(plain)(*args, **kwargs) == plain(*args, **kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1.0,), {"d": 1.0}), ((1.0, 2.0), {}), ((1.0, 2.0), {"d": 1.0, "b": 2.0}), ((1,), {"a": 1})],
)
def test_wrong_arguments_raise_what_the_plain_call_raises(args: Any, kwargs: Any) -> None:
    with pytest.raises(TypeError) as expected:
        plain(*args, **kwargs)
    staged = pystage.compile(plain)
    for _ in range(2):
        with pytest.raises(TypeError) as caught:
            staged(*args, **kwargs)
        assert str(caught.value) == str(expected.value)
    assert staged(1.0, 2.0, d=1.0)[0] == 1.0


def test_the_order_of_keywords_makes_no_other_program() -> None:
    staged = pystage.compile(lambda x, y, *, z: x - y * z)
    assert staged(1.0, 2.0, z=3.0) == staged(y=2.0, z=3.0, x=1.0) == staged(z=3.0, x=1.0, y=2.0) == -5.0
    assert len(staged.signatures()) == 1


@dataclass
class Model:
    weight: Any
    calls: float = 0.0

    @pystage.compile
    def method(self, x: Any, *, bias: Any = 0.0) -> Any:
        self.calls += 1.0
        return self.weight * x + bias

    @staticmethod
    @pystage.compile
    def inner_static(x: Any) -> Any:
        return x + 1

    @pystage.compile
    @staticmethod
    def outer_static(x: Any) -> Any:
        return x + 1

    @classmethod
    @pystage.compile
    def inner_class(cls, x: Any) -> Any:
        return cls.__name__, x + 2

    @pystage.compile
    @classmethod
    def outer_class(cls, x: Any) -> Any:
        return cls.__name__, x + 2

    def __call__(self, x: Any) -> Any:
        self.calls += 1.0
        return self.weight - x


class Derived(Model):
    pass


def test_methods() -> None:
    model = Model(2.0)
    assert model.method(3.0) == 6.0
    assert model.method(3.0, bias=1.0) == 7.0
    assert Model.method(model, 1.0) == 2.0
    assert model.calls == 3.0
    assert "stablehlo.multiply" in model.method.lower(3.0).as_text()
    for owner in (Model, Derived, model):
        name = owner.__name__ if isinstance(owner, type) else "Model"
        assert owner.inner_static(1.0) == owner.outer_static(1.0) == 2.0
        assert owner.inner_class(1.0) == owner.outer_class(1.0) == (name, 3.0)


def test_bound_methods_callable_objects_partials_and_lambdas() -> None:
    model = Model(2.0)
    called = pystage.compile(model)
    assert called(0.5) == 1.5
    model.weight = 5.0
    assert called(0.5) == 4.5
    assert pystage.compile(model.__call__)(1.0) == 4.0
    assert model.calls == 3.0
    scale = np.ones(2)
    partial = pystage.compile(functools.partial(functools.partial(lambda a, b, c: a * b + c, scale), c=1.0))
    np.testing.assert_array_equal(partial(2.0), [3.0, 3.0])
    scale[:] = 4.0
    np.testing.assert_array_equal(partial(2.0), [9.0, 9.0])
    np.testing.assert_array_equal(partial(2.0, c=0.0), [8.0, 8.0])
    one = pystage.compile(functools.partial(lambda a, b: a - b, jnp.ones(2)))
    np.testing.assert_array_equal(one(jnp.zeros(2)), [1.0, 1.0])
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        one(jnp.zeros(2), jnp.zeros(2))


@pystage.compile
def triple(x: Any) -> Any:
    return x * 3


def test_compiled_functions_and_methods_inside_compiled_functions_are_parts_of_their_program() -> None:
    model = Model(2.0)
    staged = pystage.compile(lambda m, f, x: m.method(triple(x)) + f(m.inner_static(x)))
    assert staged(model, triple, 1.0) == 12.0
    assert model.calls == 1.0
    counts = staged.lower(model, triple, 1.0).instruction_counts().by_opcode
    assert counts["multiply"] == 3  # two of them are of `triple`


def test_a_closure_over_a_traced_value() -> None:
    outer = jax.jit(lambda x: pystage.compile(lambda y: y * x)(jnp.float32(3.0)))
    assert outer(2.0) == 6.0


def test_metadata_is_the_functions() -> None:
    staged = pystage.compile(plain)
    assert staged.__name__ == "plain" and staged.__doc__ == plain.__doc__
    assert inspect.signature(staged) == inspect.signature(plain)
    assert staged.__wrapped__ is plain
    assert "plain" in repr(staged)
    assert "module @jit_other" in pystage.compile(lambda x: x + 1, name="other").lower(1.0).as_text()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"fn": 3}, TypeError, "takes a function, not 3"),
        ({"fn": Model}, TypeError, "Model is a class"),
        ({"fn": pystage.compile(plain)}, TypeError, "is compiled already"),
        ({"fn": plain, "fallback": "eager"}, ValueError, "fallback must be one of"),
        ({"fn": Model.__call__, "donate": "nope"}, ValueError, "`__call__` has no parameter `nope`"),
        ({"fn": Model.__call__, "donate": 2}, ValueError, "has no parameter `2`"),
        ({"fn": plain, "donate": -1}, ValueError, "has no parameter `-1`"),
    ],
)
def test_wrong_uses_of_compile(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        pystage.compile(**arguments)


# ---------------------------------------------------------------- settings


def test_a_misspelt_setting_is_none() -> None:
    with pytest.raises(AttributeError, match=r"no setting 'falback'; did you mean 'fallback'\?"):
        pystage.config.falback = "error"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no setting 'colour'$"):
        pystage.config.colour = "red"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PYSTAGE_TEIR", "plain", "PYSTAGE_TEIR does nothing; did you mean 'PYSTAGE_TIER'?"),
        ("PYSTAGE_LOG", "cache, compile", "'compile' in PYSTAGE_LOG .* did you mean 'compiles'?"),
        ("PYSTAGE_TRACEBACK", "all", r"'all' in PYSTAGE_TRACEBACK does nothing \(it takes full\)$"),
    ],
)
def test_misspelt_variables_of_the_environment_are_named(name: str, value: str, said: str) -> None:
    (text,) = misspelt({name: value, "PYSTAGE_ALL_TESTS": "1"})
    assert re.search(said, text)


def test_other_variables_are_not() -> None:
    fine = {"PYSTAGE_TIER": "plain", "PYSTAGE_LOG": "cache, compiles", "PYSTAGE_TRACEBACK": "", "TIER": "x"}
    assert not list(misspelt(fine))
    assert set(TOPICS) == {topic.value for topic in Topic}


# ---------------------------------------------------------------- fallback, donation


def unstageable(x: Any) -> Any:
    return eval("x + 1")


def test_fallback_to_python_warns_once_for_each_signature() -> None:
    staged = pystage.compile(unstageable, fallback="python")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [staged(v) for v in (1.0, 2.0, 3.0)] == [2.0, 3.0, 4.0]
        assert staged(np.ones(2)).tolist() == [2.0, 2.0]
        assert staged({1.0}.pop()) == 2.0
    assert [w.category for w in caught] == [pystage.FallbackWarning] * 2
    assert caught[0].filename == __file__
    assert "PS6" in str(caught[0].message)


def test_fallback_serves_arguments_that_cannot_enter_a_program() -> None:
    staged = pystage.compile(lambda s: len(s), fallback="python")
    with pytest.warns(pystage.FallbackWarning, match="PS801"):
        assert staged({1, 2}) == 2
    assert staged({1, 2, 3}) == 3


@pytest.mark.parametrize("donate", ["state", 0, ["state"], (0,)])
def test_donated_arrays_are_used_up(donate: Any) -> None:
    @functools.partial(pystage.compile, donate=donate)
    def step(state: Any, x: Any) -> Any:
        return {"a": state["a"] + x, "b": state["b"] * x}

    state, x = {"a": jnp.ones(8), "b": jnp.ones(8)}, jnp.ones(8)
    got = step(state, x)
    assert state["a"].is_deleted() and state["b"].is_deleted() and not x.is_deleted()
    assert got["a"].tolist() == [2.0] * 8
    array = np.ones(8)
    assert step({"a": array, "b": jnp.ones(8)}, x)["a"].tolist() == [2.0] * 8
    assert array.tolist() == [1.0] * 8


# ---------------------------------------------------------------- ahead of time


def layer(params: Any, x: Any) -> Any:
    return np.tanh(x @ params["w"]) + params["b"]


SHAPES = {"w": pystage.spec("f64[3,4]"), "b": pystage.spec("f64[]", "python")}
VALUES = {"w": np.ones((3, 4)), "b": 0.5}


def test_lower_takes_values_and_what_stands_for_them() -> None:
    x = np.ones((2, 3))
    by_value = pystage.compile(layer).lower(VALUES, x)
    by_type = pystage.compile(layer).lower(SHAPES, pystage.spec("f64[2,3]"))
    assert by_value.as_text() == by_type.as_text()
    compiled = by_type.compile()
    got = compiled(VALUES, x)
    assert type(got) is np.ndarray and got.dtype == np.float64
    np.testing.assert_allclose(got, layer(VALUES, x))
    jaxed = pystage.compile(lambda v: jnp.sin(v)).lower(jax.ShapeDtypeStruct((2,), np.float32))
    np.testing.assert_allclose(jaxed.compile()(jnp.ones(2)), np.sin(np.ones(2)), rtol=1e-6)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((VALUES, np.ones((3, 3))), r"x is float64\[3, 3\], not float64\[2, 3\]"),
        ((VALUES, jnp.ones((2, 3))), "x is jax float32"),
        (({"w": np.ones((3, 4)), "b": 1}, np.ones((2, 3))), r"params\['b'\] is int, not float"),
        (({"b": 1.0, "w": np.ones((3, 4))}, np.ones((2, 3))), r"params has \(b, w\), not \(w, b\)"),
        (({"w": "text", "b": 1.0}, np.ones((2, 3))), r"params\['w'\] is of another kind"),
    ],
)
def test_a_compiled_program_refuses_other_types(args: Any, text: str) -> None:
    compiled = pystage.compile(layer).lower(SHAPES, pystage.spec("f64[2,3]")).compile()
    with pytest.raises(TypeError, match=text):
        compiled(*args)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        compiled(VALUES)


def test_counts_and_analyses() -> None:
    lowered = pystage.compile(layer).lower(SHAPES, pystage.spec("f64[2,3]"))
    counts = lowered.instruction_counts()
    assert counts.by_opcode["dot"] == counts.by_opcode["tanh"] == 1
    assert counts.entry == counts.total == sum(counts.by_opcode.values())
    compiled = lowered.compile()
    assert re.fullmatch(r"<pystage\.Lowered of layer\(.*float64\[2, 3\]\) -> float64\[2, 4\]>", repr(lowered))
    assert repr(compiled) == repr(lowered).replace("Lowered", "Compiled")
    optimised = compiled.instruction_counts()
    assert optimised.total > optimised.entry > 0
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis().argument_size_in_bytes >= 8 * (12 + 6)


def test_lowering_what_needs_a_value() -> None:
    staged = pystage.compile(lambda x, n: x + np.zeros(n))
    with pytest.raises(pystage.StagingError, match=r"PS809.*`n`"):
        staged.lower(1.0, pystage.spec("s64[]", "python"))
    compiled = staged.lower(1.0, 3).compile()
    assert compiled(2.0, 3).tolist() == [2.0] * 3
    with pytest.raises(TypeError, match="n is 4, not 3"):
        compiled(2.0, 4)


FACTOR = 2


def test_a_compiled_program_notices_that_what_it_captured_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pystage.compile(lambda x: x * FACTOR).lower(1.0).compile()
    assert compiled(1.0) == 2.0
    monkeypatch.setitem(globals(), "FACTOR", 3)
    with pytest.raises(RuntimeError, match="`FACTOR` changed since"):
        compiled(1.0)


@pytest.mark.parametrize("text", ["f32", "f31[2]", "f32[a]", "f32[2", "float32[2]", "f32[-1]"])
def test_wrong_specs(text: str) -> None:
    with pytest.raises(ValueError, match="is not a type such as"):
        pystage.spec(text)


def test_specs() -> None:
    found = pystage.spec(" bf16[ 2, 3,]", "jax")
    assert (found.shape, found.dtype) == ((2, 3), jnp.bfloat16)
    assert repr(found) == "pystage.spec('bf16[2,3]', 'jax')"
    assert eval(repr(found)) == found
    with pytest.raises(ValueError, match="form must be one of"):
        pystage.spec("f32[2]", "array")
    with pytest.raises(ValueError, match="has no axes"):
        pystage.spec("f64[2]", "python")
    with pytest.raises(ValueError, match="a Python number is one of"):
        pystage.spec("f32[]", "python")


# ---------------------------------------------------------------- the programs as text


def test_programs_print_at_each_stage() -> None:
    for f in (layer, pystage.compile(layer)):
        lowered = pystage.code_lowered(f)
        assert repr(lowered) == str(lowered) and "def layer(params, x):" in lowered
        assert "f64[2,4] = dot" in pystage.code_typed(f, SHAPES, pystage.spec("f64[2,3]"))
        assert "HloModule jit_layer" in pystage.code_hlo(f, SHAPES, pystage.spec("f64[2,3]"))
        assert "fusion" in pystage.code_hlo(f, SHAPES, pystage.spec("f64[2,3]"), optimized=True)
    with pytest.raises(pystage.StagingError, match="PS102"):
        pystage.code_lowered(len)
    model = Model(2.0)
    assert "def Model.method" in pystage.code_lowered(model.method)
    assert "multiply" in pystage.code_typed(model.method, 1.0)
