"""Continuations: what a plain run does from the head of a loop on, as a function of the variables there.

In: a function, and a frame of it that stands at the head of a loop. Out: a function that takes the variables and gives
what the run would have returned. It enters the loops around the head in the middle of a trip. The iterator of a `for` is
not accessible, so only loops over ranges are entered, whose bounds cannot have changed.
"""

from __future__ import annotations

import ast
import copy
import dis
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar

import numpy as np

from ..compiler.diagnostics.errors import StagingError
from ..compiler.frontend.errors import FrontendError
from ..compiler.frontend.source import give_definition, text_around
from ..records import dataclass
from ..runtime.tiers import NotReady, anything
from .flow import EMPTY, Targets, VariableLiveness
from .names import names_in
from .parts import Compile
from .source import Source, source_of
from .statement_runs import Variables, never_cut, own_statements

N = TypeVar("N", bound=ast.AST)

Path = tuple[ast.stmt, ...]
"""A loop, after the statements around it from the outermost one on."""


@dataclass(frozen=True, slots=True, eq=False)
class Continuation:
    """The rest of a run: `function`, the names of the variables that it takes, and the compiled function."""

    function: FunctionType
    variables: tuple[str, ...]
    compiled: Any

    def compile(self, values: Sequence[Any], seconds: float) -> None:
        """Compiles it for these values; StagingError if it cannot be staged, TimeoutError if inference takes longer."""
        try:
            with anything(seconds):
                self.compiled.compile_call(values, {})
        except NotReady:
            raise TimeoutError from None

    def run(self, values: Sequence[Any]) -> Any:
        """Runs it, as plain Python where its program does not serve after all."""
        try:
            return self.compiled(*values)
        except StagingError as error:
            if error.started:
                raise
        return self.function(*values)


@dataclass(slots=True)
class Continuations:
    """The continuations of one function, by the lines of the heads of loops."""

    variables: Variables
    heads: Mapping[int, Path]
    _advances: frozenset[int]
    """The offsets of the instructions that take the next element of a `for`."""
    _compile: Compile
    _made: dict[tuple[int, frozenset[str]], Continuation | None] = field(default_factory=dict)

    def at(self, frame: FrameType) -> Continuation | None:
        """The continuation of a frame that is about to execute a line; None where there is none."""
        path = self.heads.get(frame.f_lineno)
        if path is None or (isinstance(path[-1], ast.For) and frame.f_lasti not in self._advances):
            return None
        values = frame.f_locals
        key = frame.f_lineno, frozenset(values)
        if key not in self._made:
            try:
                self._made[key] = self._continuation(path, frozenset(values))
            except RecursionError:
                self._made[key] = None
        made = self._made[key]
        return made if made is not None and all(map(_has_fixed_length, _measured(path, values))) else None

    def _continuation(self, path: Path, bound: frozenset[str]) -> Continuation | None:
        """The continuation at a loop where these variables are bound."""
        source = self.variables.source
        body = _EnteredLoops(self.variables, path).body
        if any(never_cut(statement) for statement in own_statements(body)):
            return None
        names = names_in(body)
        exposed = VariableLiveness().block(body, EMPTY, Targets()) & (self.variables.local | names.binds)
        taken = tuple(sorted(exposed & bound))
        outside = (ast.Global, self.variables.global_names), (ast.Nonlocal, self.variables.nonlocal_names)
        declared = [kind(sorted(given & names.all)) for kind, given in outside if given & names.all]
        node = copy.copy(source.node)
        node.args = ast.arguments([], [ast.arg(name) for name in taken], None, [], [], None, [])
        node.body = [*declared, *body]
        node.decorator_list, node.returns = [], None
        for statement in (node.args, *declared):
            for part in ast.walk(statement):
                ast.copy_location(part, source.node)
        made = source.make(node, {})
        give_definition(made.__code__, node, source.found.lines, source.found.line)
        return Continuation(made, taken, self._compile(made, None))


def continuations_of(function: Callable[..., Any], compile: Compile) -> Continuations | None:
    """The continuations of a function, which `compile` compiles; None where it has none, or is nested too deep."""
    source = source_of(function)
    if source is None or isinstance(source.node, ast.AsyncFunctionDef):
        return None
    try:
        return _continuations_of(source, compile)
    except (FrontendError, RecursionError):
        return None


