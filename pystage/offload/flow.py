"""Liveness of a function's variables, over its syntax tree.

In: the body of a function. Out: for each statement the variables that are live after it, and those that are live where
control goes if it jumps or raises.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from ..records import dataclass
from .names import names_in

Set = frozenset[str]
EMPTY: Set = frozenset()


@dataclass(frozen=True, slots=True)
class Targets:
    """The live variables at the targets of a statement's jumps."""

    after_break: Set = EMPTY
    after_continue: Set = EMPTY
    after_return: Set = EMPTY
    after_raise: Set = EMPTY

    @property
    def all(self) -> Set:
        """The variables that are live at any of them."""
        return self.after_break | self.after_continue | self.after_return | self.after_raise


class VariableLiveness:
    """Liveness: the variables that may be read later. `always`: variables that nested functions may read at any time."""

    def __init__(self, always: Set = EMPTY) -> None:
        self._always = always
        self.after: dict[ast.stmt, Set] = {}
        self.targets: dict[ast.stmt, Targets] = {}

    def block(self, block: Sequence[ast.stmt], out: Set, targets: Targets) -> Set:
        """Live-in variables of a block, given its live-out ones."""
        for statement in reversed(block):
            self.after[statement] = out | self._always
            self.targets[statement] = targets
            out = self._before(statement, out, targets)
        return out

    def _before(self, node: ast.stmt, out: Set, to: Targets) -> Set:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                arms = self.block(body, out, to) | self.block(orelse, out, to)
                return arms | _reads(test) | to.after_raise
            case ast.For() | ast.AsyncFor():
                head = self._loop(node, out, to, _reads(node.target), certainly_bound(node.target))
                return head | _reads(node.iter) | to.after_raise
            case ast.While(test=test):
                return self._loop(node, out, to, _reads(test), EMPTY) | to.after_raise
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                inside = replace(to, after_raise=to.after_raise | out)
                live = self.block(body, out, inside) - certainly_bound(*items)
                return live | out | _reads(*items) | to.after_raise
            case ast.Try() | ast.TryStar():
                return self._try(node, out, to)
            case ast.Match(subject=subject, cases=cases):
                live = out
                for case in cases:
                    guard = (case.guard,) if case.guard is not None else ()
                    live |= self.block(case.body, out, to) | _reads(case.pattern, *guard)
                return live | _reads(subject) | to.after_raise
            case ast.Return():
                return _reads(node) | to.after_return | to.after_raise
            case ast.Raise():
                return _reads(node) | to.after_raise
            case ast.Break():
                return to.after_break
            case ast.Continue():
                return to.after_continue
            case _:
                return _reads(node) | (out - certainly_bound(node)) | to.after_raise

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, out: Set, to: Targets, reads: Set, bound: Set
    ) -> Set:
        head = self.block(node.orelse, out, to) | reads
        while True:
            inside = replace(to, after_break=out, after_continue=head)
            again = head | (self.block(node.body, head, inside) - bound)
            if again == head:
                return head
            head = again

    def _try(self, node: ast.Try | ast.TryStar, out: Set, to: Targets) -> Set:
        if node.finalbody:
            out = self.block(node.finalbody, out | to.all, to)
            to = Targets(out, out, out, out)
        handlers: Set = EMPTY
        for handler in node.handlers:
            live = self.block(handler.body, out, to) - frozenset([handler.name or ""])
            handlers |= live | (_reads(handler.type) if handler.type is not None else EMPTY)
        rest = self.block(node.orelse, out, to)
        inside = replace(to, after_raise=to.after_raise | handlers)
        return self.block(node.body, rest, inside) | handlers


def certainly_bound(*nodes: ast.AST) -> Set:
    """The variables that a simple statement or a target binds whenever it ends."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    found |= certainly_bound(target)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                found |= certainly_bound(target)
            case ast.AugAssign(target=target):
                found |= certainly_bound(target)
            case ast.Name(id=name):
                found.add(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                found |= certainly_bound(*elements)
            case ast.Starred(value=value):
                found |= certainly_bound(value)
            case ast.withitem(optional_vars=target) if target is not None:
                found |= certainly_bound(target)
            case (
                ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef()
            ):
                found |= names_in([node]).binds
    return frozenset(found)


def _reads(*nodes: ast.AST) -> Set:
    names = names_in(nodes)
    return frozenset(names.reads | names.captured | names.deleted)
