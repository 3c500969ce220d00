"""The fence is complete: every syntax node either builds, is refused with a code, or is declared to be a part."""

from __future__ import annotations

import inspect

import libcst as cst
import pytest

from pystage.compiler.frontend.builder import Expression, Lexical, PartOfParent, Pattern, Statement
from pystage.compiler.frontend.fence import TABLE

NODES = [c for c in vars(cst).values() if inspect.isclass(c) and issubclass(c, cst.CSTNode)]
CONCRETE = [c for c in NODES if not inspect.isabstract(c) and not c.__name__.startswith("Base")]


@pytest.mark.parametrize("node", CONCRETE, ids=lambda c: c.__name__)
def test_every_node_is_in_the_table(node):
    if node in (cst.CSTNode, cst.MatchPattern, cst.MatchSequence):
        return
    assert node in TABLE, f"{node.__name__} neither stages nor has a code"


@pytest.mark.parametrize("node", CONCRETE, ids=lambda c: c.__name__)
def test_what_has_a_meaning_is_not_called_punctuation(node):
    entry = TABLE.get(node)
    base_statement = (cst.BaseStatement, cst.BaseSmallStatement)
    if issubclass(node, base_statement) or issubclass(node, cst.BaseExpression):
        assert not isinstance(entry, Lexical)
        assert not isinstance(entry, PartOfParent) or node.__name__ in PARTS_THAT_ARE_EXPRESSIONS
    if isinstance(entry, Pattern):
        assert issubclass(node, cst.MatchPattern)
    if isinstance(entry, Statement):
        assert issubclass(node, base_statement)
    if isinstance(entry, Expression):
        assert issubclass(node, (cst.BaseExpression, cst.BaseSlice))


PARTS_THAT_ARE_EXPRESSIONS = {"StarredElement"}
"""Read by the display, call or assignment around it."""