def _continuations_of(source: Source, compile: Compile) -> Continuations | None:
    variables = Variables(source)
    if variables.watched or variables.captured or _uses_class(source):
        return None
    heads: dict[int, Path] = {}
    shared = set()
    for path in _paths(source.node.body, variables):
        line = path[-1].lineno
        shared |= heads.keys() & {line}
        heads[line] = path
    heads = {line: path for line, path in heads.items() if line not in shared}
    return Continuations(variables, heads, _advances(source.fn.__code__), compile) if heads else None


def _uses_class(source: Source) -> bool:
    return "__class__" in source.fn.__code__.co_freevars


def _advances(code: CodeType) -> frozenset[int]:
    return frozenset(each.offset for each in dis.get_instructions(code) if each.opname == "FOR_ITER")


# ---------------------------------------------------------------- heads of loops


def _paths(block: Sequence[ast.stmt], variables: Variables, around: Path = ()) -> Iterator[Path]:
    """The loops of a block, at any depth, whose heads have a continuation."""
    for statement in block:
        path = (*around, statement)
        match statement:
            case ast.While(test=test):
                if _stands_alone(statement, test):
                    yield path
                yield from _paths(statement.body, variables, path)
            case ast.For() if _is_over_range(statement, variables):
                if _stands_alone(statement, statement.iter):
                    yield path
                yield from _paths(statement.body, variables, path)
            case ast.If():
                yield from _paths(statement.body, variables, path)
                yield from _paths(statement.orelse, variables, path)


def _stands_alone(loop: ast.For | ast.While, last: ast.expr) -> bool:
    """True if the head, which ends with `last`, is a line of its own: Python then comes to that line once in a trip."""
    return loop.lineno == last.end_lineno and loop.lineno < loop.body[0].lineno


def _is_over_range(loop: ast.For, variables: Variables) -> bool:
    """True for a loop over a range whose bounds do not change in it, with a variable that only the loop assigns."""
    match loop:
        case ast.For(
            target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args, keywords=[])
        ):
            names = names_in(loop.body)
            changing = names.binds | names.deleted
            return (
                name not in changing
                and name in variables.local
                and variables.is_builtin("range")
                and all(_is_fixed(arg, {name, *changing}, variables) for arg in args)
            )
    return False


def _is_fixed(node: ast.expr, changing: set[str], variables: Variables) -> bool:
    """True for an integer expression whose value stays the same while these variables change.

    `len(x)` and `x.shape[k]` are among them: `_measured` says of what, for a look at the value.
    """
    match node:
        case ast.Constant(value=int()):
            return True
        case ast.Name(id=name):
            if name in variables.local:
                return name not in changing
            return name not in variables.global_names and _is_never_assigned(name, variables.source.fn)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_fixed(operand, changing, variables)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right=right):
            return _is_fixed(left, changing, variables) and _is_fixed(right, changing, variables)
    name = _measured_name(node)
    is_unchanged = name in variables.local and name not in changing and variables.is_builtin("len")
    return is_unchanged and not re.search(r"\.shape\s*=[^=]|\bresize\b", text_around(variables.source.fn))


def _is_never_assigned(name: str, function: FunctionType) -> bool:
    """True for a global integer that no code of the module's file changes after the file has run."""
    changes = rf"\bglobal\b[^\n]*\b{name}\b|\bglobals\b|\.{name}\s*[-+*/%&|^<>]*=[^=]"
    is_integer = type(function.__globals__.get(name)) is int
    return (
        is_integer
        and name not in function.__code__.co_freevars
        and not re.search(changes, text_around(function))
    )


