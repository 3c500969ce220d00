"""Source text to the concrete syntax tree of one function, by libcst, with the position of every node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from ..diagnostics.codes_syntax import CannotParse
from ..diagnostics.span import Span
from .errors import FrontendError
from .source import FunctionSource

_INDENTED = "if 1:\n"
_PARENTHESIS = "("


@dataclass(frozen=True, slots=True, repr=False)
class Parsed:
    """A `FunctionDef` or `Lambda` node and the positions of all nodes in it."""

    node: cst.CSTNode
    source: FunctionSource
    _ranges: Mapping[cst.CSTNode, CodeRange]
    _line_shift: int
    _first_column_shift: int

    def span(self, node: cst.CSTNode, function: str) -> Span:
        """The position of `node` in the file."""
        found = self._ranges[node]
        start, end = found.start, found.end
        shift, column_shift = self._line_shift, self._first_column_shift
        return Span(
            self.source.file,
            start.line + shift,
            start.column + (column_shift if start.line == 1 else 0),
            end.line + shift,
            end.column + (column_shift if end.line == 1 else 0),
            function,
        )


def parse(source: FunctionSource) -> Parsed:
    """Reads the text of one function. Indented text becomes the body of an `if`: nothing in it moves."""
    if source.is_lambda:
        prefix, shift, column_shift = _PARENTHESIS, source.line - 1, source.column - len(_PARENTHESIS)
    elif source.text[:1].isspace():
        prefix, shift, column_shift = _INDENTED, source.line - 2, 0
    else:
        prefix, shift, column_shift = "", source.line - 1, 0
    try:
        module = cst.parse_module(prefix + source.text + (")" if source.is_lambda else ""))
    except cst.ParserSyntaxError as error:
        raise FrontendError((_cannot_parse(source, error, shift),)) from None
    ranges = _ranges(module)
    return Parsed(_definition(module.body[0]), source, ranges, shift, column_shift)


def _ranges(module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
    """The position of every node. libcst recurses, and hides an overflow of the stack in `KeyError`s."""
    try:
        ranges: Mapping[cst.CSTNode, CodeRange] = MetadataWrapper(module, True).resolve(PositionProvider)
    except KeyError as error:
        cause: BaseException | None = error
        while isinstance(cause, KeyError):
            cause = cause.__context__
        if isinstance(cause, RecursionError):
            raise RecursionError from None
        raise
    return ranges


def _definition(statement: Any) -> cst.CSTNode:
    match statement:
        case cst.FunctionDef():
            return statement
        case cst.If(body=cst.IndentedBlock(body=[inner])):
            return inner
        case cst.SimpleStatementLine(body=[cst.Expr(value=expression)]):
            return expression
    raise TypeError(f"internal error: the source of a function begins with {type(statement).__name__}")


def _cannot_parse(source: FunctionSource, error: cst.ParserSyntaxError, shift: int) -> CannotParse:
    """libcst's native parser says the position in its message only."""
    place = re.search(r"error at (\d+):(\d+)", error.message)
    line, column = (int(place[1]), int(place[2]) - 1) if place else (error.raw_line, 0)
    line = max(source.line, line + shift)
    name = source.code.co_qualname
    return CannotParse(function=name, span=Span(source.file, line, column, line, column + 1, name))
