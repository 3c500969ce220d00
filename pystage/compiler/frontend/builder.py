"""State that all visitors share: instructions, fresh names, scopes, spans, diagnostics.

There is one `StageBuilder` per frame (function, lambda, or comprehension that stays a function) and one `Unit` for all
frames of one source. The unit brings the table of visitors (`fence.py`), which the builder does not know.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from ...records import dataclass
from ..diagnostics.codes_syntax import UnknownSyntax
from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from ..stage import ir
from .scope import VariableScope, mangle
from .source import FunctionSource, Place, end_of, start_of


@dataclass(frozen=True, slots=True)
class Statement:
    """A node that is executed: `build(builder, node)`."""

    build: Callable[[StageBuilder, Any], None]


@dataclass(frozen=True, slots=True)
class Expression:
    """A node that has a value: `build(builder, node)` gives its temporary."""

    build: Callable[[StageBuilder, Any], ir.Temp]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of `match`: `build(builder, node, subject)` says in a temporary whether it matches."""

    build: Callable[[StageBuilder, Any, ir.Temp], ir.Temp]


@dataclass(frozen=True, slots=True)
class RefusedNode:
    """A node that is not staged: `diagnostic(node, span)` says why, with the position `at(builder, node)`."""

    diagnostic: Callable[[Any, Span], Diagnostic]
    at: Callable[[StageBuilder, Any], Span] = lambda builder, node: builder.span(node)


