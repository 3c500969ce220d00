"""Syntax tree to stage IR: the entry point of the builder."""

from __future__ import annotations

import ast

from ..stage import ir
from .build_calls import build_frame
from .builder import Unit
from .errors import FrontendError
from .fence import TABLE
from .scope import analyse
from .source import FunctionSource


def build(source: FunctionSource, shadowed: frozenset[str]) -> ir.Function:
    """Builds the stage IR of one function, jumps still in it; raises with everything that is wrong in it."""
    code = source.code
    class_name = class_of(code.co_qualname)
    found: set[ast.AST] = set()
    while True:
        generators = frozenset(found)
        scopes = analyse(source.node, frozenset(code.co_freevars), class_name, generators)
        unit = Unit(source, scopes, TABLE, class_name, shadowed, found)
        function = build_frame(unit, scopes[source.node], source.node, code.co_name, code.co_qualname)
        if len(found) == len(generators):
            break
    if unit.diagnostics:
        places = [(d.span.line, d.span.column) if d.span else (0, 0) for d in unit.diagnostics]
        order = sorted(range(len(places)), key=places.__getitem__)
        raise FrontendError(tuple(unit.diagnostics[i] for i in order))
    return function


def class_of(qualname: str) -> str:
    """The class around a function, by its qualified name: that of `C` in `C.f.<locals>.g`; empty if none."""
    parts = qualname.split(".")
    for i in range(len(parts) - 2, -1, -1):
        if parts[i] != "<locals>" and parts[i + 1] != "<locals>":
            return parts[i]
    return ""
