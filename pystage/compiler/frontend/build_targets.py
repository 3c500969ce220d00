"""Targets of assignments, loops and `del`: names, attributes, items, and nested unpacking of them."""

from __future__ import annotations

import ast
from typing import Any

from ..diagnostics.codes_syntax import UnknownSyntax
from ..stage import ir
from .build_expressions import BINARY
from .builder import StageBuilder, unstarred


def assign_to(b: StageBuilder, target: Any, value: ir.Temp) -> None:
    """Stores `value` where `target` says, its parts from left to right."""
    match target:
        case ast.Name():
            b.store(b.mangle(target.id), value, b.span(target))
        case ast.Attribute():
            obj = b.expr(target.value)
            b.emit(ir.SetAttr(b.span(target), obj, b.mangle(target.attr), value))
        case ast.Subscript():
            obj = b.expr(target.value)
            b.emit(ir.SetItem(b.span(target), obj, b.expr(target.slice), value))
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            _unpack(b, target, elements, value)
        case _:
            b.report(UnknownSyntax(node=type(target).__name__, span=b.span(target)))


def _unpack(b: StageBuilder, target: Any, elements: Any, value: ir.Temp) -> None:
    starred = [i for i, e in enumerate(elements) if isinstance(e, ast.Starred)]
    dsts = tuple(b.temp() for _ in elements)
    b.emit(ir.Unpack(b.span(target), dsts, value, starred[0] if starred else None))
    for element, dst in zip(elements, dsts):
        assign_to(b, unstarred(element), dst)


def assign(b: StageBuilder, node: Any) -> None:
    """`target = target = value`: the value first, then the targets from left to right."""
    value = b.expr(node.value)
    for target in node.targets:
        assign_to(b, target, value)


def annotated(b: StageBuilder, node: Any) -> None:
    """`target: annotation = value`; the annotation of a local is not evaluated."""
    if node.value is not None:
        assign_to(b, node.target, b.expr(node.value))
    elif not isinstance(node.target, ast.Name):
        b.expr(node.target.value)
        if isinstance(node.target, ast.Subscript):
            b.expr(node.target.slice)


def augmented(b: StageBuilder, node: Any) -> None:
    """`target op= value`: the object and the index of the target are evaluated once."""
    op = BINARY[type(node.op)]
    target = node.target
    span, place = b.span(node), b.span(target)
    old, new = b.temp(), b.temp()
    match target:
        case ast.Attribute():
            obj, attr = b.expr(target.value), b.mangle(target.attr)
            b.emit(ir.GetAttr(place, old, obj, attr))
            b.emit(ir.Inplace(span, new, op, old, b.expr(node.value)))
            b.emit(ir.SetAttr(place, obj, attr, new))
        case ast.Subscript():
            obj = b.expr(target.value)
            at = b.expr(target.slice)
            b.emit(ir.GetItem(place, old, obj, at))
            b.emit(ir.Inplace(span, new, op, old, b.expr(node.value)))
            b.emit(ir.SetItem(place, obj, at, new))
        case _:
            old = b.load(b.mangle(target.id), place)
            b.emit(ir.Inplace(span, new, op, old, b.expr(node.value)))
            b.store(b.mangle(target.id), new, place)


def delete(b: StageBuilder, node: Any) -> None:
    """`del target, …`"""
    for target in node.targets:
        _delete(b, target)


def _delete(b: StageBuilder, target: Any) -> None:
    span = b.span(target)
    match target:
        case ast.Name():
            kind, actual = b.scope.resolve(b.mangle(target.id))
            b.emit(ir.Delete(span, actual, kind))
        case ast.Attribute():
            b.emit(ir.DelAttr(span, b.expr(target.value), b.mangle(target.attr)))
        case ast.Subscript():
            obj = b.expr(target.value)
            b.emit(ir.DelItem(span, obj, b.expr(target.slice)))
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                _delete(b, element)
        case _:
            b.report(UnknownSyntax(node=type(target).__name__, span=span))
