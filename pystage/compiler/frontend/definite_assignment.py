"""Definite assignment: marks the loads whose variable is assigned on every path to them.

Java's rule (JLS 16) on structured code that still has its jumps. `jumps.py` would hide it: `while True: x = …; if …: break`
assigns `x` before the loop ends, but the loop on a flag that replaces it may seem not to run at all. A variable that was
read is assigned. The analysis is conservative: an unmarked load may still be safe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import field

from ...records import dataclass
from ..stage import ir
from .builder import SourceStatement
from .flow import blocks_of, instructions, is_endless

_State = frozenset[str] | None
"""The variables that are assigned; None where execution does not get to."""


def mark_assigned(function: ir.Function) -> Assignment:
    """Sets `certain` on the loads of `function`, and of the functions nested in it."""
    for nested in function.nested:
        mark_assigned(nested)
    unsure = frozenset[str]().union(*map(_deleted_inside, function.nested))
    assignment = Assignment((function.locals | function.cells) - unsure)
    assignment.block(function.body, frozenset(function.params.names()) - unsure)
    return assignment


def _deleted(instrs: Iterable[ir.Instr]) -> frozenset[str]:
    return frozenset(instr.name for instr in instrs if isinstance(instr, ir.Delete))


def _deleted_inside(function: ir.Function) -> frozenset[str]:
    """The variables of functions around it that a nested function deletes."""
    inner = frozenset[str]().union(*map(_deleted_inside, function.nested))
    return (inner | _deleted(instructions(function.body))) & function.free


def _join(*states: _State) -> _State:
    known = [state for state in states if state is not None]
    return frozenset.intersection(*known) if known else None


@dataclass(slots=True)
class Assignment:
    """Walks a function with the set of variables that are assigned. `breaks`: the states at each `break`.

    `finals`: what each `finally` deletes that a `break` runs. `before`: the state before each statement that is reached,
    where the function was built by statements.
    """

    variables: frozenset[str]
    breaks: list[list[_State]] = field(default_factory=list)
    finals: frozenset[str] = frozenset()
    before: dict[ast.AST, frozenset[str]] = field(default_factory=dict)

    def block(self, block: Sequence[ir.Instr], state: _State) -> _State:
        """The state after a block."""
        for instr in block:
            if state is None:
                return None
            state = self.instr(instr, state)
        return state

    def instr(self, instr: ir.Instr, state: frozenset[str]) -> _State:
        """The state after an instruction."""
        match instr:
            case ir.Load(name=name, scope=scope) | ir.Store(name=name, scope=scope):
                here = scope is not ir.StorageClass.GLOBAL
                if isinstance(instr, ir.Load):
                    instr.certain = instr.certain or (here and name in state)
                return state | {name} if here and name in self.variables else state
            case SourceStatement(node=node, body=body):
                self.before[node] = state
                return self.block(body, state)
            case ir.Delete(name=name):
                return state - {name}
            case ir.Return() | ir.Raise() | ir.Continue():
                return None
            case ir.Break():
                if self.breaks:
                    self.breaks[-1].append(state - self.finals)
                return None
            case ir.If(then=then, orelse=orelse):
                return _join(self.block(then, state), self.block(orelse, state))
            case ir.For() | ir.While():
                ended, broken = self.loop(instr, state)
                return _join(ended, broken)
            case ir.LoopElse(loop=loop, orelse=orelse):
                ended, broken = self.loop(loop, state)
                return _join(self.block(orelse, ended), broken)
            case ir.With(body=body):  # the manager may swallow an exception from anywhere in the body
                return _join(self.block(body, state), state - _deleted(instructions(body)))
            case ir.Try():
                return self.try_(instr, state)
        return state

    def loop(self, loop: ir.For | ir.While, state: frozenset[str]) -> tuple[_State, _State]:
        """The states after a loop: where it ended by itself, and where it was broken."""
        outer, self.finals = self.finals, frozenset()
        self.breaks.append([])
        head: _State = state - _deleted(instructions([loop]))
        ended = head
        if isinstance(loop, ir.While):
            head = ended = self.block(loop.test, head)
            if is_endless(loop):
                ended = None
        self.block(loop.body, head)
        self.finals = outer
        return ended, _join(*self.breaks.pop())

    def try_(self, instr: ir.Try, state: frozenset[str]) -> _State:
        """Handlers and `finally` may begin after any part of the body."""
        raised = state - _deleted(instructions(instr.body))
        left = state - _deleted(i for block in blocks_of(instr)[:-1] for i in instructions(block))
        deleted = _deleted(instructions(instr.final))
        outer, self.finals = self.finals, self.finals | deleted
        after = self.block(instr.orelse, self.block(instr.body, state))
        for handler in instr.handlers:
            after = _join(after, self.block(handler.body, self.block(handler.test, raised)))
        self.finals = outer
        final = self.block(instr.final, left)
        return None if after is None or final is None else (after - deleted) | final
