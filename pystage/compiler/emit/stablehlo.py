"""Emits a program as StableHLO: inside a lowering of JAX's, or as a module of its own.

`emit_inline`: in, a function of HLO IR and the MLIR values of its parameters; out, the MLIR values of its results. The
body is inlined at JAX's insertion point. `emit_module`: in, a function; out, a module with it as `main`. Either way, each
callee becomes one private `func.func` of the same module, however often it is called.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from jax.interpreters import mlir as jax_mlir
from jax.interpreters.mlir import ir
from jaxlib.mlir.dialects import func

from ..hlo.ir import Function
from ..hlo.mlir import Emitter, ModuleCache
from ..hlo.walk import kinds
from ..ops.collectives.shard_map import body_p


class _Callees:
    """The private functions of one program in one module."""

    def __init__(
        self,
        module: ir.Module,
        symbol_table: ir.SymbolTable,
        location: ir.Location,
        lowering: Any = None,
        made: ModuleCache | None = None,
    ) -> None:
        self._module = module
        self._symbol_table = symbol_table
        self._symbols: dict[Function, str] = {}
        self.emitter = Emitter(self.symbol_of, location, lowering, made)

    def symbol_of(self, function: Function) -> str:
        """The symbol of `function`, which is emitted on first use."""
        found = self._symbols.get(function)
        return self._emit(function) if found is None else found

    def _emit(self, function: Function) -> str:
        e = self.emitter
        params = [e.type(t) for t in function.param_types]
        if function.kernel:
            params = [e.packed(params)]
        results = [e.type(t) for t in function.result_types]
        attributes = {
            "sym_name": ir.StringAttr.get(function.name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(params, results)),
            "sym_visibility": ir.StringAttr.get("private"),
        }
        made = ir.Operation.create(
            "func.func",
            attributes=attributes,
            regions=1,
            loc=e.location_of(function.span),
            ip=ir.InsertionPoint(self._module.body),
        )
        # The symbol table renames the function if the module has one of that name.
        symbol: str = ir.StringAttr(self._symbol_table.insert(made)).value
        self._symbols[function] = symbol
        outer = e.location
        e.emit_region(function.body, made.regions[0], "func.return", packed=function.kernel)
        e.location = outer
        return symbol


def emit_inline(lowering: Any, function: Function, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """Emits `function` applied to `operands` at the current insertion point of a JAX lowering rule.

    `lowering` is JAX's `LoweringRuleContext`. An operand of another element type than its parameter (JAX
    narrows 64-bit constants where `jax_enable_x64` is off) is converted first.
    """
    location = ir.Location.current
    context = lowering.module_context
    e = _Callees(context.module, context.symbol_table, location, lowering).emitter
    for param, operand in zip(function.body.params, operands, strict=True):
        wanted = e.type(param.type)
        if operand.type != wanted:
            operand = e.create("convert", [param.type], [operand]).results[0]
        e.values[param] = operand
    for op in function.body.ops:
        e.emit_op(op)
    return [e.values[value] for value in function.body.results]


def _emit_body(lowering: Any, *operands: ir.Value, function: Function) -> list[ir.Value]:
    return emit_inline(lowering, function, operands)


jax_mlir.register_lowering(body_p, _emit_body)


def stands_alone(function: Function) -> bool:
    """True if `emit_module` can emit the program: nothing in it is lowered by JAX."""
    return not any(kind.lowered_by_jax for kind in kinds(function))


def emit_module(function: Function, name: str) -> ir.Module:
    """The program as a StableHLO module named after `name`, with `function` as its public `main`.

    For a program that `stands_alone`. JAX's modules add what JAX knows of arguments and results (names,
    donation, sharding); the operations are the same.
    """
    context, made = _CONTEXTS.next()
    with context, ir.Location.unknown() as location:
        module = ir.Module.create()
        module.operation.attributes["sym_name"] = ir.StringAttr.get(re.sub(r"\W", "_", f"jit_{name}"))
        table = ir.SymbolTable(module.operation)
        e = _Callees(module, table, location, made=made).emitter
        types = ir.FunctionType.get(
            [e.type(t) for t in function.param_types], [e.type(t) for t in function.result_types]
        )
        main = func.FuncOp("main", types, visibility="public", ip=ir.InsertionPoint(module.body))
        table.insert(main)
        e.emit_region(function.body, main.regions[0], "func.return")
        return module


class _Contexts(threading.local):
    """This thread's MLIR context for modules of ours: to make one takes longer than to emit a large program.

    A context keeps all types and constants that were ever made in it, so it serves a limited number of modules.
    """

    MODULES = 64

    def __init__(self) -> None:
        self._left = 0
        self._context: ir.Context | None = None
        self._made = ModuleCache()

    def next(self) -> tuple[ir.Context, ModuleCache]:
        """The context for one more module, and what was made in it."""
        if self._context is None or not self._left:
            self._context, self._left, self._made = jax_mlir.make_ir_context(), self.MODULES, ModuleCache()
        self._left -= 1
        return self._context, self._made


_CONTEXTS = _Contexts()
