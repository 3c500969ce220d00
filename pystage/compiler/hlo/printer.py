"""The printer: programs as text, for `code_typed`.

One line per operation, `%3: f32[4] = add %1, %2`, with its static operands in parentheses after the name, its regions
indented below, and its source location at the end. Callees follow, each once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields

import numpy as np

from ..diagnostics.span import Span
from .ir import Function, Op, Region, Value
from .op import HloOp
from .types import SHORT_NAMES, ArrayType
from .walk import functions

_INDENT = "  "
_SPAN_COLUMN = 64
_SHOWN_ELEMENTS = 8


Line = tuple[str, Span | None]
"""A line of a program and its source location."""


def print_function(function: Function, *, spans: bool = True) -> str:
    """The text of `function` and of all functions that it calls; without source lines if not `spans`."""
    return "".join(
        [_with_location(text, span if spans else None) + "\n" for text, span in lines_of(function)]
    )


def lines_of(function: Function) -> Iterator[Line]:
    """The lines of `function` and of all functions that it calls."""
    program = functions(function)
    names = _unique_names(program)
    for i, each in enumerate(program):
        if i:
            yield "", None
        yield from _Printer(names).function(each)


def _unique_names(program: Sequence[Function]) -> dict[Function, str]:
    """A name for each function, numbered where two have the same."""
    names: dict[Function, str] = {}
    taken: set[str] = set()
    for function in program:
        name, count = function.name, 1
        while name in taken:
            count += 1
            name = f"{function.name}.{count}"
        taken.add(name)
        names[function] = name
    return names


class _Printer:
    """The text of one function. Values are numbered as they are printed."""

    def __init__(self, names: dict[Function, str]) -> None:
        self._names = names
        self._numbers: dict[Value, int] = {}

    def function(self, function: Function) -> Iterator[Line]:
        """The function with its name, parameters and result types."""
        body = function.body
        results = ", ".join(str(t) for t in function.result_types)
        keyword = "fenced function" if function.fence else "function"
        yield f"{keyword} {self._names[function]}({self._params(body)}) -> ({results}) {{", function.span
        yield from self._region(body, _INDENT, "return")
        yield "}", None

    def _params(self, region: Region) -> str:
        return ", ".join(f"{self._define(p)}: {p.type}" for p in region.params)

    def _define(self, value: Value) -> str:
        return f"%{self._numbers.setdefault(value, len(self._numbers))}"

    def _use(self, value: Value) -> str:
        number = self._numbers.get(value)
        return "%<undefined>" if number is None else f"%{number}"

    def _region(self, region: Region, indent: str, terminator: str) -> Iterator[Line]:
        for op in region.ops:
            yield from self._op(op, indent)
        results = ", ".join(map(self._use, region.results))
        yield f"{indent}{terminator} {results}".rstrip(), None

    def _op(self, op: Op, indent: str) -> Iterator[Line]:
        operands = ", ".join(map(self._use, op.operands))
        results = ", ".join(f"{self._define(r)}: {r.type}" for r in op.results)
        assigned = f"{results} = " if results else ""
        line = f"{indent}{assigned}{self._kind(op.kind)} {operands}".rstrip()
        if not op.regions:
            yield line, op.span
            return
        for position, region in enumerate(op.regions):
            params = f"({self._params(region)}) " if region.params else ""
            head = f"{line} {params}{{" if position == 0 else f"{indent}}} {params}{{"
            yield head, op.span if position == 0 else None
            yield from self._region(region, indent + _INDENT, "yield")
        yield f"{indent}}}", None

    def _kind(self, kind: HloOp) -> str:
        """An operation with its static operands, `reduce(combine=add, axes=(0,))`; defaults are left out."""
        name = kind.opcode.rpartition(".")[2] or type(kind).__name__
        declared = fields(kind)
        static = {f.name: getattr(kind, f.name) for f in declared if getattr(kind, f.name) is not f.default}
        required = [f.name for f in declared if f.default is MISSING]
        if len(required) == 1 and list(static) == required:
            return f"{name}({self._static(static[required[0]])})"
        shown = [f"{field}={self._static(value)}" for field, value in static.items()]
        return f"{name}({', '.join(shown)})" if shown else name

    def _static(self, value: object) -> str:
        """One static operand."""
        match value:
            case Function():
                return f"@{self._names[value]}"
            case HloOp():
                return self._kind(value)
            case np.ndarray():
                return _array(value)
            case np.dtype():
                return SHORT_NAMES.get(value, str(value))
            case ArrayType() | str():
                return str(value)
            case tuple():
                inner = ", ".join(map(self._static, value))
                return f"({inner},)" if len(value) == 1 else f"({inner})"
            case _:
                return repr(value)


def _array(data: np.ndarray) -> str:
    """A constant: all its elements if they are few, else the first ones."""
    if data.ndim == 0:
        return str(data[()])
    shown = ", ".join(map(str, data.flat[:_SHOWN_ELEMENTS]))
    return f"[{shown}, …]" if data.size > _SHOWN_ELEMENTS else f"[{shown}]"


def _with_location(line: str, span: Span | None) -> str:
    """The line, with its source location as a comment in a column of its own."""
    return f"{line:<{_SPAN_COLUMN}}  # {os.path.basename(span.file)}:{span.line}" if span else line