@dataclass(frozen=True, slots=True)
class PartOfParent:
    """A node that the visitor of the node around it reads."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """An operator, a context, an abstract base class: means nothing by itself."""


Entry = Statement | Expression | Pattern | RefusedNode | PartOfParent | Lexical
Table = Mapping[type[Any], Entry]


@dataclass(slots=True, repr=False)
class Unit:
    """One source: its tree and scopes, the table of visitors, and what was found wrong.

    `shadowed`: names that do not mean in this module what they usually do. `generators`: the generator expressions that
    nothing consumes where they stand, which are functions; where the builder finds another one, all is built again.
    `statements`: gets the instructions of each statement by its node, where these are asked for.
    """

    source: FunctionSource
    scopes: Mapping[ast.AST, VariableScope]
    table: Table
    class_name: str
    shadowed: frozenset[str]
    generators: set[ast.AST] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    statements: dict[ast.AST, SourceStatement] | None = None


_WITHOUT_EFFECT = (ast.Name, ast.Constant)
"""Elements of a display that change nothing."""
_SEEING = ("try", "handler", "finally", "with")
"""What stands around a `yield` and sees the exceptions that are raised there."""


@dataclass(slots=True, eq=False)
class SourceStatement(ir.Instr):
    """The instructions of one statement; only in what `build_by_statement` gives."""

    node: ast.AST
    body: ir.Block


def unstarred(node: ast.expr) -> ast.expr:
    """`x` of `*x`; any other node itself."""
    return node.value if isinstance(node, ast.Starred) else node


def is_without_effect(element: ast.expr) -> bool:
    """True for an element of a display that changes nothing: a variable, a literal, a negative number."""
    node = unstarred(element)
    if isinstance(node, ast.UnaryOp):
        node = node.operand if isinstance(node.operand, ast.Constant) else node
    return isinstance(node, _WITHOUT_EFFECT)


class StageBuilder:
    """Builds the instructions of one frame."""

    def __init__(self, unit: Unit, scope: VariableScope, qualname: str) -> None:
        self.unit = unit
        self.scope = scope
        self.qualname = qualname
        self.block: ir.Block = []
        self.nested: list[ir.Function] = []
        self.hidden: set[str] = set()
        self.surroundings: list[str] = []
        self.is_generator = False
        self._temps = 0

    # Names and positions

    def temp(self) -> ir.Temp:
        """A fresh temporary."""
        self._temps += 1
        return f"%{self._temps}"

    def hidden_local(self, purpose: str) -> str:
        """A fresh local variable that no source can name."""
        name = f".{purpose}{len(self.hidden) + 1}"
        self.hidden.add(name)
        return name

    def span(self, node: ast.AST) -> Span:
        """The position of a node, in this function."""
        return self.header(node, node)

    def header(self, node: ast.AST, last: ast.AST) -> Span:
        """The position of a compound statement: from its keyword to the end of its part `last`."""
        return self.unit.source.span(start_of(node), end_of(last), self.qualname)

    def word(self, name: str, behind: Place) -> Span:
        """The position of a keyword, or of a name that is no node: the first time that it stands behind a place."""
        return self.unit.source.word(name, behind, self.qualname)

    def mangle(self, name: str) -> str:
        """An identifier as Python stores it (`__x` in a class is private to it)."""
        return mangle(name, self.unit.class_name)

    def is_usual(self, name: str) -> bool:
        """Does `name` here mean what it usually does, mostly a builtin?"""
        return self.scope.resolve(name)[0] is ir.StorageClass.GLOBAL and name not in self.unit.shadowed

    # Instructions

    def emit(self, instr: ir.Instr) -> None:
        """Appends an instruction to the current block."""
        self.block.append(instr)

    def emit_yield(self, node: ast.AST, value: ir.Temp) -> None:
        """Appends the `yield` of a value, which makes the function a generator."""
        self.is_generator = True
        guarded = any(each in _SEEING for each in self.surroundings)
        self.emit(ir.Yield(self.span(node), value, guarded))

    def constant(self, value: object, span: Span) -> ir.Temp:
        """A literal."""
        dst = self.temp()
        self.block.append(ir.Constant(span, dst, value))
        return dst

    def spliced(self, iterable: ir.Temp, behind: Sequence[ast.expr], span: Span) -> ir.Temp:
        """What `*iterable` splices in, as it is before the elements behind it are evaluated."""
        if not behind:
            return iterable
        dst = self.temp()
        may_change = not all(map(is_without_effect, behind))
        values = (iterable, self.constant(may_change, span))
        given = tuple([ir.Arg(ir.ArgKind.POSITIONAL, value) for value in values])
        self.emit(ir.Call(span, dst, self.constant(ir.unpacked, span), given))
        return dst

    def load(self, name: str, span: Span) -> ir.Temp:
        """The value of a variable, named as in the source."""
        kind, actual = self.scope.resolve(name)
        dst = self.temp()
        self.block.append(ir.Load(span, dst, actual, kind, free=self.scope.is_free(name)))
        return dst

    def store(self, name: str, src: ir.Temp, span: Span) -> None:
        """Binds a variable, named as in the source."""
        kind, actual = self.scope.resolve(name)
        self.block.append(ir.Store(span, actual, src, kind))

    def load_hidden(self, name: str, span: Span) -> ir.Temp:
        """The value of a hidden local; it is assigned wherever it is read."""
        dst = self.temp()
        self.block.append(ir.Load(span, dst, name, ir.StorageClass.LOCAL, certain=True))
        return dst

    def store_hidden(self, name: str, src: ir.Temp, span: Span) -> None:
        """Binds a hidden local."""
        self.block.append(ir.Store(span, name, src, ir.StorageClass.LOCAL))

    def join(self, dst: ir.Temp, src: ir.Temp, span: Span) -> None:
        """`dst = src` at the end of an arm; the last instruction writes to `dst` itself if it made `src`."""
        last = self.block[-1] if self.block else None
        if last is not None and getattr(last, "dst", None) == src:
            last.dst = dst  # type: ignore[attr-defined]
        else:
            self.block.append(ir.Copy(span, dst, src))

    @contextlib.contextmanager
    def into(self, block: ir.Block) -> Iterator[ir.Block]:
        """Appends to `block` meanwhile."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    @contextlib.contextmanager
    def within(self, scope: VariableScope) -> Iterator[None]:
        """Resolves names in the scope of an inlined comprehension meanwhile."""
        outer, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = outer

    @contextlib.contextmanager
    def inside(self, surrounding: str) -> Iterator[None]:
        """Notes that what is built now stands in a `loop` or a `finally`."""
        self.surroundings.append(surrounding)
        try:
            yield
        finally:
            self.surroundings.pop()

    # Visiting

    def expr(self, node: ast.AST) -> ir.Temp:
        """Builds an expression; a refused one is noted and stands for None."""
        entry = self.unit.table.get(type(node))
        if isinstance(entry, Expression):
            return entry.build(self, node)
        self.refuse(node, entry)
        return self.constant(None, self.span(node))

    def statement(self, node: ast.AST) -> None:
        """Builds a statement; a refused one is noted and skipped."""
        entry = self.unit.table.get(type(node))
        if self.unit.statements is not None:
            built = self.unit.statements[node] = SourceStatement(self.span(node), node, [])
            self.emit(built)
            block = built.body
        else:
            block = self.block
        with self.into(block):
            if isinstance(entry, Statement):
                entry.build(self, node)
            else:
                self.refuse(node, entry)

    def pattern(self, node: ast.AST, subject: ir.Temp) -> ir.Temp:
        """Builds the test whether `subject` matches a pattern."""
        entry = self.unit.table.get(type(node))
        if isinstance(entry, Pattern):
            return entry.build(self, node, subject)
        self.refuse(node, entry)
        return self.constant(False, self.span(node))

    def suite(self, statements: Sequence[ast.stmt], block: ir.Block | None = None) -> ir.Block:
        """Builds the statements of a suite into a block."""
        with self.into([] if block is None else block) as built:
            for statement in statements:
                self.statement(statement)
        return built

    def refuse(self, node: ast.AST, entry: Entry | None) -> None:
        """Notes the diagnostic of a node that cannot be built here."""
        if isinstance(entry, RefusedNode):
            self.report(entry.diagnostic(node, entry.at(self, node)))
        else:
            self.report(UnknownSyntax(node=type(node).__name__, span=self.span(node)))

    def report(self, diagnostic: Diagnostic) -> None:
        """Notes what is wrong; building goes on, so that all of it is found."""
        self.unit.diagnostics.append(diagnostic)

    def finish(
        self,
        name: str,
        params: ir.Parameters,
        span: Span,
        body: Sequence[ir.Instr],
        *,
        is_lambda: bool = False,
    ) -> ir.Function:
        """The finished frame as a function."""
        scope = self.scope
        return ir.Function(
            name=name,
            qualname=self.qualname,
            params=params,
            body=list(body),
            span=span,
            locals=frozenset(scope.local_names()) | self.hidden,
            cells=frozenset(scope.cells),
            free=frozenset(scope.free),
            is_lambda=is_lambda,
            is_generator=self.is_generator,
            nested=self.nested,
        )
