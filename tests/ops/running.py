"""Builds a function from applications of operations and runs it through XLA, for the tests of operations.

A function becomes one JAX primitive's lowering, as in the real runtime but without any of it: the module
goes through MLIR's verifier and XLA's compiler, and what comes out is compared by the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func
from jax.interpreters import mlir
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from pystage.compiler.emit import stablehlo as emission  # noqa: F401  (lowers the functions of `shard_map`)
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.mlir import Emitter
from pystage.compiler.hlo.op import HloOp, Sample
from pystage.compiler.hlo.types import ArrayType
from pystage.compiler.hlo.walk import kinds
from pystage.compiler.ops.collectives.base import Collective

_run = Primitive("pystage_test")
_run.multiple_results = True


def type_of(array: np.ndarray) -> ArrayType:
    """The HLO type of a NumPy array."""
    return ArrayType(array.dtype, array.shape)


def application(op: HloOp, *types: ArrayType, regions: Any = None) -> Function:
    """The function that applies `op` to parameters of these types, with the regions that `regions` builds."""
    body = Region(tuple(types))
    b = Builder(body)
    made = b.apply(op, body.params, regions(b, body.params) if regions else ())
    body.results = made.results
    return Function("main", body)


@dataclass(frozen=True)
class Batch:
    """One function of many samples, its arguments, and which of its results belong to which sample."""

    function: Function
    arguments: tuple[np.ndarray, ...]
    parts: tuple[tuple[Sample, slice], ...]


def batch(samples: Sequence[Sample]) -> Batch:
    """All samples as one function, so that they are compiled together; each has parameters of its own."""
    body = Region()
    b = Builder(body)
    arguments: list[np.ndarray] = []
    results: list[Any] = []
    parts = []
    for sample in samples:
        params = [body.add_param(type_of(x)) for x in sample.operands]
        arguments += sample.operands
        made = b.apply(sample.op, params, sample.regions(b, params) if sample.regions else ())
        parts.append((sample, slice(len(results), len(results) + len(made.results))))
        results += made.results
    body.results = tuple(results)
    return Batch(Function("main", body), tuple(arguments), tuple(parts))


def run_xla(function: Function, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The function's results as XLA computes them, float64 and all other types kept."""
    with jax.enable_x64(True):
        program = jax.jit(_alone(function), keep_unused=True)
        return tuple(np.asarray(r) for r in program(*arguments))


def _alone(function: Function) -> Any:
    """The function in JAX; one with collectives as the only participant of their axis `i`."""

    def program(*xs: Any) -> Any:
        return _run.bind(*xs, function=function)

    if not any(issubclass(kind, Collective) for kind in kinds(function)):
        return program
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
    return jax.shard_map(program, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)


def stablehlo(function: Function) -> str:
    """The module's text, after MLIR's verifier has seen it."""
    return str(_lowered(function).as_text())


def compiled(function: Function) -> Any:
    """What XLA makes of the function, which is not run: its arrays may be larger than any memory."""
    with jax.enable_x64(True):
        return _lowered(function).compile()


def _lowered(function: Function) -> Any:
    with jax.enable_x64(True):
        program = jax.jit(_alone(function), keep_unused=True)
        shapes = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in function.param_types]
        return program.lower(*shapes)


@_run.def_abstract_eval
def _abstract(*_: Any, function: Function) -> list[Any]:
    return [jax.core.ShapedArray(t.shape, t.dtype) for t in function.result_types]


def _lower(context: Any, *arguments: ir.Value, function: Function) -> Sequence[ir.Value]:
    location = ir.Location.current or ir.Location.unknown()
    names: dict[Function, str] = {}

    def symbol_of(callee: Function) -> str:
        if callee not in names:
            names[callee] = f"{callee.name}_{len(names)}"
            _define(e, context.module_context.module, names[callee], callee)
        return names[callee]

    e = Emitter(symbol_of, location, context)
    return _emit(e, function.body, arguments)


def _define(e: Emitter, module: ir.Module, name: str, function: Function) -> None:
    """Adds a private function to the module."""
    types = ir.FunctionType.get(
        [e.type(t) for t in function.param_types], [e.type(t) for t in function.result_types]
    )
    with e.location:
        op = func.FuncOp(name, types, visibility="private", ip=ir.InsertionPoint(module.body))
    e.emit_region(function.body, op.body, "func.return")


def _emit(e: Emitter, region: Region, arguments: Sequence[ir.Value]) -> list[ir.Value]:
    e.values.update(zip(region.params, arguments, strict=True))
    for op in region.ops:
        e.emit_op(op)
    return [e.values[r] for r in region.results]


mlir.register_lowering(_run, _lower)
