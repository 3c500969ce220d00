"""Removal of `break`, `continue` and inner `return`, without copies of any statement.

If an arm of an `if` always leaves, the rest of the block moves into the other arm: the end of the block then means the
same as the jump. So it moves into the `else` of a `try` without `finally` whose handlers all leave. Every other jump
sets a flag, a boolean local that no source can name (`.return`, `.break1`, `.continue1`), and an `if` on the flag
guards the statements that the jump skips. A loop exits by its flag: `For.until`, or a test that first reads it. The
returned value is kept in the local `.value`.

A block in *tail position* for a kind of jump is one whose end means the same as the jump: the body of a
function for `return`, the body of a loop for `continue`. There the jump needs no flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from ...records import dataclass
from .. import limits
from ..diagnostics.span import Span
from ..stage import ir
from .flow import JUMPS, Jump, Jumps, is_endless

_RETURN_FLAG = ".return"
_VALUE = ".value"


def remove_jumps(function: ir.Function) -> None:
    """Rewrites `function` and the functions nested in it so that its one `Return` is its last instruction.

    Generators stay as they are until they are fused with a loop.
    """
    for nested in function.nested:
        remove_jumps(nested)
    if not function.is_generator:
        remove_own_jumps(function)


def remove_own_jumps(function: ir.Function) -> None:
    """Rewrites `function` alone."""
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
class _ExitFrame:
    """The function or loop whose body is being lowered, and the flags by which it is left early.

    `leave`: the flag that ends it; `skip`: the flag that skips the rest of its body, decided when the
    whole body is known. `guards` and `skips` are the loads and stores that wait for that decision.
    """

    leave: str
    outer: _ExitFrame | None = None
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
                _remove(block, stores)


def _results(block: Sequence[ir.Instr]) -> set[ir.Temp]:
    """The temporaries that the instructions of a block write."""
    return {instr.dst for instr in block if hasattr(instr, "dst")}


def _remove(block: ir.Block, instrs: Sequence[ir.Instr]) -> None:
    for instr in instrs:
        block.remove(instr)


@dataclass(slots=True)
class _Anchor:
    """An `if` after which blocks can run that would nest too deep inside it: each by its flag."""

    deferred: list[tuple[str, Sequence[ir.Instr], _Position]] = field(default_factory=list)


@dataclass(slots=True, frozen=True)
class _Position:
    """Where a block stands: in whose body, in tail position for which jumps, how deep.

    `anchor`: the outermost `if` around it after which nothing in it is followed by anything.
    """

    frame: _ExitFrame
    tail: frozenset[Jump] = frozenset()
    depth: int = 0
    anchor: _Anchor | None = None

    def followed(self) -> _Position:
        """The same position, with something after it."""
        return _Position(self.frame, frozenset(), self.depth)

    def unanchored(self) -> _Position:
        """Inside a statement that does something when it is left."""
        return _Position(self.frame, self.tail, self.depth)

    def deeper(self, anchor: _Anchor | None = None) -> _Position:
        """Inside one more conditional."""
        return _Position(self.frame, self.tail, self.depth + 1, anchor or self.anchor)


class _Lowering:
    """One function: its new blocks, flags and temporaries. Lowered instructions are appended to `out`."""

    def __init__(self, function: ir.Function, jumps: Jumps) -> None:
        self.function = function
        self.jumps = jumps
        self.loops = 0
        self.temps = 0
        self.deferrals = 0
        self.undone: list[tuple[ir.Block, list[ir.Instr]]] = []

    # Instructions of its own

    def temp(self) -> ir.Temp:
        """A fresh temporary; the builder's have no letter."""
        self.temps += 1
        return f"%j{self.temps}"

    def set_flag(self, out: ir.Block, name: str, value: bool, span: Span) -> list[ir.Instr]:
        """Appends `name = value`; returns the two instructions."""
        temp = self.temp()
        made: list[ir.Instr] = [
            ir.Constant(span, temp, value),
            ir.Store(span, name, temp, ir.StorageClass.LOCAL),
        ]
        out += made
        return made

    def read(self, out: ir.Block, name: str, span: Span) -> ir.Load:
        """Appends a load of a local that is certainly assigned."""
        load = ir.Load(span, self.temp(), name, ir.StorageClass.LOCAL, certain=True)
        out.append(load)
        return load

    # Blocks

    def plain(self, block: Sequence[ir.Instr]) -> ir.Block:
        """A block from which nothing jumps out; loops in it may still have jumps of their own."""
        return self.sequence(block, _Position(_ExitFrame(_RETURN_FLAG)), [])

    def function_body(self, body: ir.Block, end: Span) -> ir.Block:
        """The body of a function that returns in several places, or nowhere."""
        frame = _ExitFrame(_RETURN_FLAG)
        out = self.sequence(body, _Position(frame, frozenset({Jump.RETURN})), [])
        frame.settle()
        if _RETURN_FLAG not in self.function.locals:
            for undone_in, made in self.undone:
                _remove(undone_in, made)
        else:
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

    def sequence(self, block: Sequence[ir.Instr], place: _Position, out: ir.Block) -> ir.Block:
        """Lowers a block; one that would nest too deep waits, if nothing follows it, until its anchor is done."""
        anchor = place.anchor
        deep = place.depth >= limits.NESTED_CONDITIONALS and any(isinstance(instr, ir.If) for instr in block)
        if anchor is None or not deep:
            return self.segments(block, place, out)
        self.deferrals += 1
        flag = f".else{self.deferrals}"
        self.function.locals |= {flag}
        self.set_flag(out, flag, True, block[0].span)
        anchor.deferred.append((flag, block, place))
        return out

    def segments(self, block: Sequence[ir.Instr], place: _Position, out: ir.Block) -> ir.Block:
        """Lowers a block. Too many jumping statements for one nest become guarded segments, side by side."""
        jumping = [i for i, instr in enumerate(block) if self.jumps.of(instr)]
        budget = max(1, limits.NESTED_CONDITIONALS - place.depth - 1)
        cuts = [i + 1 for i in jumping[budget - 1 : -1 : budget]]
        for start, end in zip([0, *cuts], [*cuts, len(block)]):
            piece = block[start:end]
            here = place if end == len(block) else place.followed()
            if start == 0:
                self.segment(piece, here, out)
            else:
                self.guard(out, piece, here)
        return out

    def guard(self, out: ir.Block, rest: Sequence[ir.Instr], place: _Position) -> None:
        """Appends `if not skipped: rest`."""
        if not rest:
            return
        span = rest[0].span
        load = self.read(out, "", span)
        place.frame.guards.append(load)
        branch = ir.If(span, load.dst, [], [])
        out.append(branch)
        self.segment(rest, place.deeper(), branch.orelse)

    def segment(self, block: Sequence[ir.Instr], place: _Position, out: ir.Block) -> None:
        """Lowers statements up to the first that jumps; what follows that one moves or is guarded."""
        for i, instr in enumerate(block):
            if not isinstance(instr, ir.LoopElse) and not self.jumps.of(instr):
                self.compound(out, instr, place.followed() if i + 1 < len(block) else place)
                if isinstance(instr, ir.Raise):
                    return
                continue
            rest = block[i + 1 :] if self.jumps.falls_through(instr) else []
            kind = JUMPS.get(type(instr))
            if kind is not None:
                self.jump(out, instr, kind, place)
            elif isinstance(instr, ir.LoopElse):
                self.loop_else(out, instr, rest, place)
            elif not self.absorb(out, instr, rest, place):
                self.compound(out, instr, place.followed() if rest else place)
                self.guard(out, rest, place)
            return

    def absorb(self, out: ir.Block, instr: ir.Instr, rest: Sequence[ir.Instr], place: _Position) -> bool:
        """Moves `rest` to where `instr` completes, if the other arms of an `if`, the handlers of a `try` always leave."""
        completes = self.jumps.completes
        match instr:
            case ir.If(then=then, orelse=orelse) if not (rest and completes(then) and completes(orelse)):
                then = [*then, *rest] if completes(then) else then
                orelse = [*orelse, *rest] if completes(orelse) else orelse
                self.branch(out, instr, then, orelse, place)
                return True
            case ir.Try(handlers=handlers, final=[]) if rest and not any(completes(h.body) for h in handlers):
                moved = ir.Try(instr.span, instr.body, handlers, [*instr.orelse, *rest], [])
                self.compound(out, moved, place.deeper())
                return True
        return False

    def branch(
        self,
        out: ir.Block,
        branch: ir.If,
        then: Sequence[ir.Instr],
        orelse: Sequence[ir.Instr],
        place: _Position,
    ) -> None:
        """Lowers an `if`; what its arms deferred follows it, side by side."""
        lowered = ir.If(branch.span, branch.cond, [], [])
        anchor = place.anchor or _Anchor()
        inner = place.deeper(anchor)
        if inner.depth >= limits.NESTED_CONDITIONALS and _results(then) & _results(
            orelse
        ):  # both arms give a value
            inner = replace(inner, anchor=None)
        start = len(out)
        out.append(lowered)
        self.sequence(then, inner, lowered.then)
        self.sequence(orelse, inner, lowered.orelse)
        if place.anchor is not None:
            return
        for flag, block, origin in anchor.deferred:  # grows while it is walked
            unset: ir.Block = []
            self.set_flag(unset, flag, False, branch.span)
            out[start:start] = unset
            load = self.read(out, flag, block[0].span)
            late = ir.If(load.span, load.dst, [], [])
            out.append(late)
            self.segments(block, _Position(origin.frame, origin.tail, inner.depth, anchor), late.then)

    def compound(self, out: ir.Block, instr: ir.Instr, place: _Position) -> None:
        """Lowers one statement; what follows it is the caller's business."""
        match instr:
            case ir.If(then=then, orelse=orelse):
                self.branch(out, instr, then, orelse, place)
            case ir.With(body=body):
                lowered = ir.With(instr.span, instr.manager, instr.entered, [])
                out.append(lowered)
                into = self.undoing(lowered, self.jumps.cancellable(body), place)
                self.sequence(body, place.unanchored(), into)
            case ir.Try():
                self.try_(out, instr, place.unanchored())
            case ir.For() | ir.While():
                self.loop(out, instr, place)
            case _:
                out.append(instr)

    def try_(self, out: ir.Block, instr: ir.Try, place: _Position) -> None:
        """`else` runs only if the body was not left by a jump; nothing leaves a `finally`."""
        lowered = ir.Try(instr.span, [], [], [], self.plain(instr.final))
        out.append(lowered)
        self.sequence(instr.body, place.followed() if instr.orelse else place, lowered.body)
        for handler in instr.handlers:
            new = ir.Handler(handler.span, self.plain(handler.test), handler.kind, handler.target, [])
            self.undo(new.body, self.jumps.cancellable(instr.body), place, handler.span)
            self.sequence(handler.body, place, new.body)
            lowered.handlers.append(new)
        if not self.jumps.completes(instr.body):
            return
        if self.jumps.of_block(instr.body):
            self.guard(lowered.orelse, instr.orelse, place)
        else:
            self.sequence(instr.orelse, place, lowered.orelse)

    # Jumps and loops

    def jump(self, out: ir.Block, instr: ir.Instr, kind: Jump, place: _Position) -> None:
        """The instructions of a jump: none in tail position, else it sets the flags of all blocks that it leaves."""
        frame, tail = place.frame, place.tail
        if isinstance(instr, ir.Return):
            out.append(ir.Store(instr.span, _VALUE, instr.value, ir.StorageClass.LOCAL))
        if kind in tail:
            return
        if kind is Jump.CONTINUE:
            self.set_flag(out, frame.continue_flag, True, instr.span)
            frame.continues = True
            return
        leaving: _ExitFrame | None = frame
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

    def undo(self, out: ir.Block, cancelled: frozenset[Jump], place: _Position, span: Span) -> None:
        """Takes back the flags of jumps that an exception, raised in a `finally` on their way, has replaced."""
        leaving: _ExitFrame | None = place.frame if cancelled else None
        while leaving is not None:
            if leaving.continue_flag:
                leaving.skips.append((out, self.set_flag(out, leaving.continue_flag, False, span)))
            if leaving.leave not in ("", _RETURN_FLAG):
                self.set_flag(out, leaving.leave, False, span)
            leaving = leaving.outer if Jump.RETURN in cancelled else None
        if Jump.RETURN in cancelled:
            self.undone.append((out, self.set_flag(out, _RETURN_FLAG, False, span)))

    def undoing(self, block: ir.With, cancelled: frozenset[Jump], place: _Position) -> ir.Block:
        """Where the body of a `with` goes: its manager may swallow the exception that replaced a jump."""
        if not cancelled:
            return block.body
        handler = ir.Handler(block.span, [], None, self.temp(), [])
        self.undo(handler.body, cancelled, place, block.span)
        handler.body.append(ir.Raise(block.span, None))
        guarded = ir.Try(block.span, [], [handler], [], [])
        block.body.append(guarded)
        return guarded.body

    def loop(self, out: ir.Block, loop: ir.For | ir.While, place: _Position) -> str:
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
        inner = _ExitFrame(leave, place.frame, f".continue{number}")
        body = self.sequence(loop.body, _Position(inner, frozenset({Jump.CONTINUE}), place.depth), [])
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
        self, out: ir.Block, instr: ir.LoopElse, rest: Sequence[ir.Instr], place: _Position
    ) -> None:
        """`else` of a loop: what follows the loop, unless `break` ended it."""
        leave = self.loop(out, instr.loop, place)
        following: list[ir.Instr] = []
        if isinstance(instr.loop, ir.While) and is_endless(instr.loop):
            pass  # only jumps end it: the `else` is never reached
        elif self.jumps.breaks(instr.loop):
            flag = self.read(following, leave, instr.span)
            following.append(ir.If(instr.span, flag.dst, [], instr.orelse))
        else:
            following += instr.orelse
        following += rest
        if self.jumps.of(instr.loop):
            self.guard(out, following, place)
        else:
            self.segment(following, place, out)
