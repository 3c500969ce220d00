"""Statements to stage IR. Jumps remain, and `jumps.py` removes them."""

from __future__ import annotations

import ast
from typing import Any

from ..diagnostics.codes_syntax import (
    AsyncCode,
    ClassInFunction,
    ExceptStar,
    GeneratorFunction,
    JumpInFinally,
    UnsupportedImport,
)
from ..stage import ir
from .build_comprehensions import comprehension, loop_over
from .build_expressions import test
from .build_targets import assign, assign_to
from .builder import StageBuilder
from .flow import contains
from .source import end_of, start_of


def nothing(b: StageBuilder, node: Any) -> None:
    """`pass`, `global`, `nonlocal`: no instruction."""


def expression(b: StageBuilder, node: Any) -> None:
    """An expression for its effect; docstrings and other constants have none."""
    value = node.value
    if isinstance(value, ast.YieldFrom):
        _yield_from(b, value)
    elif not isinstance(value, ast.Constant):
        b.expr(value)


def yield_(b: StageBuilder, node: Any) -> ir.Temp:
    """`yield value`, whose own value is None: nobody sends another to a generator that a loop goes over."""
    span = b.span(node)
    b.emit_yield(node, b.constant(None, span) if node.value is None else b.expr(node.value))
    return b.constant(None, span)


def yield_from_value(b: StageBuilder, node: Any) -> ir.Temp:
    """`yield from` where its own value, what the inner generator returns, is used."""
    span = b.span(node)
    b.report(GeneratorFunction(span=span, why="the value of `yield from` is used"))
    return b.constant(None, span)


def _yield_from(b: StageBuilder, node: Any) -> None:
    """`yield from iterable` as a statement: a loop that yields each element."""
    loop = ir.For(b.span(node), b.expr(node.value), b.temp(), [])
    with b.into(loop.body):
        b.emit_yield(node, loop.target)
    b.emit(loop)


def assignment(b: StageBuilder, node: Any) -> None:
    """`a = b = value`; unpacking consumes a generator expression at once."""
    unpacks = all(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets)
    if isinstance(node.value, ast.GeneratorExp) and unpacks and len(node.targets) == 1:
        assign_to(b, node.targets[0], comprehension(b, node.value))
    else:
        assign(b, node)


def return_(b: StageBuilder, node: Any) -> None:
    """`return value`"""
    span = b.span(node)
    if "finally" in b.surroundings:
        b.report(JumpInFinally(keyword="return", span=span))
    value = b.constant(None, span) if node.value is None else b.expr(node.value)
    b.emit(ir.Return(span, value))


def break_(b: StageBuilder, node: Any) -> None:
    """`break`"""
    _leave_loop(b, node, "break", ir.Break(b.span(node)))


def continue_(b: StageBuilder, node: Any) -> None:
    """`continue`"""
    _leave_loop(b, node, "continue", ir.Continue(b.span(node)))


def _leave_loop(b: StageBuilder, node: Any, keyword: str, jump: ir.Instr) -> None:
    nearest = next((s for s in reversed(b.surroundings) if s in ("loop", "finally")), "loop")
    if nearest == "finally":
        b.report(JumpInFinally(keyword=keyword, span=b.span(node)))
    b.emit(jump)


def if_(b: StageBuilder, node: Any) -> None:
    """`if … elif … else`, without recursion along the chain."""
    outer = b.block
    while True:
        branch = ir.If(b.header(node, node.test), test(b, node.test), [], [])
        b.suite(node.body, branch.then)
        b.emit(branch)
        b.block = branch.orelse
        alone = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        if not alone or b.unit.statements is not None:
            break
        node = node.orelse[0]
    b.suite(node.orelse, b.block)
    b.block = outer


def while_(b: StageBuilder, node: Any) -> None:
    """`while test: … else: …`"""
    with b.into([]) as block:
        cond = test(b, node.test)
    loop = ir.While(b.header(node, node.test), block, cond, [])
    with b.inside("loop"):
        b.suite(node.body, loop.body)
    _emit_loop(b, node, loop)


def for_(b: StageBuilder, node: Any) -> None:
    """`for target in iter: … else: …`"""
    if isinstance(node, ast.AsyncFor):
        b.report(AsyncCode(keyword="async for", span=b.word("async", start_of(node))))
    if isinstance(node.iter, ast.GeneratorExp) and len(node.iter.generators) > 1:
        b.unit.generators.add(node.iter)  # `break` leaves all of its loops

    def on_element(element: ir.Temp) -> None:
        assign_to(b, node.target, element)
        with b.inside("loop"):
            b.suite(node.body, b.block)

    _emit_loop(b, node, loop_over(b, node.iter, b.header(node, node.iter), on_element))


def _emit_loop(b: StageBuilder, node: Any, loop: ir.For | ir.While) -> None:
    if node.orelse:
        b.emit(ir.LoopElse(loop.span, loop, b.suite(node.orelse)))
    else:
        b.emit(loop)


