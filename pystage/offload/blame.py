"""Maps the diagnostics of a refused region to the statements that cause them.

In: the diagnostics, and the run that was refused. Out: the innermost statements that stay in Python, each with its
`Reason`; none where no diagnostic leads to a statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.span import Span
from ..records import dataclass
from .names import names_in
from .statement_runs import Variables, blocks_of, own_statements, without_blocks


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a statement stays in Python."""

    text: str
    diagnostic: Diagnostic | None = None
    call: Span | None = None
    """The call in the statement that led to what is refused."""


def blamed(
    diagnostics: Sequence[Diagnostic], variables: Variables, statements: Sequence[ast.stmt]
) -> dict[ast.stmt, Reason]:
    """The statements that diagnostics of a program made of `statements` blame."""
    found: dict[ast.stmt, Reason] = {}
    for diagnostic in diagnostics:
        reason = Reason(f"{diagnostic.code}: {diagnostic.headline}", diagnostic)
        for statement, call in _statements(diagnostic, variables, statements):
            found.setdefault(statement, replace(reason, call=call))
    return found


def inner_diagnostics(reason: Reason, first: int, last: int, file: str) -> tuple[Diagnostic, ...]:
    """The diagnostic of a reason for a function that is called, if it is in these lines or came through them."""
    if reason.diagnostic is None:
        return ()
    inside = any(s.file == file and first <= s.line <= last for s in _chain(reason.diagnostic))
    return (reason.diagnostic,) if inside else ()


def _chain(diagnostic: Diagnostic) -> list[Span]:
    """The span of a diagnostic and the calls that led to it, outermost first."""
    calls = [note.span for note in diagnostic.notes if note.text.endswith("is called here")]
    return [span for span in (*reversed(calls), diagnostic.span) if span is not None]


def _statements(
    diagnostic: Diagnostic, variables: Variables, statements: Sequence[ast.stmt]
) -> Iterator[tuple[ast.stmt, Span | None]]:
    last = statements[-1].end_lineno or statements[-1].lineno
    chain = _chain(diagnostic)
    for depth, span in enumerate(chain):
        if span.file != variables.source.file:
            continue
        statement = innermost(statements, span.line, span.column)
        if statement is not None:
            yield statement, span if depth < len(chain) - 1 else None
            return
    if diagnostic.span is not None and (calls := list(_calls_of(diagnostic.span.function, statements))):
        yield from calls
        return
    names = frozenset[str]()
    argument = getattr(diagnostic, "path", None) or getattr(diagnostic, "stored", None)
    if isinstance(argument, str) and diagnostic.code.startswith("PS8"):
        names = frozenset([argument.partition(".")[0].partition("[")[0]])
        for statement in own_statements(statements):
            mentioned = names_in([without_blocks(statement)])
            if names & (mentioned.all | mentioned.captured):
                yield statement, None
    elif diagnostic.span is not None and diagnostic.span.line == last + 1:
        # Of what the region hands on at its end.
        for statement in own_statements(statements):
            if any(f"'{n}'" in diagnostic.headline for n in names_in([without_blocks(statement)]).binds):
                yield statement, None


def _calls_of(qualname: str, statements: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, Span | None]]:
    """The statements that call a function of this name, for diagnostics without a call chain (program too large)."""
    name = qualname.rpartition(".")[2]
    for statement in own_statements(statements):
        for node in ast.walk(without_blocks(statement)):
            if isinstance(node, ast.Call) and name and name in (_name(node.func), *map(_name, node.args)):
                yield statement, Span("", node.lineno, node.col_offset, node.lineno, 0)
                break


def _name(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def innermost(statements: Sequence[ast.stmt], line: int, column: int) -> ast.stmt | None:
    """The innermost statement at a span."""
    for statement in statements:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *[d.lineno for d in decorators]])
        end = (statement.end_lineno or 0, statement.end_col_offset or 0)
        if (first, 0) <= (line, column) < end and (
            first < line or statement.lineno != line or statement.col_offset <= column
        ):
            for block in blocks_of(statement):
                inner = innermost(block, line, column)
                if inner is not None:
                    return inner
            return statement
    return None
