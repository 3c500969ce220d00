"""Removes `break`, `continue` and inner `return`, without copying any statement.

Where an arm of an `if` always leaves, the rest of the block moves into its other arm: then falling off
the end is what the jump meant. What still jumps sets a flag, a boolean local that no source can name
(`.return`, `.break1`, `.continue1`), and an `if` on the flag guards what the jump skips. A loop ends by its
flag: `For.until`, or a test that begins by asking it. The returned value waits in the local `.value`.

A block in *tail position* for a kind of jump is one whose end means the same as the jump: the body of a
function for `return`, the body of a loop for `continue`. There the jump needs no flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..diagnostics.span import Span
from ..stage import ir
from .builder import LoopElse
from .flow import JUMPS, Jump, Jumps, is_endless

MAX_DEPTH = 32
"""How deep conditionals nest before flags guard the rest instead (XLA fails at a few hundred)."""

_NONE: frozenset[Jump] = frozenset()
_RETURN_FLAG = ".return"
_VALUE = ".value"


def remove_jumps(function: ir.Function) -> None:
    """Rewrites `function` and the functions nested in it so that its one `Return` is its last instruction."""
    for nested in function.nested:
        remove_jumps(nested)
    jumps = Jumps()
    lowering = _Lowering(function, jumps)
    body = list(function.body)
    place = function.span
    end = Span(place.file, place.end_line, place.end_column, place.end_line, place.end_column, place.function)
    if jumps.completes(body):
        none = lowering.temp()
        body += [ir.Constant(end, none, None), ir.Return(end, none)]
    if isinstance(body[-1], ir.Return) and not jumps.of_block(body[:-1]):
        function.body = [*lowering.plain(body[:-1]), body[-1]]
    else:
        function.body = lowering.function_body(body, end)


@dataclass(slots=True)
class _Frame:
    """The function or loop whose body is being lowered, and the flags by which it is left early.

    `leave`: the flag that ends it; `skip`: the flag that skips the rest of its body, decided when the
    whole body is known. `guards` and `skips` are the loads and stores that wait for that decision.
    """

    leave: str
    outer: _Frame | None = None
    continue_flag: str = ""
    continues: bool = False
    guards: list[ir.Load] = field(default_factory=list)
    skips: list[tuple[ir.Block, list[ir.Instr]]] = field(default_factory=list)

    def settle(self) -> None:
        """Decides which flag skips the rest of the body, and says so where it is read and set."""
        skip = self.continue_flag if self.continues else self.leave
        for load in self.guards:
            load.name = skip
        if not self.continues:
            for block, stores in self.skips:
                for instr in stores:
                    block.remove(instr)


class _Lowering:
    """One function: its new blocks, flags and temporaries. Lowered instructions are appended to `out`."""

    def __init__(self, function: ir.Function, jumps: Jumps) -> None:
        self.function = function
        self.jumps = jumps
        self.loops = 0
        self.temps = 0

    # Instructions of its own

    def temp(self) -> ir.Temp:
        """A fresh temporary; the builder's have no letter."""
        self.temps += 1
        return f"%j{self.temps}"

    def set_flag(self, out: ir.Block, name: str, value: bool, span: Span) -> list[ir.Instr]:
        """Appends `name = value`; returns the two instructions."""
        temp = self.temp()
        made: list[ir.Instr] = [ir.Constant(span, temp, value), ir.Store(span, name, temp, ir.Scope.LOCAL)]
        out += made
        return made

    def read(self, out: ir.Block, name: str, span: Span) -> ir.Load:
        """Appends a load of a local that is certainly assigned."""
        load = ir.Load(span, self.temp(), name, ir.Scope.LOCAL, certain=True)
        out.append(load)
        return load

    # Blocks

    def plain(self, block: Sequence[ir.Instr]) -> ir.Block:
        """A block from which nothing jumps out; loops in it may still have jumps of their own."""
        return self.sequence(block, _Frame(_RETURN_FLAG), _NONE, 0, [])

    def function_body(self, body: ir.Block, end: Span) -> ir.Block:
        """The body of a function that returns in several places, or nowhere."""
        frame = _Frame(_RETURN_FLAG)
        out = self.sequence(body, frame, frozenset({Jump.RETURN}), 0, [])
        frame.settle()
        if _RETURN_FLAG in self.function.locals:
            start: ir.Block = []
            self.set_flag(start, _RETURN_FLAG, False, self.function.span)
            out[:0] = start
        if Jump.RETURN not in self.jumps.of_block(body):
            none = self.temp()
            return [*out, ir.Constant(end, none, None), ir.Return(end, none)]
        self.function.locals |= {_VALUE}
        value = self.read(out, _VALUE, end)
        out.append(ir.Return(end, value.dst))
        return out

    def sequence(
        self, block: Sequence[ir.Instr], frame: _Frame, tail: frozenset[Jump], depth: int, out: ir.Block
    ) -> ir.Block:
        """Lowers a block. Too many jumping statements for one nest become guarded segments, side by side."""
        jumping = [i for i, instr in enumerate(block) if self.jumps.of(instr)]
        budget = max(1, MAX_DEPTH - depth - 1)
        cuts = [i + 1 for i in jumping[budget - 1 : -1 : budget]]
        for start, end in zip([0, *cuts], [*cuts, len(block)]):
            piece = block[start:end]
            piece_tail = tail if end == len(block) else _NONE
            if start == 0:
                self.segment(piece, frame, piece_tail, depth, out)
            else:
                self.guard(out, piece, frame, piece_tail, depth)
        return out

    def guard(
        self, out: ir.Block, rest: Sequence[ir.Instr], frame: _Frame, tail: frozenset[Jump], depth: int
    ) -> None:
        """Appends `if not skipped: rest`."""
        if not rest:
            return
        span = rest[0].span
        load = self.read(out, "", span)
        frame.guards.append(load)
        branch = ir.If(span, load.dst, [], [])
        out.append(branch)
        self.segment(rest, frame, tail, depth + 1, branch.orelse)

    def segment(
        self, block: Sequence[ir.Instr], frame: _Frame, tail: frozenset[Jump], depth: int, out: ir.Block
    ) -> None:
        """Lowers statements up to the first that jumps; what follows that one moves or is guarded."""
        for i, instr in enumerate(block):
            free = self.jumps.of(instr)
            rest = block[i + 1 :] if self.jumps.falls_through(instr) else []
            kind = JUMPS.get(type(instr))
            if kind is not None:
                self.jump(out, instr, kind, frame, tail)
                return
            if isinstance(instr, LoopElse):
                self.loop_else(out, instr, rest, frame, tail, depth)
                return
            if isinstance(instr, ir.If) and free and self.absorb(out, instr, rest, frame, tail, depth):
                return
            self.compound(out, instr, frame, _NONE if rest else tail, depth)
            if free:
                self.guard(out, rest, frame, tail, depth)
                return
            if isinstance(instr, ir.Raise):
                return

    def absorb(
        self,
        out: ir.Block,
        branch: ir.If,
        rest: Sequence[ir.Instr],
        frame: _Frame,
        tail: frozenset[Jump],
        depth: int,
    ) -> bool:
        """Moves `rest` into the arm that completes, if the other one always leaves."""
        then_ends, else_ends = self.jumps.completes(branch.then), self.jumps.completes(branch.orelse)
        if rest and then_ends and else_ends:
            return False
        lowered = ir.If(branch.span, branch.cond, [], [])
        out.append(lowered)
        for arm, ends, into in (
            (branch.then, then_ends, lowered.then),
            (branch.orelse, else_ends, lowered.orelse),
        ):
            self.sequence([*arm, *rest] if ends else arm, frame, tail, depth + 1, into)
        return True

    def compound(
        self, out: ir.Block, instr: ir.Instr, frame: _Frame, tail: frozenset[Jump], depth: int
    ) -> None:
        """Lowers one statement; what follows it is the caller's business."""
        match instr:
            case ir.If(then=then, orelse=orelse):
                branch = ir.If(instr.span, instr.cond, [], [])
                out.append(branch)
                self.sequence(then, frame, tail, depth + 1, branch.then)
                self.sequence(orelse, frame, tail, depth + 1, branch.orelse)
            case ir.With(body=body):
                lowered = ir.With(instr.span, instr.manager, instr.entered, [])
                out.append(lowered)
                self.sequence(body, frame, tail, depth, lowered.body)
            case ir.Try():
                self.try_(out, instr, frame, tail, depth)
            case ir.For() | ir.While():
                self.loop(out, instr, frame, depth)
            case _:
                out.append(instr)

    def try_(self, out: ir.Block, instr: ir.Try, frame: _Frame, tail: frozenset[Jump], depth: int) -> None:
        """`else` runs only if the body was not left by a jump; nothing leaves a `finally`."""
        lowered = ir.Try(instr.span, [], [], [], self.plain(instr.final))
        out.append(lowered)
        self.sequence(instr.body, frame, _NONE if instr.orelse else tail, depth, lowered.body)
        for handler in instr.handlers:
            new = ir.Handler(handler.span, self.plain(handler.test), handler.kind, handler.target, [])
            self.sequence(handler.body, frame, tail, depth, new.body)
            lowered.handlers.append(new)
        if not self.jumps.completes(instr.body):
            return
        if self.jumps.of_block(instr.body):
            self.guard(lowered.orelse, instr.orelse, frame, tail, depth)
        else:
            self.sequence(instr.orelse, frame, tail, depth, lowered.orelse)

    # Jumps and loops

    def jump(self, out: ir.Block, instr: ir.Instr, kind: Jump, frame: _Frame, tail: frozenset[Jump]) -> None:
        """What a jump does: nothing in tail position, else it sets the flags of all that it leaves."""
        if isinstance(instr, ir.Return):
            out.append(ir.Store(instr.span, _VALUE, instr.value, ir.Scope.LOCAL))
        if kind in tail:
            return
        if kind is Jump.CONTINUE:
            self.set_flag(out, frame.continue_flag, True, instr.span)
            frame.continues = True
            return
        leaving: _Frame | None = frame
        while leaving is not None:
            in_tail = leaving is frame and Jump.CONTINUE in tail
            if leaving.continue_flag and not in_tail:
                made = self.set_flag(out, leaving.continue_flag, True, instr.span)
                leaving.skips.append((out, made))
            if leaving.leave != _RETURN_FLAG:
                self.set_flag(out, leaving.leave, True, instr.span)
            leaving = leaving.outer if kind is Jump.RETURN else None
        if kind is Jump.RETURN:
            self.function.locals |= {_RETURN_FLAG}
            self.set_flag(out, _RETURN_FLAG, True, instr.span)

    def loop(self, out: ir.Block, loop: ir.For | ir.While, frame: _Frame, depth: int) -> str:
        """Lowers a loop; returns the flag by which it is left, if there is one."""
        free = self.jumps.of_block(loop.body)
        self.loops += 1
        number = self.loops
        leave = ""
        if Jump.BREAK in free:
            leave = f".break{number}"
            self.function.locals |= {leave}
            self.set_flag(out, leave, False, loop.span)
        elif Jump.RETURN in free:
            leave = _RETURN_FLAG
        inner = _Frame(leave, frame, f".continue{number}")
        body = self.sequence(loop.body, inner, frozenset({Jump.CONTINUE}), depth, [])
        inner.settle()
        if inner.continues:
            self.function.locals |= {inner.continue_flag}
            start: ir.Block = []
            self.set_flag(start, inner.continue_flag, False, loop.span)
            body[:0] = start
        if isinstance(loop, ir.For):
            out.append(ir.For(loop.span, loop.iterable, loop.target, body, leave or None))
        else:
            out.append(ir.While(loop.span, self.test(loop, leave), loop.cond, body))
        return leave

    def test(self, loop: ir.While, leave: str) -> ir.Block:
        """The test of a `while`: false once the flag is set, without evaluating what the source asks."""
        if not leave:
            return self.plain(loop.test)
        out: ir.Block = []
        flag = self.read(out, leave, loop.span)
        if is_endless(loop):
            out.append(ir.Unary(loop.span, loop.cond, "not", flag.dst))
            return out
        stop: ir.Block = [ir.Constant(loop.span, loop.cond, False)]
        out.append(ir.If(loop.span, flag.dst, stop, self.plain(loop.test)))
        return out

    def loop_else(
        self,
        out: ir.Block,
        instr: LoopElse,
        rest: Sequence[ir.Instr],
        frame: _Frame,
        tail: frozenset[Jump],
        depth: int,
    ) -> None:
        """`else` of a loop: what follows the loop, unless `break` ended it."""
        leave = self.loop(out, instr.loop, frame, depth)
        following: list[ir.Instr] = []
        if Jump.BREAK in self.jumps.of_block(instr.loop.body):
            flag = self.read(following, leave, instr.span)
            following.append(ir.If(instr.span, flag.dst, [], instr.orelse))
        elif self.jumps.falls_through(instr.loop):
            following += instr.orelse
        following += rest
        if self.jumps.of(instr.loop):
            self.guard(out, following, frame, tail, depth)
        else:
            self.segment(following, frame, tail, depth, out)