def with_(b: StageBuilder, node: Any) -> None:
    """`with a as x, b as y: …`: several managers nest."""
    if isinstance(node, ast.AsyncWith):
        b.report(AsyncCode(keyword="async with", span=b.word("async", start_of(node))))
    outer = b.block
    for item in node.items:
        span = b.header(item.context_expr, item.optional_vars or item.context_expr)
        block = ir.With(span, b.expr(item.context_expr), b.temp(), [])
        b.emit(block)
        b.block = block.body
        if item.optional_vars is not None:
            assign_to(b, item.optional_vars, block.entered)
    with b.inside("with"):
        b.suite(node.body, b.block)
    b.block = outer


def class_(b: StageBuilder, node: Any) -> None:
    """`class name: …`, which is refused; the variable is bound for what is said of the rest."""
    span = b.word(node.name, start_of(node))
    b.report(ClassInFunction(name=node.name, span=span))
    b.store(b.mangle(node.name), b.constant(None, span), span)


def raise_(b: StageBuilder, node: Any) -> None:
    """`raise exc from cause`"""
    exc = None if node.exc is None else b.expr(node.exc)
    cause = None if node.cause is None else b.expr(node.cause)
    b.emit(ir.Raise(b.span(node), exc, cause))


def assert_(b: StageBuilder, node: Any) -> None:
    """`assert test, message`: the message is evaluated only if the test fails; nothing under `python -O`."""
    if not __debug__:
        return
    span = b.span(node)
    branch = ir.If(span, test(b, node.test), [], [])
    with b.into(branch.orelse):
        error = b.constant(AssertionError, span)
        if node.msg is not None:
            message, error_class = b.expr(node.msg), error
            error = b.temp()
            b.emit(ir.Call(span, error, error_class, (ir.Arg(ir.ArgKind.POSITIONAL, message),)))
        b.emit(ir.Raise(span, error))
    b.emit(branch)


def try_(b: StageBuilder, node: Any) -> None:
    """`try … except … else … finally`"""
    if isinstance(node, ast.TryStar):
        at: Any = node.handlers[0].type
        b.report(ExceptStar(span=b.span(at)))
    instr = ir.Try(b.span(node), [], [], [], [])
    has_final = bool(node.finalbody)
    with b.inside("try"):
        b.suite(node.body, instr.body)
    with b.inside("try" if has_final else "handler"):
        instr.handlers = [_handler(b, handler) for handler in node.handlers]
        b.suite(node.orelse, instr.orelse)
    if has_final:
        with b.inside("finally"):
            b.suite(node.finalbody, instr.final)
    b.emit(instr)


def _handler(b: StageBuilder, node: Any) -> ir.Handler:
    with b.into([]) as block:
        kind = None if node.type is None else b.expr(node.type)
    handler = ir.Handler(b.span(node), block, kind, b.temp(), [])
    body = b.suite(node.body)
    if node.name is None:
        handler.body = body
        return handler
    name, span = b.mangle(node.name), b.word(node.name, end_of(node.type))
    with b.into([]) as unbind:
        b.store(name, b.constant(None, span), span)
        kind_of_name, actual = b.scope.resolve(name)
        b.emit(ir.Delete(span, actual, kind_of_name))
    with b.into(handler.body):
        b.store(name, handler.target, span)
    if _outlives(b, body, kind_of_name):
        handler.body.append(ir.Try(span, body, [], [], unbind))
    else:
        handler.body += [*body, *unbind]
    return handler


def _outlives(b: StageBuilder, body: ir.Block, kind: ir.StorageClass) -> bool:
    """Can anyone see, after the handler was left by a jump or an exception, whether its name was unbound?"""
    if "try" in b.surroundings or contains(body, ir.Break, ir.Continue):
        return True
    return kind is not ir.StorageClass.LOCAL


def import_(b: StageBuilder, node: Any) -> None:
    """`import a.b as c`: `Import` gives the package `a`; with `as`, its part `b` is fetched from it."""
    for alias in node.names:
        parts = alias.name.split(".")
        span = b.span(alias)
        value = b.temp()
        b.emit(ir.Import(span, value, alias.name, ""))
        if alias.asname is None:
            b.store(b.mangle(parts[0]), value, span)
            continue
        for part in parts[1:]:
            dst = b.temp()
            b.emit(ir.GetAttr(span, dst, value, part))
            value = dst
        b.store(b.mangle(alias.asname), value, span)


def import_from(b: StageBuilder, node: Any) -> None:
    """`from module import name as other`"""
    if node.names[0].name == "*":
        b.report(UnsupportedImport(form="from … import *", span=b.span(node)))
        return
    for alias in node.names:
        value, span = b.temp(), b.span(alias)
        b.emit(ir.Import(span, value, node.module or "", alias.name, node.level))
        b.store(b.mangle(alias.asname or alias.name), value, span)
