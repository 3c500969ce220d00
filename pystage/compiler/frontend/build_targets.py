"""Targets of assignments, loops and `del`: names, attributes, items, and nested unpacking of them."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ..diagnostics.codes_syntax import UnknownSyntax
from ..stage import ir
from .build_expressions import BINARY, index
from .builder import StageBuilder

AUGMENTED: dict[type, str] = {
    getattr(cst, f"{kind.__name__}Assign"): op
    for kind, op in BINARY.items()
    if hasattr(cst, f"{kind.__name__}Assign")
}


def assign_to(b: StageBuilder, target: Any, value: ir.Temp) -> None:
    """Stores `value` where `target` says, its parts from left to right."""
    match target:
        case cst.Name():
            b.store(b.mangle(target.value), value, b.span(target))
        case cst.Attribute():
            obj = b.expr(target.value)
            b.emit(ir.SetAttr(b.span(target), obj, b.mangle(target.attr.value), value))
        case cst.Subscript():
            obj = b.expr(target.value)
            b.emit(ir.SetItem(b.span(target), obj, index(b, target), value))
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            _unpack(b, target, elements, value)
        case _:
            b.report(UnknownSyntax(node=type(target).__name__, span=b.span(target)))


def _unpack(b: StageBuilder, target: Any, elements: Any, value: ir.Temp) -> None:
    starred = [i for i, e in enumerate(elements) if isinstance(e, cst.StarredElement)]
    dsts = tuple(b.temp() for _ in elements)
    b.emit(ir.Unpack(b.span(target), dsts, value, starred[0] if starred else None))
    for element, dst in zip(elements, dsts):
        assign_to(b, element.value, dst)


def assign(b: StageBuilder, node: Any) -> None:
    """`target = target = value`: the value first, then the targets from left to right."""
    value = b.expr(node.value)
    for target in node.targets:
        assign_to(b, target.target, value)


def annotated(b: StageBuilder, node: Any) -> None:
    """`target: annotation = value`; the annotation of a local is not evaluated."""
    if node.value is not None:
        assign_to(b, node.target, b.expr(node.value))
    elif not isinstance(node.target, cst.Name):
        b.expr(node.target.value)
        if isinstance(node.target, cst.Subscript):
            index(b, node.target)


def augmented(b: StageBuilder, node: Any) -> None:
    """`target op= value`: the object and the index of the target are evaluated once."""
    op = AUGMENTED[type(node.operator)]
    target = node.target
    span, place = b.span(node), b.span(target)
    old, new = b.temp(), b.temp()
    match target:
        case cst.Attribute():
            obj, attr = b.expr(target.value), b.mangle(target.attr.value)
            b.emit(ir.GetAttr(place, old, obj, attr))
            b.emit(ir.Inplace(span, new, op, old, b.expr(node.value)))
            b.emit(ir.SetAttr(place, obj, attr, new))
        case cst.Subscript():
            obj = b.expr(target.value)
            at = index(b, target)
            b.emit(ir.GetItem(place, old, obj, at))
            b.emit(ir.Inplace(span, new, op, old, b.expr(node.value)))
            b.emit(ir.SetItem(place, obj, at, new))
        case _:
            old = b.load(b.mangle(target.value), place)
            b.emit(ir.Inplace(span, new, op, old, b.expr(node.value)))
            b.store(b.mangle(target.value), new, place)


def delete(b: StageBuilder, node: Any) -> None:
    """`del target, …`"""
    _delete(b, node.target)


def _delete(b: StageBuilder, target: Any) -> None:
    span = b.span(target)
    match target:
        case cst.Name():
            kind, actual = b.scope.resolve(b.mangle(target.value))
            b.emit(ir.Delete(span, actual, kind))
        case cst.Attribute():
            b.emit(ir.DelAttr(span, b.expr(target.value), b.mangle(target.attr.value)))
        case cst.Subscript():
            obj = b.expr(target.value)
            b.emit(ir.DelItem(span, obj, index(b, target)))
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                _delete(b, element.value)
        case _:
            b.report(UnknownSyntax(node=type(target).__name__, span=span))
