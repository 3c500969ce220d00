"""Calls and callables: lambdas, nested functions, zero-argument `super()`."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from ..diagnostics.codes_syntax import AsyncCode, GenericFunction
from ..stage import ir
from .build_comprehensions import comprehension, generator_call
from .builder import StageBuilder, Unit
from .scope import ScopeKind, VariableScope
from .source import start_of


def call(b: StageBuilder, node: Any) -> ir.Temp:
    """`func(…)`: the function, then positional, then keyword arguments, as CPython evaluates them."""
    special = generator_call(b, node)
    if special is not None:
        return special
    func = b.expr(node.func)
    args = _super_arguments(b, node) or _arguments(b, node)
    dst = b.temp()
    b.emit(ir.Call(b.span(node), dst, func, args))
    return dst


def _arguments(b: StageBuilder, node: ast.Call) -> tuple[ir.Arg, ...]:
    args: list[ir.Arg] = []
    ordered = [*node.args, *[keyword.value for keyword in node.keywords]]
    for place, arg in enumerate(node.args):
        if not isinstance(arg, ast.Starred):
            args.append(ir.Arg(ir.ArgKind.POSITIONAL, b.expr(arg)))
        elif isinstance(arg.value, ast.GeneratorExp):
            args.append(ir.Arg(ir.ArgKind.STAR, comprehension(b, arg.value)))
        else:
            value = b.spliced(b.expr(arg.value), ordered[place + 1 :], b.span(arg))
            args.append(ir.Arg(ir.ArgKind.STAR, value))
    for keyword in node.keywords:
        kind = ir.ArgKind.DOUBLE_STAR if keyword.arg is None else ir.ArgKind.KEYWORD
        args.append(ir.Arg(kind, b.expr(keyword.value), keyword.arg or ""))
    return tuple(args)


def _super_arguments(b: StageBuilder, node: Any) -> tuple[ir.Arg, ...]:
    """`super()` in a method means `super(__class__, self)` (PEP 3135)."""
    frame = b.scope.function
    if (
        node.args
        or node.keywords
        or not isinstance(node.func, ast.Name)
        or node.func.id != "super"
        or not b.is_usual("super")
    ):
        return ()
    if frame.kind is not ScopeKind.FUNCTION or not frame.parameters:
        return ()
    if b.scope.resolve("__class__")[0] is not ir.StorageClass.CELL:
        return ()
    span = b.span(node)
    with b.within(frame):
        values = b.load("__class__", span), b.load(frame.parameters[0], span)
    return tuple(ir.Arg(ir.ArgKind.POSITIONAL, value) for value in values)


def lambda_(b: StageBuilder, node: Any) -> ir.Temp:
    """`lambda …: …`"""
    return _make(b, node, "<lambda>")


def function_def(b: StageBuilder, node: Any) -> None:
    """`def` inside a function: decorators and defaults are evaluated now, the last decorator called first."""
    decorators = [b.expr(decorator) for decorator in node.decorator_list]
    value = _make(b, node, node.name)
    for decorator, at in zip(reversed(decorators), reversed(node.decorator_list)):
        dst = b.temp()
        b.emit(ir.Call(b.span(at), dst, decorator, (ir.Arg(ir.ArgKind.POSITIONAL, value),)))
        value = dst
    b.store(b.mangle(node.name), value, b.word(node.name, start_of(node)))


def _make(b: StageBuilder, node: Any, name: str) -> ir.Temp:
    params = node.args
    defaults = tuple(b.expr(default) for default in params.defaults)
    kw_defaults = tuple(
        (b.mangle(p.arg), b.expr(default))
        for p, default in zip(params.kwonlyargs, params.kw_defaults)
        if default is not None
    )
    function = build_frame(b.unit, b.unit.scopes[node], node, name, f"{b.qualname}.<locals>.{name}")
    b.nested.append(function)
    dst = b.temp()
    span = b.span(node)
    if not isinstance(node, ast.Lambda):
        named = b.word(name, start_of(node))
        span = replace(span, end_line=named.end_line, end_column=named.end_column)
    b.emit(ir.MakeFunction(span, dst, function, defaults, kw_defaults))
    return dst


def build_frame(unit: Unit, scope: VariableScope, node: Any, name: str, qualname: str) -> ir.Function:
    """The stage IR of one function definition or lambda, jumps still in it."""
    b = StageBuilder(unit, scope, qualname)
    span = b.span(node)
    is_lambda = isinstance(node, ast.Lambda)
    if is_lambda:
        b.emit(ir.Return(b.span(node.body), b.expr(node.body)))
    else:
        if isinstance(node, ast.AsyncFunctionDef):
            b.report(AsyncCode(keyword="async def", span=b.word("async", start_of(node))))
        if getattr(node, "type_params", None) and scope.parent is not None:  # since Python 3.12
            b.report(GenericFunction(span=b.header(node.type_params[0], node.type_params[-1])))
        b.suite(node.body, b.block)
    return b.finish(name, signature(b, node.args), span, b.block, is_lambda=is_lambda)


def signature(b: StageBuilder, params: ast.arguments) -> ir.Parameters:
    """The parameters by kind."""

    def names(nodes: list[ast.arg]) -> tuple[str, ...]:
        return tuple(b.mangle(node.arg) for node in nodes)

    return ir.Parameters(
        positional_only=names(params.posonlyargs),
        positional=names(params.args),
        star=None if params.vararg is None else b.mangle(params.vararg.arg),
        keyword_only=names(params.kwonlyargs),
        double_star=None if params.kwarg is None else b.mangle(params.kwarg.arg),
    )
