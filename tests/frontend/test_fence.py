"""The fence is complete: every syntax node either builds, is refused with a code, or is declared to be a part."""

from __future__ import annotations

import ast
import inspect

import pytest

from pystage.compiler.frontend.builder import (
    Expression,
    Lexical,
    PartOfParent,
    Pattern,
    RefusedNode,
    Statement,
)
from pystage.compiler.frontend.fence import TABLE

OF_OTHER_TREES = (ast.mod, ast.type_ignore, ast.slice)
"""Whole files, comments, and classes of older Pythons."""
NODES = [
    c
    for c in vars(ast).values()
    if inspect.isclass(c)
    and issubclass(c, ast.AST)
    and not issubclass(c, OF_OTHER_TREES)
    and ast.Constant not in c.__bases__
    and "Deprecated" not in (c.__doc__ or "")
]
FAMILIES = {base for node in NODES for base in node.__bases__}
CONCRETE = [node for node in NODES if node not in FAMILIES]


@pytest.mark.parametrize("node", CONCRETE, ids=lambda c: c.__name__)
def test_every_node_is_in_the_table(node):
    assert node in TABLE, f"{node.__name__} neither stages nor has a code"


@pytest.mark.parametrize("node", CONCRETE, ids=lambda c: c.__name__)
def test_what_has_a_meaning_is_not_called_a_part(node):
    entry = TABLE.get(node)
    if issubclass(node, (ast.stmt, ast.expr, ast.pattern)):
        assert not isinstance(entry, Lexical)
        assert not isinstance(entry, PartOfParent) or node.__name__ in READ_BY_THE_PARENT
    if isinstance(entry, Pattern):
        assert issubclass(node, ast.pattern)
    if isinstance(entry, Statement):
        assert issubclass(node, ast.stmt)
    if isinstance(entry, Expression):
        assert issubclass(node, ast.expr)
    if isinstance(entry, RefusedNode):
        assert issubclass(node, (ast.stmt, ast.expr))


READ_BY_THE_PARENT = {"FormattedValue", "Interpolation", "MatchStar", "Starred"}
"""Read by the display, call, assignment, string or sequence pattern around it."""
