"""Source lookup: the file, and the part of its text that defines exactly this function.

In: a function or its code object. Out: a `FunctionSource`, or a `FrontendError` with one coded diagnostic
(no text, changed on disk, ambiguous lambdas). A file is parsed once, by `ast`, for all functions in it.
"""

from __future__ import annotations

import ast
import io
import linecache
import re
import threading
import warnings
import weakref
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from types import CodeType, FunctionType, MethodType
from typing import Any

from ...records import dataclass
from ..diagnostics.codes_syntax import AmbiguousLambda, NotAPythonFunction, SourceChanged, SourceNotFound
from ..diagnostics.diagnostic import Diagnostic
from ..diagnostics.span import Span
from .code_equality import nested_codes, same_meaning
from .errors import FrontendError
from .interactive import TIMED, texts_without_a_file, why_no_text

_Key = tuple[int, str]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Place = tuple[int, int]
"""A line of a file, from 1, and a column as `ast` counts it: in bytes of UTF-8, from 0."""


def start_of(node: Any) -> Place:
    """Where a node begins."""
    return node.lineno, node.col_offset


def end_of(node: Any) -> Place:
    """Where a node ends."""
    return node.end_lineno, node.end_col_offset


@dataclass(frozen=True, slots=True, repr=False)
class FunctionSource:
    """The definition of one function: the tree, with positions in `file`, and its `lines`, which begin at `line`."""

    code: CodeType
    file: str
    node: Definition
    lines: Sequence[str]
    line: int

    @property
    def text(self) -> str:
        """Whole lines for a `def` (decorators included, indentation kept), the bare expression for a lambda."""
        if not isinstance(self.node, ast.Lambda):
            return "".join(self.lines)
        piece = [line.encode() for line in self.lines]
        piece[-1] = piece[-1][: self.node.end_col_offset]
        piece[0] = piece[0][self.node.col_offset :]
        return b"".join(piece).decode()

    def span(self, start: Place, end: Place, function: str) -> Span:
        """A range of the file, its columns counted in characters."""
        return Span(self.file, start[0], self._column(start), end[0], self._column(end), function)

    def word(self, name: str, behind: Place, function: str) -> Span:
        """Where a name stands of which the tree keeps the text alone: the first time after a place."""
        line, column = behind[0], self._column(behind)
        pattern = re.compile(rf"\b{name}\b")
        for number in range(line, self.line + len(self.lines)):
            found = pattern.search(self.lines[number - self.line], column if number == line else 0)
            if found is not None:
                return Span(self.file, number, found.start(), number, found.end(), function)
        return self.span(behind, behind, function)

    def _column(self, place: Place) -> int:
        text = self.lines[place[0] - self.line]
        return place[1] if text.isascii() else len(text.encode()[: place[1]].decode())


@dataclass(frozen=True, slots=True)
class _Definition:
    """A definition in a file."""

    node: Definition

    def contains(self, position: tuple[int, int, int, int]) -> bool:
        """Does the body cover this range of text (line, end line, column, end column, as `co_positions`)?"""
        body = self.node.body
        assert isinstance(body, ast.expr)
        line, end_line, column, end_column = position
        start = (body.lineno, body.col_offset)
        end = (body.end_lineno or 0, body.end_col_offset or 0)
        return start <= (line, column) and (end_line, end_column) <= end

    def code(self) -> CodeType:
        """The code of a lambda, compiled by itself: names of the function around it are global there."""
        assert isinstance(self.node, ast.Lambda)
        return next(nested_codes(compile(ast.Expression(self.node), "<lambda>", "eval")))

    def extent(self) -> int:
        """An order by size, for definitions nested in each other on one line."""
        node = self.node
        return ((node.end_lineno or 0) - node.lineno) * 100_000 + (node.end_col_offset or 0) - node.col_offset


@dataclass(slots=True)
class _File:
    """A file: its definitions by first line and name, and its code objects likewise, for each set of flags."""

    lines: list[str]
    tree: ast.Module
    definitions: dict[_Key, list[_Definition]]
    compiled: dict[int, dict[_Key, list[CodeType]]] = field(default_factory=dict)


