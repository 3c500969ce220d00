"""What the passes of the front end ask of control flow: blocks, the jumps that leave them, what completes."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence

from ..stage import ir
from .builder import LoopElse


class Jump(enum.Enum):
    """The three ways to leave a block."""

    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"


JUMPS: dict[type, Jump] = {ir.Break: Jump.BREAK, ir.Continue: Jump.CONTINUE, ir.Return: Jump.RETURN}


def blocks_of(instr: ir.Instr) -> Iterator[ir.Block]:
    """The blocks directly inside an instruction, in the order of execution."""
    match instr:
        case ir.If(then=then, orelse=orelse):
            yield from (then, orelse)
        case ir.While(test=test, body=body):
            yield from (test, body)
        case ir.For(body=body) | ir.With(body=body):
            yield body
        case LoopElse(loop=loop, orelse=orelse):
            yield from blocks_of(loop)
            yield orelse
        case ir.Try(body=body, handlers=handlers, orelse=orelse, final=final):
            yield body
            for handler in handlers:
                yield from (handler.test, handler.body)
            yield from (orelse, final)


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
    """What an instruction may jump to, and whether it can complete; each is computed once."""

    def __init__(self) -> None:
        self._free: dict[int, tuple[ir.Instr, frozenset[Jump]]] = {}

    def of(self, instr: ir.Instr) -> frozenset[Jump]:
        """The jumps inside `instr` that leave it."""
        known = self._free.get(id(instr))
        if known is None:
            # The instruction is kept with its answer: else its id could come to mean another one.
            known = self._free[id(instr)] = (instr, self._compute(instr))
        return known[1]

    def of_block(self, block: Sequence[ir.Instr]) -> frozenset[Jump]:
        """The jumps that leave a block."""
        return frozenset().union(*map(self.of, block))

    def _compute(self, instr: ir.Instr) -> frozenset[Jump]:
        kind = JUMPS.get(type(instr))
        if kind is not None:
            return frozenset({kind})
        match instr:
            case ir.For(body=body) | ir.While(body=body):
                return self.of_block(body) & {Jump.RETURN}
            case LoopElse(loop=loop, orelse=orelse):
                return self.of(loop) | self.of_block(orelse)
        return frozenset().union(*(self.of_block(block) for block in blocks_of(instr)))

    def completes(self, block: Sequence[ir.Instr]) -> bool:
        """Can execution reach the end of the block?"""
        return all(self.falls_through(instr) for instr in block)

    def falls_through(self, instr: ir.Instr) -> bool:
        """Can execution go on after `instr`?"""
        match instr:
            case ir.Return() | ir.Break() | ir.Continue() | ir.Raise():
                return False
            case ir.If(then=then, orelse=orelse):
                return self.completes(then) or self.completes(orelse)
            case ir.While(body=body) if is_endless(instr):
                return Jump.BREAK in self.of_block(body)
            case LoopElse(loop=loop, orelse=orelse):
                breaks = Jump.BREAK in self.of_block(loop.body)
                return breaks or (self.falls_through(loop) and self.completes(orelse))
            case ir.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                ends = (self.completes(body) and self.completes(orelse)) or any(
                    self.completes(handler.body) for handler in handlers
                )
                return ends and self.completes(final)
        return True


def is_endless(loop: ir.While) -> bool:
    """Is it `while True`?"""
    match loop.test:
        case [ir.Constant(dst=dst, value=value)]:
            return dst == loop.cond and bool(value)
    return False
