"""Statements to stage IR. Jumps remain, and `jumps.py` removes them."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ..diagnostics.codes_syntax import (
    AsyncCode,
    GeneratorFunction,
    JumpInFinally,
    UnsupportedImport,
)
from ..stage import ir
from .build_comprehensions import comprehension, loop_over
from .build_expressions import KEYWORDS, test
from .build_targets import assign, assign_to
from .builder import LoopElse, StageBuilder
from .flow import contains

_CONSTANTS = (cst.SimpleString, cst.Integer, cst.Float, cst.Imaginary, cst.Ellipsis)


def line(b: StageBuilder, node: Any) -> None:
    """Small statements on one line."""
    for small in node.body:
        b.statement(small)


def nothing(b: StageBuilder, node: Any) -> None:
    """`pass`, `global`, `nonlocal`: no instruction."""


def expression(b: StageBuilder, node: Any) -> None:
    """An expression for its effect; docstrings and other constants have none."""
    value = node.value
    if isinstance(value, cst.Yield) and isinstance(value.value, cst.From):
        _yield_from(b, value)
        return
    if isinstance(value, _CONSTANTS) or (isinstance(value, cst.Name) and value.value in KEYWORDS):
        return
    b.expr(value)


def yield_(b: StageBuilder, node: Any) -> ir.Temp:
    """`yield value`, whose own value is None: nobody sends another to a generator that a loop goes over."""
    span = b.span(node)
    if isinstance(node.value, cst.From):
        b.report(GeneratorFunction(span=span, why="the value of `yield from` is used"))
    else:
        value = b.constant(None, span) if node.value is None else b.expr(node.value)
        b.emit_yield(node, value)
    return b.constant(None, span)


def _yield_from(b: StageBuilder, node: Any) -> None:
    """`yield from iterable` as a statement: a loop that yields each element."""
    loop = ir.For(b.span(node), b.expr(node.value.item), b.temp(), [])
    with b.into(loop.body):
        b.emit_yield(node, loop.target)
    b.emit(loop)


def assignment(b: StageBuilder, node: Any) -> None:
    """`a = b = value`; unpacking consumes a generator expression at once."""
    unpacks = all(isinstance(t.target, (cst.Tuple, cst.List)) for t in node.targets)
    if isinstance(node.value, cst.GeneratorExp) and unpacks and len(node.targets) == 1:
        assign_to(b, node.targets[0].target, comprehension(b, node.value))
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
        if not isinstance(node.orelse, cst.If):
            break
        node = node.orelse
    if node.orelse is not None:
        b.suite(node.orelse.body, b.block)
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
    if node.asynchronous is not None:
        b.report(AsyncCode(keyword="async for", span=b.span(node.asynchronous)))
    if isinstance(node.iter, cst.GeneratorExp) and node.iter.for_in.inner_for_in is not None:
        b.unit.generators.add(node.iter)  # `break` leaves all of its loops

    def on_element(element: ir.Temp) -> None:
        assign_to(b, node.target, element)
        with b.inside("loop"):
            b.suite(node.body, b.block)

    _emit_loop(b, node, loop_over(b, node.iter, node, on_element))


def _emit_loop(b: StageBuilder, node: Any, loop: ir.For | ir.While) -> None:
    if node.orelse is None:
        b.emit(loop)
    else:
        b.emit(LoopElse(loop.span, loop, b.suite(node.orelse.body)))


def with_(b: StageBuilder, node: Any) -> None:
    """`with a as x, b as y: …`: several managers nest."""
    if node.asynchronous is not None:
        b.report(AsyncCode(keyword="async with", span=b.span(node.asynchronous)))
    outer = b.block
    for item in node.items:
        block = ir.With(b.span(item), b.expr(item.item), b.temp(), [])
        b.emit(block)
        b.block = block.body
        if item.asname is not None:
            assign_to(b, item.asname.name, block.entered)
    with b.inside("with"):
        b.suite(node.body, b.block)
    b.block = outer


def raise_(b: StageBuilder, node: Any) -> None:
    """`raise exc from cause`"""
    exc = None if node.exc is None else b.expr(node.exc)
    cause = None if node.cause is None else b.expr(node.cause.item)
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
    instr = ir.Try(b.span(node), [], [], [], [])
    has_final = node.finalbody is not None
    with b.inside("try"):
        b.suite(node.body, instr.body)
    with b.inside("try" if has_final else "handler"):
        instr.handlers = [_handler(b, handler) for handler in node.handlers]
        if node.orelse is not None:
            b.suite(node.orelse.body, instr.orelse)
    if has_final:
        with b.inside("finally"):
            b.suite(node.finalbody.body, instr.final)
    b.emit(instr)


def _handler(b: StageBuilder, node: Any) -> ir.Handler:
    with b.into([]) as block:
        kind = None if node.type is None else b.expr(node.type)
    handler = ir.Handler(b.span(node), block, kind, b.temp(), [])
    body = b.suite(node.body)
    if node.name is None:
        handler.body = body
        return handler
    name, span = b.mangle(node.name.name.value), b.span(node.name)
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
        parts = _dotted(alias.name)
        span = b.span(alias)
        value = b.temp()
        b.emit(ir.Import(span, value, ".".join(parts), ""))
        if alias.asname is None:
            b.store(b.mangle(parts[0]), value, span)
            continue
        for part in parts[1:]:
            dst = b.temp()
            b.emit(ir.GetAttr(span, dst, value, part))
            value = dst
        assign_to(b, alias.asname.name, value)


def import_from(b: StageBuilder, node: Any) -> None:
    """`from module import name as other`"""
    if isinstance(node.names, cst.ImportStar):
        b.report(UnsupportedImport(form="from … import *", span=b.span(node)))
        return
    module = "" if node.module is None else ".".join(_dotted(node.module))
    for alias in node.names:
        value = b.temp()
        b.emit(ir.Import(b.span(alias), value, module, alias.name.value, len(node.relative)))
        target = alias.name if alias.asname is None else alias.asname.name
        assign_to(b, target, value)


def _dotted(node: Any) -> list[str]:
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.insert(0, node.attr.value)
        node = node.value
    return [node.value, *parts]
