"""Traversals of stage IR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from ..diagnostics.span import Span
from . import ir as stage


def blocks_of(i: stage.Instr) -> list[stage.Block]:
    """The blocks that an instruction holds."""
    match i:
        case stage.If():
            return [i.then, i.orelse]
        case stage.While():
            return [i.test, i.body]
        case stage.For() | stage.With() | stage.Yield():
            return [i.body]
        case stage.LoopElse():
            return [[i.loop], i.orelse]
        case stage.Try():
            handlers = [block for h in i.handlers for block in (h.test, h.body)]
            return [i.body, *handlers, i.orelse, i.final]
        case _:
            return []


def walk(block: stage.Block) -> Iterator[stage.Instr]:
    """Every instruction, inner ones included, in the order of the source."""
    for i in block:
        yield i
        for inner in blocks_of(i):
            yield from walk(inner)


def uses_of_temps(block: stage.Block) -> dict[str, int]:
    """How often each temporary is read."""
    found: dict[str, int] = {}
    for i in walk(block):
        for each in fields(i):
            if each.name not in ("dst", "dsts"):
                for temp in _temps(getattr(i, each.name)):
                    found[temp] = found.get(temp, 0) + 1
    return found


def _temps(operand: object) -> Iterator[str]:
    """The temporaries among the operands of an instruction; those of inner blocks are not."""
    if isinstance(operand, str) and stage.is_temp(operand):
        yield operand
    elif isinstance(operand, tuple):
        for part in operand:
            yield from _temps(part)
    elif is_dataclass(operand) and not isinstance(operand, Span):
        for part in fields(operand):
            yield from _temps(getattr(operand, part.name))
