"""Syntax tree to stage IR: the entry point of the builder."""

from __future__ import annotations

import ast

from ..diagnostics.diagnostic import Diagnostic
from ..stage import ir
from .build_calls import build_frame
from .builder import SourceStatement, Unit
from .errors import FrontendError
from .fence import TABLE
from .scope import analyse
from .source import FunctionSource


def build(source: FunctionSource, shadowed: frozenset[str]) -> ir.Function:
    """Builds the stage IR of one function, jumps still in it; raises with everything that is wrong in it."""
    function, diagnostics = _built(source, shadowed, class_of(source.code.co_qualname))
    if diagnostics:
        places = [(d.span.line, d.span.column) if d.span else (0, 0) for d in diagnostics]
        order = sorted(range(len(places)), key=places.__getitem__)
        raise FrontendError(tuple(diagnostics[i] for i in order))
    return function


def build_by_statement(source: FunctionSource) -> tuple[ir.Function, dict[ast.AST, SourceStatement]]:
    """What can be built of a function, right or wrong, in `SourceStatement`s; names stand as in the source."""
    statements: dict[ast.AST, SourceStatement] = {}
    return _built(source, frozenset(), "", statements)[0], statements


def _built(
    source: FunctionSource,
    shadowed: frozenset[str],
    class_name: str,
    statements: dict[ast.AST, SourceStatement] | None = None,
) -> tuple[ir.Function, list[Diagnostic]]:
    code = source.code
    found: set[ast.AST] = set()
    while True:
        generators = frozenset(found)
        scopes = analyse(source.node, frozenset(code.co_freevars), class_name, generators)
        unit = Unit(source, scopes, TABLE, class_name, shadowed, found, statements=statements)
        function = build_frame(unit, scopes[source.node], source.node, code.co_name, code.co_qualname)
        if len(found) == len(generators):
            return function, unit.diagnostics


def class_of(qualname: str) -> str:
    """The class around a function, by its qualified name: that of `C` in `C.f.<locals>.g`; empty if none."""
    parts = qualname.split(".")
    for i in range(len(parts) - 2, -1, -1):
        if parts[i] != "<locals>" and parts[i + 1] != "<locals>":
            return parts[i]
    return ""
