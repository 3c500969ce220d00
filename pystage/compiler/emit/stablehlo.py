"""A whole program emitted as StableHLO at the insertion point of a JAX lowering rule.

In: a function of HLO IR and the MLIR values of its parameters. Out: the MLIR values of its results. The
function's body is inlined where the rule stands; each function that it calls becomes one private `func.func`
of the same module, however often it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func

from ..hlo.ir import Function
from ..hlo.mlir import Emitter


class _Callees:
    """The private functions of one program in one module."""

    def __init__(self, module_context: Any, location: ir.Location, lowering: Any) -> None:
        self._module_context = module_context
        self._symbols: dict[Function, str] = {}
        self.emitter = Emitter(self.symbol_of, location, lowering)

    def symbol_of(self, function: Function) -> str:
        """The symbol of `function`, which is emitted when it is first asked for."""
        found = self._symbols.get(function)
        return self._emit(function) if found is None else found

    def _emit(self, function: Function) -> str:
        e = self.emitter
        params = [e.type(t) for t in function.param_types]
        results = [e.type(t) for t in function.result_types]
        made = func.FuncOp(
            function.name,
            ir.FunctionType.get(params, results),
            visibility="private",
            ip=ir.InsertionPoint(self._module_context.module.body),
            loc=e.location_of(function.span),
        )
        # The symbol table renames the function if the module has one of that name.
        symbol: str = ir.StringAttr(self._module_context.symbol_table.insert(made)).value
        self._symbols[function] = symbol
        outer = e.location
        e.emit_region(function.body, made.regions[0], "func.return")
        e.location = outer
        return symbol


def emit_inline(lowering: Any, function: Function, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """Emits `function` applied to `operands` at the current insertion point of a JAX lowering rule.

    `lowering` is JAX's `LoweringRuleContext`. An operand of another element type than its parameter (JAX
    narrows 64-bit constants where `jax_enable_x64` is off) is converted first.
    """
    location = ir.Location.current
    e = _Callees(lowering.module_context, location, lowering).emitter
    for param, operand in zip(function.body.params, operands, strict=True):
        wanted = e.type(param.type)
        if operand.type != wanted:
            operand = e.create("convert", [param.type], [operand]).results[0]
        e.values[param] = operand
    for op in function.body.ops:
        e.emit_op(op)
    return [e.values[value] for value in function.body.results]