_lock = threading.RLock()
_files: dict[str, _File] = {}
_MAX_FILES = 64
_SHOWN = "<shown by pystage>"
"""Marks a text in `linecache` that is there for messages and tracebacks, until another code of the name has another."""
_given: dict[int, tuple[weakref.ref[CodeType], Definition, Sequence[str], int]] = {}
"""The definitions that `give_definition` was told, with their lines, by the identity of the code object."""


def code_of(function: object) -> CodeType:
    """The code object of a function, a bound method, or a code object itself; else a coded error."""
    match function:
        case CodeType():
            return function
        case FunctionType():
            return function.__code__
        case MethodType():
            return code_of(function.__func__)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    raise _error(NotAPythonFunction(function=name, kind=type(function).__name__))


def find_source(function: FunctionType | MethodType | CodeType) -> FunctionSource:
    """Finds the text that defines `function`; raises `FrontendError` if there is none that can be trusted."""
    code = code_of(function)
    module_globals = getattr(function, "__globals__", None)
    with _lock:
        if id(code) in _given:
            _, node, lines, line = _given[id(code)]
            return FunctionSource(code, code.co_filename, node, lines, line)
        file = _load(code, module_globals)
        definition = _find(code, file)
        if not _is_what_runs(code, file):
            raise _error(_changed(code))
    return _cut(code, definition.node, file.lines)


def text_around(function: FunctionType) -> str:
    """The text of the file that defines `function`; `FrontendError` if there is none."""
    with _lock:
        return "".join(_load(function.__code__, function.__globals__).lines)


def give_source(code: CodeType, text: str, line: int) -> None:
    """Says what defines a function that stands in no file: a `def` without indentation, as if it began at `line`."""
    node = ast.increment_lineno(ast.parse(text).body[0], line - 1)
    assert isinstance(node, ast.FunctionDef)
    give_definition(code, node, io.StringIO(text).readlines(), line)


def give_definition(code: CodeType, node: Definition, lines: Sequence[str], line: int) -> None:
    """Says what defines a function that stands in no file: the tree, with positions in `lines`, which begin at `line`."""
    key = id(code)
    with _lock:
        _given[key] = weakref.ref(code, lambda _: _given.pop(key, None)), node, lines, line


def given_definition(code: CodeType) -> Definition | None:
    """The definition that `give_definition` was told."""
    found = _given.get(id(code))
    return None if found is None else found[1]


def _error(diagnostic: Diagnostic) -> FrontendError:
    return FrontendError((diagnostic,))


def _span_of(code: CodeType) -> Span:
    line = code.co_firstlineno
    return Span(code.co_filename, line, 0, line, 0, code.co_qualname)


def _changed(code: CodeType) -> SourceChanged:
    module = code.co_filename.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    return SourceChanged(function=code.co_qualname, module=module, span=_span_of(code))


def _load(code: CodeType, module_globals: dict[str, Any] | None) -> _File:
    """The parsed file of `code`, from the cache unless its text has changed."""
    name = code.co_filename
    if linecache.cache.get(name, ())[3:] == (_SHOWN,):
        del linecache.cache[name]
    for text in texts_without_a_file(code):
        lines = io.StringIO(text).readlines()
        with suppress(FrontendError):
            file = _parsed(code, lines)
            if _is_what_runs(code, file):
                linecache.cache[name] = len(text), None, lines, _SHOWN
                return file
    linecache.checkcache(name)
    lines = linecache.getlines(name, module_globals)
    if not lines and name.startswith(
        "<frozen "
    ):  # a module that is a part of the interpreter says where its text is
        lines = linecache.getlines((module_globals or {}).get("__file__") or "")
    if not lines:
        reason, remedy = why_no_text(name)
        raise _error(
            SourceNotFound(function=code.co_qualname, reason=reason, remedy=remedy, span=_span_of(code))
        )
    return _parsed(code, lines)


def _parsed(code: CodeType, lines: list[str]) -> _File:
    """These lines, parsed as the file of `code`."""
    name = code.co_filename
    known = _files.get(name)
    if known is not None and known.lines == lines:
        return known
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's file, shown when Python compiled it
            tree = ast.parse("".join(lines), name)
    except SyntaxError:
        raise _error(_changed(code)) from None
    file = _File(list(lines), tree, _index(tree))
    while len(_files) >= _MAX_FILES:
        del _files[next(iter(_files))]
    _files[name] = file
    return file


