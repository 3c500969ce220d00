"""The fence: one table that says how each kind of syntax node is built, or why it is refused.

A node has a visitor here, or a diagnostic, or the visitor of its parent reads it, or it carries no meaning (operators).
The builder consults this table and nothing else, so that the table cannot disagree with the builder; a test enumerates
the classes of `ast` and fails on a missing one.
"""

from __future__ import annotations

import ast
from typing import Any

from ..diagnostics import codes_syntax as codes
from ..stage.ir import Sequence
from . import build_calls as calls
from . import build_comprehensions as comprehensions
from . import build_expressions as expressions
from . import build_match as match
from . import build_statements as statements
from . import build_targets as targets
from .builder import Entry, Expression, Lexical, PartOfParent, Pattern, RefusedNode, Statement

_STATEMENTS: dict[type[Any], Entry] = {
    ast.AnnAssign: Statement(targets.annotated),
    ast.Assert: Statement(statements.assert_),
    ast.Assign: Statement(statements.assignment),
    ast.AsyncFor: Statement(statements.for_),
    ast.AsyncFunctionDef: Statement(calls.function_def),
    ast.AsyncWith: Statement(statements.with_),
    ast.AugAssign: Statement(targets.augmented),
    ast.Break: Statement(statements.break_),
    ast.ClassDef: Statement(statements.class_),
    ast.Continue: Statement(statements.continue_),
    ast.Delete: Statement(targets.delete),
    ast.Expr: Statement(statements.expression),
    ast.For: Statement(statements.for_),
    ast.FunctionDef: Statement(calls.function_def),
    ast.Global: Statement(statements.nothing),
    ast.If: Statement(statements.if_),
    ast.Import: Statement(statements.import_),
    ast.ImportFrom: Statement(statements.import_from),
    ast.Match: Statement(match.match),
    ast.Nonlocal: Statement(statements.nothing),
    ast.Pass: Statement(statements.nothing),
    ast.Raise: Statement(statements.raise_),
    ast.Return: Statement(statements.return_),
    ast.Try: Statement(statements.try_),
    ast.TryStar: Statement(statements.try_),
    ast.While: Statement(statements.while_),
    ast.With: Statement(statements.with_),
}

_EXPRESSIONS: dict[type[Any], Entry] = {
    ast.Attribute: Expression(expressions.attribute),
    ast.BinOp: Expression(expressions.binary),
    ast.BoolOp: Expression(expressions.boolean),
    ast.Call: Expression(calls.call),
    ast.Compare: Expression(expressions.comparison),
    ast.Constant: Expression(expressions.literal),
    ast.Dict: Expression(expressions.dictionary),
    ast.DictComp: Expression(comprehensions.comprehension),
    ast.GeneratorExp: Expression(comprehensions.generator),
    ast.IfExp: Expression(expressions.conditional),
    ast.JoinedStr: Expression(expressions.formatted),
    ast.Lambda: Expression(calls.lambda_),
    ast.List: Expression(expressions.display(Sequence.LIST)),
    ast.ListComp: Expression(comprehensions.comprehension),
    ast.Name: Expression(expressions.name),
    ast.NamedExpr: Expression(expressions.walrus),
    ast.Set: Expression(expressions.display(Sequence.SET)),
    ast.SetComp: Expression(comprehensions.comprehension),
    ast.Slice: Expression(expressions.slice_),
    ast.Subscript: Expression(expressions.subscript),
    ast.Tuple: Expression(expressions.display(Sequence.TUPLE)),
    ast.UnaryOp: Expression(expressions.unary),
    ast.Yield: Expression(statements.yield_),
    ast.YieldFrom: Expression(statements.yield_from_value),
}

_PATTERNS: dict[type[Any], Entry] = {
    ast.MatchAs: Pattern(match.as_pattern),
    ast.MatchClass: Pattern(match.class_pattern),
    ast.MatchMapping: Pattern(match.mapping_pattern),
    ast.MatchOr: Pattern(match.or_pattern),
    ast.MatchSequence: Pattern(match.sequence_pattern),
    ast.MatchSingleton: Pattern(match.singleton_pattern),
    ast.MatchValue: Pattern(match.value_pattern),
}

_REFUSED: dict[type[Any], Entry] = {
    ast.Await: RefusedNode(lambda node, span: codes.AsyncCode(keyword="await", span=span)),
}
for _name, _diagnostic in {
    "TemplateStr": lambda node, span: codes.TemplateString(span=span),
    "TypeAlias": lambda node, span: codes.TypeStatement(span=span),
}.items():
    if hasattr(ast, _name):  # newer than the oldest Python that serves
        _REFUSED[getattr(ast, _name)] = RefusedNode(_diagnostic)

_PARTS = """
    ExceptHandler FormattedValue Interpolation MatchStar ParamSpec Starred TypeVar TypeVarTuple alias arg arguments
    comprehension keyword match_case withitem
"""

_LEXICAL = (ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop)

TABLE: dict[type[Any], Entry] = {
    **{getattr(ast, name): PartOfParent() for name in _PARTS.split() if hasattr(ast, name)},
    **{kind: Lexical() for family in _LEXICAL for kind in family.__subclasses__()},
    **_STATEMENTS,
    **_EXPRESSIONS,
    **_PATTERNS,
    **_REFUSED,
}
"""What becomes of every kind of node."""
