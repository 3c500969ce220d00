"""Proposes rewrites of the user's function that solve a problem, and keeps those that stage.

A proposal changes a few lines of the function's source. The changed function is inferred for the same arguments; one that
does not help is never shown.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import CodeType, FunctionType

from ..compiler.diagnostics.codes_calls import UnknownCallable
from ..compiler.diagnostics.diagnostic import Diagnostic
from ..compiler.diagnostics.span import Span
from ..compiler.frontend.source import give_source
from ..compiler.infer.diagnostics.foreign import is_aside
from ..records import dataclass
from ..runtime.arguments.abstract import ArraySpec, spec

_numbers = itertools.count()
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_HARMLESS = re.compile(r"(time\.\w+|len|repr|str|int|float|round)\(")
_GIVES = {
    "time.time": "float",
    "time.perf_counter": "float",
    "time.monotonic": "float",
    "time.process_time": "float",
    "time.time_ns": "int",
    "time.perf_counter_ns": "int",
    "random.random": "float",
    "random.uniform": "float",
    "random.gauss": "float",
    "random.randint": "int",
    "random.randrange": "int",
    "os.getpid": "int",
}
"""What functions of Python give that no program can compute: a number that the caller can pass."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines of a file in place of others: `old` lines from `line` on (none: before that line)."""

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change of the source that makes the function stage, or that at least settles this problem."""

    text: str
    """What to do, in one sentence."""
    edits: tuple[Edit, ...]
    complete: bool
    """True if nothing else is wrong with the function then."""
    arguments: tuple[tuple[str, ArraySpec], ...] = ()
    """Parameters that it has besides."""

    def as_dict(self) -> dict[str, object]:
        """The rewrite as data, for JSON."""
        edits = [{"line": e.line, "old": list(e.old), "new": list(e.new)} for e in self.edits]
        return {"text": self.text, "complete": self.complete, "edits": edits}

    def diff(self) -> list[str]:
        """The lines that go and those that come, as in a patch; a line that only comes has the number that it will have."""
        found = []
        for edit in self.edits:
            found += [f"{edit.line + i:>4} - {text}" for i, text in enumerate(edit.old)]
            found += [f"{'' if edit.old else edit.line:>4} + {text}" for text in edit.new]
        return found


@dataclass(frozen=True, slots=True)
class Where:
    """The function in which a problem stands, and its place."""

    function: FunctionType
    span: Span
    is_target: bool
    """True for the function that is explained; others are called by it."""


Try = Callable[[FunctionType, FunctionType, Sequence[tuple[str, ArraySpec]]], Sequence[Diagnostic]]
"""What is wrong with the program where a function of it is replaced by one that may have further parameters."""


def rewrite_for(
    problem: Diagnostic, problems: Sequence[Diagnostic], where: Where, attempt: Try
) -> Rewrite | None:
    """The first proposal for a problem that holds."""
    try:
        source = _Source(where.function, where.span)
        proposals = list(_proposals(problem, source, where))
    except (SyntaxError, ValueError):
        return None
    for proposal in proposals:
        changed = source.with_edits(proposal)
        if changed is None:
            continue
        left = attempt(where.function, changed, proposal.arguments)
        remains = any(_is_same(problem, each) for each in left)
        linecache.cache.pop(changed.__code__.co_filename, None)
        if not remains and len(left) < len(problems):
            return replace(proposal, complete=not left)
    return None


def _is_same(problem: Diagnostic, other: Diagnostic) -> bool:
    """True if a problem of a changed function is one of the function as it was: the same words about the same line."""
    if (problem.code, problem.headline) != (other.code, other.headline):
        return False
    lines = [
        None if p.span is None else linecache.getline(p.span.file, p.span.line).strip()
        for p in (problem, other)
    ]
    return lines[0] == lines[1]


def _proposals(problem: Diagnostic, source: _Source, where: Where) -> Iterator[Rewrite]:
    if isinstance(problem, UnknownCallable):
        yield from _left_out(problem, source)
        yield from _as_parameter(problem, source) if where.is_target else ()


# ---------------------------------------------------------------- proposals


def _as_parameter(problem: UnknownCallable, source: _Source) -> Iterator[Rewrite]:
    """What a function of Python gives becomes an argument, which the caller computes."""
    assert problem.span is not None
    span = problem.span
    if span.line != span.end_line:
        return
    line = source.line(span.line)
    call = line[span.column : span.end_column]
    gives = _GIVES.get(problem.name) or _GIVES.get(call.partition("(")[0])
    if gives is None:
        return
    if source.text.count(call) != 1 or source.is_repeated(span) or source.names_in(call) & source.locals:
        return  # two readings of a clock, or one in each trip of a loop, are not one number
    name = source.unused(problem.name.rpartition(".")[2])
    header = source.with_parameter(name)
    if header is None:
        return
    new = line[: span.column] + name + line[span.end_column :]
    text = f"let the caller pass `{call}` as an argument"
    argument = spec("f64[]" if gives == "float" else "s64[]", "python")
    yield Rewrite(text, (header, Edit(span.line, (line,), (new,))), False, ((name, argument),))


def _left_out(problem: UnknownCallable, source: _Source) -> Iterator[Rewrite]:
    """A call that only tells somebody something is left to the caller."""
    assert problem.span is not None
    found = source.expression_statement(problem.span)
    if found is None or not is_aside(source.named(found.called)):
        return
    first, last, is_alone = found.first, found.last, found.is_alone
    old = tuple([source.line(number) for number in range(first, last + 1)])
    new = (f"{_indentation(old[0])}pass",) if is_alone else ()
    text = f"leave out the call of `{found.called}`, or make it outside of the function: what is computed does not need it"
    if found.inner:
        text += f", unless `{found.inner}` changes something"
    yield Rewrite(text, (Edit(first, old, new),), False)


# ---------------------------------------------------------------- the source


@dataclass(frozen=True, slots=True)
class _Called:
    """A statement that is a call of a dotted name: its lines, and whether it is alone in its block.

    `inner` is a call among its arguments, of which nothing says that it changes nothing; empty where there is none.
    """

    called: str
    first: int
    last: int
    is_alone: bool
    inner: str


class _Source:
    """The source of a function, and functions made of it with a few lines changed."""

    def __init__(self, function: FunctionType, where: Span) -> None:
        self._function = function
        self._first = where.line
        lines = linecache.getlines(where.file)[where.line - 1 : where.end_line]
        self._lines = [line.rstrip("\n") for line in lines]
        self.text = "\n".join(self._lines)
        (self._node,) = ast.parse(textwrap.dedent(self.text)).body
        self.locals = set(function.__code__.co_varnames) | set(function.__code__.co_cellvars)

    def line(self, number: int) -> str:
        """A line of the file."""
        return self._lines[number - self._first]

    def is_repeated(self, place: Span) -> bool:
        """True for a span in a loop or a comprehension."""
        line = place.line - self._first + 1
        return any(
            isinstance(node, _LOOPS) and node.lineno <= line <= (node.end_lineno or node.lineno)
            for node in ast.walk(self._node)
        )

    def names_in(self, expression: str) -> set[str]:
        """The names that an expression reads."""
        return {n.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name)}

    def unused(self, name: str) -> str:
        """A name like this that the function does not use."""
        code = self._function.__code__
        taken = {*self.locals, *code.co_names, *code.co_freevars}
        while name in taken or name in vars(builtins):
            name += "_"
        return name

    def with_parameter(self, name: str) -> Edit | None:
        """The `def` line with one more parameter, where it stands on one line."""
        assert isinstance(self._node, ast.FunctionDef)
        number = self._first + self._node.lineno - 1
        line = self.line(number)
        arguments = self._node.args
        if arguments.vararg or arguments.kwarg or not line.rstrip().endswith(":") or line.count(")") != 1:
            return None
        before, _, after = line.rpartition(")")
        parameter = name if not arguments.kwonlyargs and not arguments.defaults else f"*, {name}"
        comma = "" if before.rstrip().endswith("(") else ", "
        return Edit(number, (line,), (f"{before}{comma}{parameter}){after}",))

    def named(self, name: str) -> object:
        """What a dotted name of the module is; None where it is no such name."""
        first, *rest = name.split(".")
        found: object = None if first in self.locals else self._function.__globals__.get(first)
        for attribute in rest:
            found = None if found is None else getattr(found, attribute, None)
        return found

    def expression_statement(self, place: Span) -> _Called | None:
        """The statement around a span that is only a call of a name."""
        line = place.line - self._first + 1
        for node in ast.walk(self._node):
            for block in [getattr(node, each, ()) for each in ("body", "orelse", "finalbody")]:
                for statement in block if isinstance(block, list) else ():
                    match statement:
                        case ast.Expr(value=ast.Call(func=ast.Name() | ast.Attribute() as called) as call):
                            last = statement.end_lineno or statement.lineno
                            if statement.lineno <= line <= last and self._has_its_lines(statement):
                                first = self._first + statement.lineno - 1
                                end = self._first + last - 1
                                return _Called(
                                    ast.unparse(called), first, end, len(block) == 1, self._inner_call(call)
                                )
        return None

    def _inner_call(self, call: ast.Call) -> str:
        """A call among the arguments of a call that may change something."""
        given = [*call.args, *[keyword.value for keyword in call.keywords]]
        found = [
            ast.unparse(each) for value in given for each in ast.walk(value) if isinstance(each, ast.Call)
        ]
        return next((text for text in found if not _HARMLESS.match(text)), "")

    def _has_its_lines(self, statement: ast.stmt) -> bool:
        """True if nothing else stands in the lines of a statement."""
        text = "\n".join(self._lines[statement.lineno - 1 : statement.end_lineno])
        try:
            (alone,) = ast.parse(textwrap.dedent(text)).body
        except (SyntaxError, ValueError):
            return False
        return ast.dump(alone) == ast.dump(statement)

    def with_edits(self, rewrite: Rewrite) -> FunctionType | None:
        """The function with changed lines, in the same module and with the same captures."""
        lines = list(self._lines)
        for edit in sorted(rewrite.edits, key=lambda e: -e.line):
            at = edit.line - self._first
            lines[at : at + len(edit.old)] = edit.new
        text = textwrap.dedent("\n".join(lines)) + "\n"
        plain = _without_decorators(text)
        free = self._function.__code__.co_freevars
        opening = f"def _outer({', '.join(free)}):\n"
        file = f"<rewrite {next(_numbers)}>"
        try:
            module = compile(opening + textwrap.indent(plain, "    "), file, "exec")
        except SyntaxError:
            return None
        code = _code_named(module, self._function.__name__)
        if code is None or code.co_freevars != free:
            return None
        give_source(code, plain, 1)
        linecache.cache[file] = (len(plain), None, plain.splitlines(keepends=True), file)
        function = self._function
        made = FunctionType(
            code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        made.__kwdefaults__ = function.__kwdefaults__
        return made


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _without_decorators(text: str) -> str:
    (node,) = ast.parse(text).body
    lines = text.splitlines(keepends=True)
    return "".join(lines[node.lineno - 1 :])


def _code_named(outer: CodeType, name: str) -> CodeType | None:
    for constant in outer.co_consts:
        if isinstance(constant, CodeType):
            found = constant if constant.co_name == name else _code_named(constant, name)
            if found is not None:
                return found
    return None
