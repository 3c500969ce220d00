"""The variables that a piece of a function reads, binds, and lets nested functions capture.

In: nodes of the function's body. Out: `Names`. A comprehension runs at once, where it stands, and so does a generator
expression that a builtin consumes; the variables of nested functions, lambdas and other generator expressions are
captured, since these may run later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field

from ..records import dataclass

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CONSUMERS = frozenset(
    ["sum", "any", "all", "min", "max", "list", "tuple", "set", "frozenset", "sorted", "dict", "next"]
)
"""Builtins that are done with an iterable when they return (`next` where the iterable has no other name)."""


@dataclass(slots=True)
class Names:
    """The names that occur in a piece of a function."""

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)
    rebound: set[str] = field(default_factory=set)
    """Names that a nested function binds by `nonlocal`."""
    declared: set[str] = field(default_factory=set)
    """Names in `global` and `nonlocal` statements of the function itself."""
    deleted: set[str] = field(default_factory=set)

    @property
    def all(self) -> set[str]:
        """Every name that is mentioned."""
        return self.reads | self.binds | self.captured | self.rebound | self.deleted


def names_in(nodes: Iterable[ast.AST]) -> Names:
    """The names that occur in these nodes."""
    collector = _Collector()
    for node in nodes:
        collector.visit(node)
    return collector.names


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """The names of a function's parameters."""
    a = function.args
    found = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
    return [p.arg for p in (*found, *([a.kwarg] if a.kwarg else []))]


class _Collector(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names = Names()

    def visit_Name(self, node: ast.Name) -> None:
        match node.ctx:
            case ast.Store():
                self.names.binds.add(node.id)
            case ast.Del():
                self.names.deleted.add(node.id)
            case _:
                self.names.reads.add(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.names.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name):
            self.visit(node.target)
        elif node.value is not None:
            self.names.binds.add(node.target.id)
        if node.value is not None:
            self.visit(node.value)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.names.declared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names.binds.update((a.asname or a.name).partition(".")[0] for a in node.names)

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self.names.binds.add(node.name)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_ExceptHandler

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.names.binds.add(node.rest)
        self.generic_visit(node)

    # -- scopes inside

    def visit_Call(self, node: ast.Call) -> None:
        at_once = isinstance(node.func, ast.Name) and node.func.id in CONSUMERS
        for child in ast.iter_child_nodes(node):
            if at_once and isinstance(child, ast.GeneratorExp):
                self._comprehension(child, at_once=True)
            else:
                self.visit(child)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node, at_once=False)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> None:
        self._comprehension(node, at_once=True)

    visit_SetComp = visit_DictComp = visit_ListComp

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, *, at_once: bool
    ) -> None:
        self.visit(node.generators[0].iter)
        inner = _Collector()
        for i, clause in enumerate(node.generators):
            inner.visit(clause.target)
            parts = clause.ifs if i == 0 else [clause.iter, *clause.ifs]
            for part in parts:
                inner.visit(part)
        own = set(inner.names.binds)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            inner.visit(part)
        walrus = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        own -= walrus
        self.names.binds |= walrus
        outside = inner.names.reads - own
        if at_once:
            self.names.reads |= outside
        else:
            self.names.captured |= outside | walrus
            self.names.rebound |= walrus
        self.names.captured |= inner.names.captured - own
        self.names.rebound |= inner.names.rebound - own

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.names.binds.add(node.name)
        for outside in (*node.decorator_list, *_defaults(node), *_annotations(node)):
            self.visit(outside)
        self._capture(parameters(node), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for outside in _defaults(node):
            self.visit(outside)
        self._capture(parameters(node), [node.body])

    def _capture(self, parameters: list[str], body: Iterable[ast.AST]) -> None:
        inner = names_in(body)
        own = (inner.binds | inner.deleted | set(parameters)) - inner.declared
        self.names.captured |= (inner.all | inner.declared) - own
        self.names.rebound |= ((inner.binds | inner.deleted) & inner.declared) | (inner.rebound - own)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        inner = names_in([*node.bases, *node.keywords, *node.decorator_list, *node.body])
        self.names.binds.add(node.name)
        self.names.reads |= inner.reads
        self.names.captured |= inner.captured | inner.reads
        self.names.rebound |= inner.rebound | (inner.binds & inner.declared)


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.expr]:
    return [*node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]]


def _annotations(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *[p for p in (a.vararg, a.kwarg) if p is not None]]
    found = [p.annotation for p in every] + [node.returns]
    return [annotation for annotation in found if annotation is not None]
