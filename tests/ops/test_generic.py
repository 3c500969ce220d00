"""What holds for every operation class: it is complete, and its parts agree with XLA and with each other.

The classes are found by walking the subclasses of `HloOp`. All samples of a class are one XLA module.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import numpy as np
import pytest

from pystage.compiler import ops
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import InterpretError, interpret
from pystage.compiler.hlo.ir import Region
from pystage.compiler.hlo.op import ErrorSample, HloOp, Sample
from pystage.compiler.hlo.printer import print_function
from pystage.compiler.hlo.types import (
    BFLOAT16,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    ArrayType,
    ShapeError,
)
from pystage.compiler.hlo.verify import verify

from .running import application, batch, run_xla

TOLERANCE = {FLOAT16: 2e-3, BFLOAT16: 1e-2, FLOAT32: 2e-6, FLOAT64: 1e-13, COMPLEX64: 3e-6, COMPLEX128: 1e-13}

EQUAL_ZEROS = {ops.Maximum, ops.Minimum, ops.NextAfter}
"""For these 0.0 and -0.0 are the same: NumPy leaves open, by processor, which of two zeros it returns."""

NO_ONE_OPERATION = {
    ops.AxisIndex,
    ops.JaxCall,
    ops.MaskPlaces,
    ops.MatchVarying,
    ops.ShardMap,
    ops.ShardingConstraint,
    ops.StopGradient,
    ops.Vary,
}
"""What emits whatever JAX emits, several operations, or nothing, and so has no operation to name."""

OPS = [pytest.param(op, id=op.__name__) for op in ops.concrete()]


def names_its_operation(op: type[HloOp]) -> bool:
    """Whether the docstring says which operation of which dialect the class is, as `StableHLO: add`."""
    dialect, _, name = op.opcode.rpartition(".")
    family = {"": "StableHLO", "chlo": "CHLO", "func": "MLIR"}[dialect]
    full_name = op.opcode if family == "MLIR" else name
    return re.search(rf"\b{family}:\s+{re.escape(full_name)}\b", op.__doc__ or "") is not None


def problems_of(op: type[HloOp]) -> list[str]:
    """What an operation class lacks."""
    found = []
    if op not in NO_ONE_OPERATION and not names_its_operation(op):
        found.append("the docstring does not name its operation")
    for method, other in (("infer", "infer_regions"), ("reference", "reference_regions")):
        if getattr(op, method) is getattr(HloOp, method) and getattr(op, other) is getattr(HloOp, other):
            found.append(f"no {method}")
    for method in ("samples", "error_samples"):
        if not getattr(op, method)():
            found.append(f"no {method}")
    if not op.__dataclass_params__.frozen:
        found.append("not frozen")
    declared = {name for name, kind in inspect.get_annotations(op).items() if not kind.startswith("ClassVar")}
    if declared - {f.name for f in dataclasses.fields(op)}:
        found.append("fields without @dataclass")
    return found


def assert_same(found: np.ndarray, wanted: np.ndarray, what: object, *, zero_signs: bool = True) -> None:
    """Equal dtype, shape and values: to float rounding where the type rounds, exactly elsewhere."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), what
    tolerance = TOLERANCE.get(wanted.dtype, 0.0)
    if wanted.dtype == BFLOAT16:
        found, wanted = found.astype(FLOAT32), wanted.astype(FLOAT32)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=str(what))
    if wanted.dtype.kind == "f" and zero_signs:
        zero = (wanted == 0) & (found == 0)
        assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero])), f"signs of zeros: {what}"


@pytest.mark.parametrize("op", OPS)
def test_is_complete(op: type[HloOp]) -> None:
    assert not problems_of(op)
    assert getattr(ops, op.__name__) is op, "not exported"


@pytest.mark.parametrize("op", OPS)
def test_is_a_value(op: type[HloOp]) -> None:
    for sample in op.samples():
        copy = dataclasses.replace(sample.op)
        assert copy == sample.op and hash(copy) == hash(sample.op)


@pytest.mark.parametrize("op", OPS)
def test_results_are_those_of_xla(op: type[HloOp]) -> None:
    """The inferred type is the reference's (`interpret` checks it) and XLA's, and so are the values."""
    made = batch(op.samples())
    found = run_xla(made.function, made.arguments)
    wanted = interpret(made.function, made.arguments)
    for sample, part in made.parts:
        for x, y in zip(found[part], wanted[part], strict=True):
            assert_same(x, y, sample, zero_signs=op not in EQUAL_ZEROS)


@pytest.mark.parametrize("op", OPS)
def test_verifies_and_prints(op: type[HloOp]) -> None:
    made = batch(op.samples())
    verify(made.function)
    text = print_function(made.function)
    name = re.escape(op.opcode.rpartition(".")[2])
    assert len(re.findall(rf"(?m)(?: = |^ +){name}\b", text)) >= len(made.parts)


@pytest.mark.parametrize("op", OPS)
def test_refuses_what_does_not_fit(op: type[HloOp]) -> None:
    for sample in op.error_samples():
        body = Region(sample.operands)
        b = Builder(body)
        regions = sample.regions(b, body.params) if sample.regions else ()
        before = len(body.ops)
        with pytest.raises(ShapeError) as raised:
            b.apply(sample.op, body.params, regions)
        assert sample.match in str(raised.value), sample
        assert len(body.ops) == before


class Incomplete(HloOp):
    """Lacks everything, and is abstract so that the walk leaves it out."""


class Wrong(HloOp):
    """Infers one type and computes another."""

    def infer(self, *operands: ArrayType) -> ArrayType:
        return operands[0]

    def reference(self, *operands: np.ndarray) -> Any:
        return operands[0].astype(FLOAT64)


def test_an_incomplete_class_is_found() -> None:
    wanted = [
        "the docstring does not name its operation",
        "no infer",
        "no reference",
        "no samples",
        "no error_samples",
    ]
    assert problems_of(Incomplete) == wanted


def test_a_wrong_reference_is_found() -> None:
    function = application(Wrong(), ArrayType(FLOAT32, (2,)))
    with pytest.raises(InterpretError, match="is f64\\[2\\], not f32\\[2\\]"):
        interpret(function, [np.zeros(2, np.float32)])


def test_wrong_values_are_found() -> None:
    one = np.ones(2, np.float32)
    for other in (one + 1, one.astype(np.float64), one[:1]):
        with pytest.raises(AssertionError):
            assert_same(one, other, "values")
    with pytest.raises(AssertionError, match="signs of zeros"):
        assert_same(np.array([0.0]), np.array([-0.0]), "zeros")


def test_samples_are_the_same_each_time() -> None:
    def flat(samples: list[Sample]) -> list[bytes]:
        return [x.tobytes() for s in samples for x in s.operands]

    for op in ops.concrete():
        assert flat(list(op.samples())) == flat(list(op.samples()))
        assert all(isinstance(s, ErrorSample) for s in op.error_samples())
