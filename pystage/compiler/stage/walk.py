"""Traversals of stage IR."""

from __future__ import annotations

from collections.abc import Iterator

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
