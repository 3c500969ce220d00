"""The fence: one table that says how each kind of syntax node is built, or why it is refused.

A node has a visitor here, or a diagnostic, or the visitor of its parent reads it, or it carries no meaning (punctuation).
The builder consults this table and nothing else, so that the table cannot disagree with the builder; a test enumerates
libcst's classes and fails on a missing one.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

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
    cst.AnnAssign: Statement(targets.annotated),
    cst.Assert: Statement(statements.assert_),
    cst.Assign: Statement(statements.assignment),
    cst.AugAssign: Statement(targets.augmented),
    cst.Break: Statement(statements.break_),
    cst.Continue: Statement(statements.continue_),
    cst.Del: Statement(targets.delete),
    cst.Expr: Statement(statements.expression),
    cst.For: Statement(statements.for_),
    cst.FunctionDef: Statement(calls.function_def),
    cst.Global: Statement(statements.nothing),
    cst.If: Statement(statements.if_),
    cst.Import: Statement(statements.import_),
    cst.ImportFrom: Statement(statements.import_from),
    cst.Match: Statement(match.match),
    cst.Nonlocal: Statement(statements.nothing),
    cst.Pass: Statement(statements.nothing),
    cst.Raise: Statement(statements.raise_),
    cst.Return: Statement(statements.return_),
    cst.SimpleStatementLine: Statement(statements.line),
    cst.Try: Statement(statements.try_),
    cst.While: Statement(statements.while_),
    cst.With: Statement(statements.with_),
}

_EXPRESSIONS: dict[type[Any], Entry] = {
    cst.Attribute: Expression(expressions.attribute),
    cst.BinaryOperation: Expression(expressions.binary),
    cst.BooleanOperation: Expression(expressions.boolean),
    cst.Call: Expression(calls.call),
    cst.Comparison: Expression(expressions.comparison),
    cst.ConcatenatedString: Expression(expressions.concatenated),
    cst.Dict: Expression(expressions.dictionary),
    cst.DictComp: Expression(comprehensions.comprehension),
    cst.Ellipsis: Expression(expressions.ellipsis),
    cst.Float: Expression(expressions.literal),
    cst.FormattedString: Expression(expressions.formatted),
    cst.GeneratorExp: Expression(comprehensions.generator),
    cst.IfExp: Expression(expressions.conditional),
    cst.Imaginary: Expression(expressions.literal),
    cst.Index: Expression(expressions.index_value),
    cst.Integer: Expression(expressions.literal),
    cst.Lambda: Expression(calls.lambda_),
    cst.List: Expression(expressions.display(Sequence.LIST)),
    cst.ListComp: Expression(comprehensions.comprehension),
    cst.Name: Expression(expressions.name),
    cst.NamedExpr: Expression(expressions.walrus),
    cst.Set: Expression(expressions.display(Sequence.SET)),
    cst.SetComp: Expression(comprehensions.comprehension),
    cst.SimpleString: Expression(expressions.literal),
    cst.Slice: Expression(expressions.slice_),
    cst.Subscript: Expression(expressions.subscript),
    cst.Tuple: Expression(expressions.display(Sequence.TUPLE)),
    cst.UnaryOperation: Expression(expressions.unary),
    cst.Yield: Expression(statements.yield_),
}

_PATTERNS: dict[type[Any], Entry] = {
    cst.MatchAs: Pattern(match.as_pattern),
    cst.MatchClass: Pattern(match.class_pattern),
    cst.MatchList: Pattern(match.sequence_pattern),
    cst.MatchMapping: Pattern(match.mapping_pattern),
    cst.MatchOr: Pattern(match.or_pattern),
    cst.MatchSingleton: Pattern(match.singleton_pattern),
    cst.MatchTuple: Pattern(match.sequence_pattern),
    cst.MatchValue: Pattern(match.value_pattern),
}

_REFUSED: dict[type[Any], Entry] = {
    cst.Await: RefusedNode(lambda node, span: codes.AsyncCode(keyword="await", span=span)),
    cst.ClassDef: RefusedNode(
        lambda node, span: codes.ClassInFunction(name=node.name.value, span=span), lambda node: node.name
    ),
    cst.TryStar: RefusedNode(
        lambda node, span: codes.ExceptStar(span=span), lambda node: node.handlers[0].type
    ),
    cst.TypeAlias: RefusedNode(lambda node, span: codes.TypeStatement(span=span)),
}
for _name, _diagnostic in {
    "LazyImport": lambda node, span: codes.UnsupportedImport(form="lazy import", span=span),
    "LazyImportFrom": lambda node, span: codes.UnsupportedImport(form="lazy from … import", span=span),
    "TemplatedString": lambda node, span: codes.TemplateString(span=span),
    "StarredDictComp": lambda node, span: codes.UnpackingComprehension(span=span),
}.items():
    if hasattr(cst, _name):  # newer than the oldest libcst that serves
        _REFUSED[getattr(cst, _name)] = RefusedNode(_diagnostic)

_PARTS = """
    Annotation Arg AsName AssignTarget Asynchronous CompFor CompIf ComparisonTarget Decorator DictElement
    Element Else ExceptHandler ExceptStarHandler Finally FormattedStringExpression FormattedStringText From
    ImportAlias ImportStar IndentedBlock MatchCase MatchKeywordElement MatchMappingElement MatchOrElement
    MatchSequenceElement MatchStar Module NameItem Param ParamSlash ParamSpec ParamStar Parameters
    SimpleStatementSuite StarredDictElement StarredElement SubscriptElement TemplatedStringExpression
    TemplatedStringText TypeParam TypeParameters TypeVar TypeVarTuple WithItem
"""

_LEXICAL = """
    AssignEqual BaseLeaf BaseParenthesizableWhitespace Colon Comma Comment Dot EmptyLine LeftCurlyBrace
    LeftParen LeftSquareBracket Newline ParenthesizedWhitespace RightCurlyBrace RightParen RightSquareBracket
    Semicolon SimpleWhitespace TrailingWhitespace
"""

TABLE: dict[type[Any], Entry] = {
    **{getattr(cst, name): PartOfParent() for name in _PARTS.split() if hasattr(cst, name)},
    **{getattr(cst, name): Lexical() for name in _LEXICAL.split() if hasattr(cst, name)},
    **{
        kind: Lexical()
        for kinds in (expressions.UNARY, expressions.BINARY, expressions.COMPARE)
        for kind in kinds
    },
    **{kind: Lexical() for kind in (cst.And, cst.Or, *targets.AUGMENTED)},
    **_STATEMENTS,
    **_EXPRESSIONS,
    **_PATTERNS,
    **_REFUSED,
}
"""What becomes of every kind of node."""
