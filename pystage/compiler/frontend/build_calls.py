"""Calls and callables: lambdas, nested functions, zero-argument `super()`."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ..diagnostics.codes_syntax import AsyncCode, GenericFunction
from ..stage import ir
from .build_comprehensions import comprehension, generator_call
from .builder import StageBuilder, Unit
from .scope import ScopeKind, VariableScope

_KINDS = {"": ir.ArgKind.POSITIONAL, "*": ir.ArgKind.STAR, "**": ir.ArgKind.DOUBLE_STAR}


def call(b: StageBuilder, node: Any) -> ir.Temp:
    """`func(…)`: the function, then positional, then keyword arguments, as CPython evaluates them."""
    special = generator_call(b, node)
    if special is not None:
        return special
    func = b.expr(node.func)
    args = _super_arguments(b, node) or _arguments(b, node.args)
    dst = b.temp()
    b.emit(ir.Call(b.span(node), dst, func, args))
    return dst


def _arguments(b: StageBuilder, nodes: Any) -> tuple[ir.Arg, ...]:
    def is_keyword(arg: Any) -> bool:
        return arg.keyword is not None or arg.star == "**"

    args: list[ir.Arg] = []
    ordered = sorted(nodes, key=is_keyword)
    for place, node in enumerate(ordered):
        if node.keyword is not None:
            args.append(ir.Arg(ir.ArgKind.KEYWORD, b.expr(node.value), node.keyword.value))
        elif node.star == "*" and isinstance(node.value, cst.GeneratorExp):
            args.append(ir.Arg(ir.ArgKind.STAR, comprehension(b, node.value)))
        else:
            value = b.expr(node.value)
            if node.star == "*":
                value = b.spliced(value, [other.value for other in ordered[place + 1 :]], b.span(node))
            args.append(ir.Arg(_KINDS[node.star], value))
    return tuple(args)


def _super_arguments(b: StageBuilder, node: Any) -> tuple[ir.Arg, ...]:
    """`super()` in a method means `super(__class__, self)` (PEP 3135)."""
    frame = b.scope.function
    if (
        node.args
        or not isinstance(node.func, cst.Name)
        or node.func.value != "super"
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
    decorators = [b.expr(decorator.decorator) for decorator in node.decorators]
    value = _make(b, node, node.name.value)
    for decorator, at in zip(reversed(decorators), reversed(node.decorators)):
        dst = b.temp()
        b.emit(ir.Call(b.span(at), dst, decorator, (ir.Arg(ir.ArgKind.POSITIONAL, value),)))
        value = dst
    b.store(b.mangle(node.name.value), value, b.span(node.name))


def _make(b: StageBuilder, node: Any, name: str) -> ir.Temp:
    params = node.params
    ordered = (*params.posonly_params, *params.params)
    defaults = tuple(b.expr(p.default) for p in ordered if p.default is not None)
    kw_defaults = tuple(
        (b.mangle(p.name.value), b.expr(p.default)) for p in params.kwonly_params if p.default is not None
    )
    function = build_frame(b.unit, b.unit.scopes[node], node, name, f"{b.qualname}.<locals>.{name}")
    b.nested.append(function)
    dst = b.temp()
    span = b.span(node) if isinstance(node, cst.Lambda) else b.header(node, node.name)
    b.emit(ir.MakeFunction(span, dst, function, defaults, kw_defaults))
    return dst


def build_frame(unit: Unit, scope: VariableScope, node: Any, name: str, qualname: str) -> ir.Function:
    """The stage IR of one `FunctionDef` or `Lambda`, jumps still in it."""
    b = StageBuilder(unit, scope, qualname)
    span = b.span(node)
    is_lambda = isinstance(node, cst.Lambda)
    if is_lambda:
        b.emit(ir.Return(b.span(node.body), b.expr(node.body)))
    else:
        if node.asynchronous is not None:
            b.report(AsyncCode(keyword="async def", span=b.span(node.asynchronous)))
        if node.type_parameters is not None and scope.parent is not None:
            b.report(GenericFunction(span=b.span(node.type_parameters)))
        b.suite(node.body, b.block)
    return b.finish(name, signature(b, node.params), span, b.block, is_lambda=is_lambda)


def signature(b: StageBuilder, params: Any) -> ir.Parameters:
    """The parameters by kind."""

    def names(nodes: Any) -> tuple[str, ...]:
        return tuple(b.mangle(node.name.value) for node in nodes)

    star = params.star_arg
    double_star = params.star_kwarg
    return ir.Parameters(
        positional_only=names(params.posonly_params),
        positional=names(params.params),
        star=b.mangle(star.name.value) if isinstance(star, cst.Param) else None,
        keyword_only=names(params.kwonly_params),
        double_star=b.mangle(double_star.name.value) if double_star is not None else None,
    )
