"""Stage IR as text, for `pystage.code_lowered`.

    def newton(a, tol):                                               # newton.py
        %1 = a                                                        #  5
        x = %1
        loop:                                                         #  6
            …
            while %10:
                …

A variable is printed as `x`, as `x?` where it may be unassigned, as `cell x` if functions share it, as
`global x` if the module holds it. The source line is printed at the right where it changes.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence

from ..diagnostics.span import Span
from . import ir

_Line = tuple[int, str, Span | None]
"""Depth, text, place in the source."""

_COLUMN = 72


def print_function(function: ir.Function) -> str:
    """The function and the functions nested in it, as text."""
    rows: list[str] = []
    shown = 0
    file = os.path.basename(function.span.file)
    for depth, text, span in _function(function):
        code, line = "    " * depth + text, span.line if span else 0
        note = ""
        if depth == 0 and text:
            note = f"  # {file}:{line}"
        elif line and line != shown:
            note = f"  # {line}"
        shown = line or shown
        rows.append(f"{code:<{_COLUMN}}{note}" if note else code)
    return "\n".join(rows) + "\n"


def lines_of(function: ir.Function) -> Iterator[tuple[str, Span | None]]:
    """The lines of the function and of the functions nested in it, and the places of what they say."""
    for depth, text, span in _function(function):
        yield "    " * depth + text, span


def _function(function: ir.Function) -> Iterator[_Line]:
    kind = "lambda" if function.is_lambda else "def"
    yield 0, f"{kind} {function.qualname}({_parameters(function.params)}):", function.span
    for title, names in (("cells", function.cells), ("free", function.free)):
        if names:
            yield 1, f"{title} {', '.join(sorted(names))}", None
    yield from _block(function.body, 1)
    for nested in function.nested:
        yield 0, "", None
        yield from _function(nested)


def _parameters(params: ir.Parameters) -> str:
    parts = list(params.positional_only)
    if parts:
        parts.append("/")
    parts += params.positional
    if params.star is not None:
        parts.append("*" + params.star)
    elif params.keyword_only:
        parts.append("*")
    parts += params.keyword_only
    if params.double_star is not None:
        parts.append("**" + params.double_star)
    return ", ".join(parts)


def _block(block: ir.Block, depth: int) -> Iterator[_Line]:
    if not block:
        yield depth, "pass", None
    for instr in block:
        yield from _instr(instr, depth)


def _instr(instr: ir.Instr, depth: int) -> Iterator[_Line]:
    span = instr.span
    match instr:
        case ir.If(cond=cond, then=[], orelse=orelse) if orelse:
            yield depth, f"if not {cond}:", span
            yield from _block(orelse, depth + 1)
        case ir.If(cond=cond, then=then, orelse=orelse):
            yield depth, f"if {cond}:", span
            yield from _block(then, depth + 1)
            if orelse:
                yield depth, "else:", None
                yield from _block(orelse, depth + 1)
        case ir.While(test=test, cond=cond, body=body):
            yield depth, "loop:", span
            yield from _block(test, depth + 1)
            yield depth + 1, f"while {cond}:", span
            yield from _block(body, depth + 2)
        case ir.For(iterable=iterable, target=target, body=body, until=until):
            ending = f" until {until}" if until else ""
            yield depth, f"for {target} in {iterable}{ending}:", span
            yield from _block(body, depth + 1)
        case ir.LoopElse(loop=loop, orelse=orelse):
            yield from _instr(loop, depth)
            yield depth, "else:", None
            yield from _block(orelse, depth + 1)
        case ir.Yield(value=value, body=[]):
            yield depth, f"yield {value}", span
        case ir.Yield(value=value, target=target, body=body):
            yield depth, f"yield {value} as {target}:", span
            yield from _block(body, depth + 1)
        case ir.With(manager=manager, entered=entered, body=body):
            yield depth, f"with {manager} as {entered}:", span
            yield from _block(body, depth + 1)
        case ir.Try():
            yield from _try(instr, depth)
        case _:
            yield depth, _simple(instr), span


def _try(instr: ir.Try, depth: int) -> Iterator[_Line]:
    yield depth, "try:", instr.span
    yield from _block(instr.body, depth + 1)
    for handler in instr.handlers:
        if handler.test:
            yield depth, "except if:", handler.span
            yield from _block(handler.test, depth + 1)
        kind = handler.kind or "anything"
        yield depth, f"except {kind} as {handler.target}:", handler.span
        yield from _block(handler.body, depth + 1)
    for title, block in (("else", instr.orelse), ("finally", instr.final)):
        if block:
            yield depth, f"{title}:", None
            yield from _block(block, depth + 1)


def _simple(instr: ir.Instr) -> str:
    """An instruction without blocks, on one line."""
    match instr:
        case ir.SetAttr(obj=obj, attr=attr, src=src):
            return f"{obj}.{attr} = {src}"
        case ir.DelAttr(obj=obj, attr=attr):
            return f"del {obj}.{attr}"
        case ir.SetItem(obj=obj, index=index, src=src):
            return f"{obj}[{index}] = {src}"
        case ir.DelItem(obj=obj, index=index):
            return f"del {obj}[{index}]"
        case ir.Store(name=name, src=src, scope=scope):
            return f"{_variable(name, scope)} = {src}"
        case ir.Delete(name=name, scope=scope):
            return f"del {_variable(name, scope)}"
        case ir.Append(target=target, value=value, key=key):
            return f"append {value} to {target}" if key is None else f"append {key}: {value} to {target}"
        case ir.Unpack(dsts=dsts, src=src, star=star):
            return f"{_splice(dsts, star)} = {src}"
        case ir.Return(value=value):
            return f"return {value}"
        case ir.Raise(exc=exc, cause=cause):
            return "raise" + (f" {exc}" if exc else "") + (f" from {cause}" if cause else "")
        case ir.Break() | ir.Continue():
            return type(instr).__name__.lower()
    dst = getattr(instr, "dst", None)
    if dst is None:
        raise TypeError(f"internal error: no way to print {type(instr).__name__}")
    return f"{dst} = {_value(instr)}"


def _value(instr: ir.Instr) -> str:
    """The right-hand side of an instruction that gives a value."""
    match instr:
        case ir.Constant(value=value):
            return _constant(value)
        case ir.Copy(src=src):
            return src
        case ir.Load(name=name, scope=scope, certain=certain):
            return _variable(name, scope) + ("" if certain or scope is ir.StorageClass.GLOBAL else "?")
        case ir.GetAttr(obj=obj, attr=attr):
            return f"{obj}.{attr}"
        case ir.GetItem(obj=obj, index=index):
            return f"{obj}[{index}]"
        case ir.Call(func=func, args=args):
            return f"{func}({', '.join(map(_argument, args))})"
        case ir.Unary(op=op, operand=operand):
            return f"{op} {operand}" if op in ("not", "bool") else f"{op}{operand}"
        case ir.Binary(op=op, left=left, right=right) | ir.Compare(op=op, left=left, right=right):
            return f"{left} {op} {right}"
        case ir.Inplace(op=op, left=left, right=right):
            return f"{left} {op} {right} in place"
        case ir.Build():
            return _display(instr)
        case ir.BuildDict(entries=entries):
            return "{" + ", ".join(f"**{v}" if k is None else f"{k}: {v}" for k, v in entries) + "}"
        case ir.BuildSlice(start=start, stop=stop, step=step):
            return f"slice {start or ''}:{stop or ''}" + (f":{step}" if step else "")
        case ir.Format(value=value, conversion=conversion, spec=spec):
            return f"format {value}" + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
        case ir.JoinStrings(parts=parts):
            return f"join {', '.join(parts)}"
        case ir.MakeFunction():
            return _closure(instr)
        case ir.Import(module=module, attr=attr, level=level):
            source = "." * level + module
            return f"from {source} import {attr}" if attr else f"import {source}"
        case ir.MatchTest():
            return _match_test(instr)
        case ir.MatchArgs(subject=subject, cls=cls, position=position):
            return f"argument {position} of {subject} as {cls}"
    raise TypeError(f"internal error: no way to print {type(instr).__name__}")


def _variable(name: str, scope: ir.StorageClass) -> str:
    return name if scope is ir.StorageClass.LOCAL else f"{scope.value} {name}"


def _constant(value: object) -> str:
    return value.__qualname__ if isinstance(value, type) else repr(value)


def _argument(arg: ir.Arg) -> str:
    match arg.kind:
        case ir.ArgKind.POSITIONAL:
            return arg.value
        case ir.ArgKind.STAR:
            return f"*{arg.value}"
        case ir.ArgKind.KEYWORD:
            return f"{arg.name}={arg.value}"
        case ir.ArgKind.DOUBLE_STAR:
            return f"**{arg.value}"


def _display(instr: ir.Build) -> str:
    inner = ", ".join("*" * item.star + item.value for item in instr.items)
    match instr.kind:
        case ir.Sequence.TUPLE:
            return f"({inner},)" if len(instr.items) == 1 else f"({inner})"
        case ir.Sequence.LIST:
            return f"[{inner}]"
        case ir.Sequence.SET:
            return f"{{{inner}}}" if inner else "set()"


def _splice(dsts: Sequence[str], star: int | None) -> str:
    inner = ", ".join("*" * (i == star) + dst for i, dst in enumerate(dsts))
    return f"{inner}," if len(dsts) == 1 else inner or "()"


def _closure(instr: ir.MakeFunction) -> str:
    parts = [f"function {instr.function.qualname}"]
    defaults = [*instr.defaults, *(f"{name}={value}" for name, value in instr.kw_defaults)]
    if defaults:
        parts.append(f"defaults {', '.join(defaults)}")
    if instr.function.free:
        parts.append(f"over {', '.join(sorted(instr.function.free))}")
    return " ".join(parts)


def _match_test(instr: ir.MatchTest) -> str:
    match instr.test:
        case ir.Test.SEQUENCE:
            length = f"{instr.count} or more" if instr.at_least else str(instr.count)
            return f"is {instr.subject} a sequence of {length}"
        case ir.Test.MAPPING:
            return f"is {instr.subject} a mapping with {', '.join(instr.args) or 'any keys'}"
        case ir.Test.CLASS:
            return f"is {instr.subject} an instance of {instr.args[0]}"