def _index(tree: ast.Module) -> dict[_Key, list[_Definition]]:
    """Every function definition of the file, by the first line and the name that its code object has."""
    index: dict[_Key, list[_Definition]] = defaultdict(list)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                index[_first_line(node), node.name].append(_Definition(node))
            case ast.Lambda():
                index[node.lineno, "<lambda>"].append(_Definition(node))
    return dict(index)


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno


def _find(code: CodeType, file: _File) -> _Definition:
    """The definition of `code`.

    Lambdas on one line are distinguished by the columns of their instructions; where these have none, as those of a constant
    in CPython 3.12, by what each lambda does.
    """
    candidates = file.definitions.get((code.co_firstlineno, code.co_name), [])
    if not candidates:
        raise _error(_changed(code))
    if len(candidates) == 1:
        return candidates[0]
    positions = _positions(code)
    covering = [c for c in candidates if positions and all(c.contains(p) for p in positions)]
    if not positions:
        alike = [c for c in candidates if same_meaning(code, c.code())]
        covering = alike if len({ast.dump(c.node) for c in alike}) == 1 else []
    if not covering:
        raise _error(AmbiguousLambda(count=len(candidates), span=_span_of(code)))
    return min(covering, key=_Definition.extent)


def _positions(code: CodeType) -> list[tuple[int, int, int, int]]:
    """Where the instructions of `code` stand; empty if Python keeps no columns (`-X no_debug_ranges`)."""
    return [
        (line, end_line, column, end_column)
        for line, end_line, column, end_column in code.co_positions()
        if line is not None
        and end_line is not None
        and column is not None
        and end_column is not None
        and (line, column) != (end_line, end_column)
    ]


def _is_what_runs(code: CodeType, file: _File) -> bool:
    """Does the text mean what the function does? Compares with a fresh compilation of the whole file.

    Not of the definition alone: what the module imports decides how CPython compiles a method call. IPython compiles each
    statement of a cell by itself, and a cell under `%%timeit` as the body of a function.
    """
    flags = (code.co_flags & _FUTURE_FLAGS) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    if flags not in file.compiled:
        file.compiled[flags] = _codes(file.tree, flags)
    key = code.co_firstlineno, code.co_name
    if any(same_meaning(code, candidate) for candidate in file.compiled[flags].get(key, [])):
        return True
    if code.co_filename == TIMED:
        piece: list[ast.stmt] = [_function_around(file.tree.body, code.co_freevars)]
    else:
        piece = [each for each in file.tree.body if _begin(each) <= key[0] <= (each.end_lineno or 0)]
    alone = _codes(ast.Module(piece, []), flags).get(key, [])
    return any(same_meaning(code, candidate) for candidate in alone)


def _function_around(body: list[ast.stmt], names: Sequence[str]) -> ast.stmt:
    """A function with this body, which has variables of these names."""
    (around,) = ast.parse("def inner():\n pass\n" + "".join(f" {name} = None\n" for name in names)).body
    assert isinstance(around, ast.FunctionDef)
    around.body += body
    return around


def _begin(node: ast.stmt) -> int:
    """The first line of a statement, that of a decorator where it has one."""
    lines: list[int] = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    return min([node.lineno, *lines])


def _codes(tree: ast.Module, flags: int) -> dict[_Key, list[CodeType]]:
    """The code objects in a module by first line and name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = compile(tree, "<module>", "exec", flags=flags, dont_inherit=True)
    found: dict[_Key, list[CodeType]] = defaultdict(list)
    for inner in nested_codes(whole):
        found[inner.co_firstlineno, inner.co_name].append(inner)
    return dict(found)


def _cut(code: CodeType, node: Definition, lines: Sequence[str]) -> FunctionSource:
    """The definition `node` of a file with its lines."""
    first = node.lineno if isinstance(node, ast.Lambda) else _first_line(node)
    return FunctionSource(code, code.co_filename, node, lines[first - 1 : node.end_lineno], first)


_FUTURE_FLAGS = 0x1FE0000
"""The bits of `co_flags` that `from __future__ import …` sets."""
