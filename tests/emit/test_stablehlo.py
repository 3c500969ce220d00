"""Programs in a module of JAX: callees once, names of their own, places of the source, what must run."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np
import pytest

from pystage.compiler import limits
from pystage.compiler.diagnostics.span import Span
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region, Value
from pystage.compiler.hlo.types import FLOAT64, ArrayType
from pystage.compiler.ops import Add, Call, Negate
from pystage.compiler.pipeline import Request, build
from pystage.compiler.values.boundary import ConstantTemplate, Form, LeafSpec, Program
from pystage.runtime.executables.primitive import bind

TYPE = ArrayType(FLOAT64, (2,))
GIVEN = LeafSpec(0, TYPE, Form.NDARRAY)


def lowered(functions: Sequence[Function], *, debug: bool = False) -> str:
    """The module of a `jax.jit` that runs these programs, one after the other, on one array."""

    def run(x: jax.Array) -> list[jax.Array]:
        found = []
        for function in functions:
            program = Program(function, (0,), (), (), (), ConstantTemplate(None), ())
            request = Request(lowered, "f", None, (GIVEN,), {}, lambda leaf: None, str)
            staged = build(lambda *args, **options: program, request, {})  # noqa: B023
            found += bind(staged, [x])
        return found

    with jax.enable_x64(True):
        text: str = jax.jit(run).lower(np.ones(2)).as_text(debug_info=debug)
    return text


def callee(name: str, span: Span | None = None, fence: bool = False) -> Function:
    """A function that negates an array."""
    body = Region((TYPE,))
    b = Builder(body)
    b.span = span
    body.results = (b.op(Negate(), body.params[0]),)
    return Function(name, body, span, fence)


def caller(*called: Function, span: Span | None = None) -> Function:
    """A function that calls these in turn."""
    body = Region((TYPE,))
    b = Builder(body)
    b.span = span
    value: Value = body.params[0]
    for function in called:
        value = b.op(Call(function), value)
    body.results = (b.op(Add(), value, value),)
    return Function("caller", body)


@pytest.fixture
def no_inlining(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test: no function is small enough to be inlined."""
    monkeypatch.setattr(limits, "INLINED_OPERATIONS", 0)


@pytest.mark.usefixtures("no_inlining")
def test_a_callee_is_one_private_function() -> None:
    layer = callee("layer")
    text = lowered([caller(layer, layer, layer)])
    assert text.count("func.func private @layer") == 1
    assert text.count("call @layer") == 3
    assert text.count("stablehlo.negate") == 1


@pytest.mark.usefixtures("no_inlining")
def test_functions_of_one_name_have_symbols_of_their_own() -> None:
    one, two = callee("layer"), callee("layer")
    text = lowered([caller(one, one, two, two), caller(one, one)])
    assert text.count("func.func private @layer") == 3
    symbols = {line.split("@")[1].split("(")[0] for line in text.splitlines() if "func.func private" in line}
    assert len(symbols) == 3


@pytest.mark.usefixtures("no_inlining")
def test_a_function_may_be_called_main() -> None:
    layer = callee("main")
    text = lowered([caller(layer, layer)])
    assert "func.func public @main" in text and "func.func private @main_0" in text


@pytest.mark.parametrize("fence", [False, True])
def test_calls_of_a_fence_are_not_inlined(fence: bool) -> None:
    layer = callee("layer", fence=fence)
    text = lowered([caller(layer)])
    assert text.count("call @layer") == int(fence)
    assert text.count('inlineable = "false"') == int(fence)


def test_operations_have_the_place_of_their_source() -> None:
    span = Span("/there/model.py", 12, 4, 12, 9, "Model.run")
    inner = Span("/there/layer.py", 7, 8, 7, 9, "Layer.run")
    layer = callee("layer", inner)
    text = lowered([caller(layer, layer, span=span)], debug=True)
    assert '"/there/model.py":12:5' in text and '"Model.run"' in text
    assert '"/there/layer.py":7:9' in text and '"Layer.run"' in text


def test_operands_that_jax_narrowed_are_converted() -> None:
    program = Program(caller(callee("layer")), (0,), (), (), (), ConstantTemplate(None), ())
    request = Request(lowered, "f", None, (GIVEN,), {}, lambda leaf: None, str)
    staged = build(lambda *args, **options: program, request, {})
    (got,) = jax.jit(lambda x: bind(staged, [x]))(np.ones(2, np.float32))
    assert got.dtype == np.float64 and got.tolist() == [-2.0, -2.0]