def _measured_name(node: ast.expr) -> str:
    """The variable whose length or extent an expression is; empty if it is none."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
            return name
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(int())
        ):
            return name
    return ""


def _measured(path: Path, values: Mapping[str, Any]) -> Iterator[Any]:
    """The values whose lengths are bounds of the loops of a path."""
    for loop in path:
        if isinstance(loop, ast.For):
            for node in ast.walk(loop.iter):
                if isinstance(node, ast.expr) and (name := _measured_name(node)):
                    yield values.get(name)


def _has_fixed_length(value: Any) -> bool:
    return type(value) in (np.ndarray, tuple, str, bytes)


# ---------------------------------------------------------------- the body


class _EnteredLoops:
    """The statements of a function from the head of a loop on.

    The loops around it begin with a trip that is on. `entering` is true in it, until it comes to the head: what stands
    before that is left out, and conditions and first elements are those of the trip.
    """

    def __init__(self, variables: Variables, path: Path) -> None:
        self._entering = variables.fresh("entering")
        self._start = variables.fresh("start")
        node = variables.source.node
        self.body = self._enter(node.body, path, looped=False)
        if any(isinstance(each, ast.For | ast.While) for each in path[:-1]):
            self.body.insert(0, self._assign(self._entering, ast.Constant(True), path[0]))

    def _enter(self, block: Sequence[ast.stmt], path: Path, *, looped: bool) -> list[ast.stmt]:
        """A block from the head on, which `path` leads to; `looped`: further trips run the block as a whole."""
        statement, *inner = path
        at = list(block).index(statement)
        before, after = list(block[:at]), list(block[at + 1 :])
        made: list[ast.stmt] = []
        if before and looped:
            made.append(_at(ast.If(ast.UnaryOp(ast.Not(), self._is_entering), before, []), statement))
        if not inner:
            return [*made, *self._head(statement, looped=looped), *after]
        if not isinstance(statement, ast.If):
            return [*made, self._loop(statement, tuple(inner), looped=looped), *after]
        in_body = inner[0] in statement.body
        chosen = self._enter(statement.body if in_body else statement.orelse, tuple(inner), looped=looped)
        if not looped:
            return [*chosen, *after]
        new = copy.copy(statement)
        if in_body:
            new.test = _at(ast.BoolOp(ast.Or(), [self._is_entering, statement.test]), statement.test)
            new.body = chosen
        else:
            skipped = _at(ast.UnaryOp(ast.Not(), self._is_entering), statement.test)
            new.test = _at(ast.BoolOp(ast.And(), [skipped, statement.test]), statement.test)
            new.orelse = chosen
        return [*made, new, *after]

    def _loop(self, loop: ast.stmt, inner: Path, *, looped: bool) -> ast.stmt:
        """A loop around the head, which begins with the trip that is on."""
        new = copy.copy(loop)
        assert isinstance(new, ast.For | ast.While)
        new.body = self._enter(new.body, inner, looped=True)
        if isinstance(new, ast.While):
            new.test = _at(ast.BoolOp(ast.Or(), [self._is_entering, new.test]), new.test)
        else:
            new.iter = self._range(new, _variable(new), looped=looped)
        return new

    def _head(self, loop: ast.stmt, *, looped: bool) -> Iterator[ast.stmt]:
        """The loop at whose head the run stands: a `for` goes on with the element after the last one."""
        new: Any = copy.copy(loop)
        if isinstance(new, ast.For):
            _, _, step = _bounds(new)
            following = ast.BinOp(_variable(new), ast.Add(), step)
            new.iter = self._range(new, following, looped=looped)
            if looped:
                first = new.iter.args[0]
                new.iter.args[0] = _at(ast.Name(self._start, ast.Load()), loop)
                yield self._assign(self._start, first, loop)
        if looped:
            yield self._assign(self._entering, ast.Constant(False), loop)
        yield new

    def _range(self, loop: ast.For, first: ast.expr, *, looped: bool) -> ast.Call:
        """The range of a loop, that begins with `first` in the trip that is on."""
        start, stop, step = _bounds(loop)
        if looped:
            first = ast.IfExp(self._is_entering, first, start)
        made = copy.copy(loop.iter)
        assert isinstance(made, ast.Call)
        made.args = [_at(first, loop.iter), stop, step]
        return made

    @property
    def _is_entering(self) -> ast.expr:
        return ast.Name(self._entering, ast.Load())

    def _assign(self, name: str, value: ast.expr, place: ast.stmt) -> ast.stmt:
        return _at(ast.Assign([ast.Name(name, ast.Store())], value), place)


def _variable(loop: ast.For) -> ast.expr:
    assert isinstance(loop.target, ast.Name)
    return ast.Name(loop.target.id, ast.Load())


def _bounds(loop: ast.For) -> tuple[ast.expr, ast.expr, ast.expr]:
    """The start, the stop and the step of a loop's range."""
    assert isinstance(loop.iter, ast.Call)
    zero, one = (_at(ast.Constant(n), loop.iter) for n in (0, 1))
    match copy.deepcopy(loop.iter.args):
        case [stop]:
            return zero, stop, one
        case [start, stop]:
            return start, stop, one
        case [start, stop, step]:
            return start, stop, step
    raise AssertionError("internal error: a range of no arguments")


def _at(node: N, place: ast.AST) -> N:
    """The node, with all new parts of it at `place`."""
    for part in ast.walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return node
