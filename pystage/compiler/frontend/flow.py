"""Control flow for the passes of the front end: blocks, the jumps that leave them, and whether they complete normally."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence

from ..stage import ir, walk
from .builder import SourceStatement


class Jump(enum.Enum):
    """The three ways to leave a block."""

    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"


JUMPS: dict[type, Jump] = {ir.Break: Jump.BREAK, ir.Continue: Jump.CONTINUE, ir.Return: Jump.RETURN}


def blocks_of(instr: ir.Instr) -> list[ir.Block]:
    """The blocks directly inside an instruction, in the order of execution."""
    match instr:
        case ir.LoopElse(loop=loop, orelse=orelse):
            return [*walk.blocks_of(loop), orelse]
        case SourceStatement(body=body):
            return [body]
    return walk.blocks_of(instr)


def instructions(block: ir.Block) -> Iterator[ir.Instr]:
    """Every instruction of a block, nested blocks included, nested functions not."""
    for instr in block:
        yield instr
        for inner in blocks_of(instr):
            yield from instructions(inner)


def contains(block: ir.Block, *kinds: type) -> bool:
    """Is there an instruction of one of these classes, at any depth?"""
    return any(isinstance(instr, kinds) for instr in instructions(block))


class Jumps:
    """The jump targets of an instruction, and whether it can complete; each is computed once.

    Code that cannot be reached does not count. Answers are kept with their instruction: else its `id`
    could come to mean another one.
    """

    def __init__(self) -> None:
        self._free: dict[int, tuple[ir.Instr, frozenset[Jump]]] = {}
        self._falls: dict[int, tuple[ir.Instr, bool]] = {}

    def of(self, instr: ir.Instr) -> frozenset[Jump]:
        """The jumps inside `instr` that leave it."""
        kind = JUMPS.get(type(instr))
        if kind is not None:
            return frozenset({kind})
        if not isinstance(instr, COMPOUND):
            return frozenset()
        known = self._free.get(id(instr))
        if known is None:
            known = self._free[id(instr)] = (instr, self._inside(instr))
        return known[1]

    def of_block(self, block: Sequence[ir.Instr]) -> frozenset[Jump]:
        """The jumps that leave a block."""
        found: frozenset[Jump] = frozenset()
        for instr in block:
            found |= self.of(instr)
            if not self.falls_through(instr):
                break
        return found

    def _inside(self, instr: ir.Instr) -> frozenset[Jump]:
        match instr:
            case ir.For(body=body) | ir.While(body=body):
                return self.of_block(body) & {Jump.RETURN}
            case ir.LoopElse(loop=loop, orelse=orelse):
                reached = not (isinstance(loop, ir.While) and is_endless(loop))
                return self.of(loop) | (self.of_block(orelse) if reached else frozenset())
            case ir.Try(body=body, handlers=handlers, orelse=orelse):
                after = self.of_block(orelse) if self.completes(body) else frozenset()
                return self.of_block(body).union(after, *(self.of_block(h.body) for h in handlers))
        return frozenset[Jump]().union(*(self.of_block(block) for block in blocks_of(instr)))

    def cancellable(self, block: Sequence[ir.Instr]) -> frozenset[Jump]:
        """The jumps that leave `block` through a `finally` or a `with`, where an exception can replace them."""
        found: frozenset[Jump] = frozenset()
        for instr in block:
            jumps = self.of(instr)
            if jumps and not (isinstance(instr, ir.With) or (isinstance(instr, ir.Try) and instr.final)):
                jumps &= frozenset[Jump]().union(*map(self.cancellable, blocks_of(instr)))
            found |= jumps
        return found

    def breaks(self, loop: ir.For | ir.While) -> bool:
        """Can `break` end this loop?"""
        return Jump.BREAK in self.of_block(loop.body)

    def completes(self, block: Sequence[ir.Instr]) -> bool:
        """Can execution reach the end of the block?"""
        return all(self.falls_through(instr) for instr in block)

    def falls_through(self, instr: ir.Instr) -> bool:
        """Can execution go on after `instr`?"""
        if isinstance(instr, (ir.Return, ir.Break, ir.Continue, ir.Raise)):
            return False
        if not isinstance(instr, COMPOUND):
            return True
        known = self._falls.get(id(instr))
        if known is None:
            known = self._falls[id(instr)] = (instr, self._completes(instr))
        return known[1]

    def _completes(self, instr: ir.Instr) -> bool:
        match instr:
            case ir.If(then=then, orelse=orelse):
                return self.completes(then) or self.completes(orelse)
            case ir.While() if is_endless(instr):
                return self.breaks(instr)
            case ir.LoopElse(loop=loop, orelse=orelse):
                ends = not (isinstance(loop, ir.While) and is_endless(loop))
                return self.breaks(loop) or (ends and self.completes(orelse))
            case ir.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                ends = (self.completes(body) and self.completes(orelse)) or any(
                    self.completes(handler.body) for handler in handlers
                )
                return ends and self.completes(final)
        return True


COMPOUND = (ir.If, ir.While, ir.For, ir.With, ir.Try, ir.LoopElse)
"""The instructions that hold blocks."""


def is_endless(loop: ir.While) -> bool:
    """Is it `while True`?"""
    match loop.test:
        case [ir.Constant(dst=dst, value=value)]:
            return dst == loop.cond and bool(value)
    return False
