"""Parses what is written in a file: its functions and the ends of their headers, its integers, its `# pystage: ignore`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Set
from dataclasses import field
from functools import cached_property
from pathlib import Path

from ...compiler.diagnostics.span import Span
from ...records import dataclass

_COMMENT = re.compile(r"#\s*pystage:\s*ignore(?:\[([^\]]*)\])?(?![\w\[])")
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Ignore:
    """A comment `# pystage: ignore[…]`: the codes that it ignores, None for all, and whether it has ignored one."""

    span: Span
    codes: frozenset[str] | None
    used: bool = False

    def covers(self, code: str) -> bool:
        """True if problems with this code are ignored."""
        return self.codes is None or code in self.codes


@dataclass
class Written:
    """The text of one file. A file that is no Python has neither functions nor comments."""

    path: Path
    text: str = field(repr=False)

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None where the text is no Python."""
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError):
            return None

    @cached_property
    def definitions(self) -> list[Definition]:
        """Every `def`."""
        return [node for node in ast.walk(self.tree or ast.Module([], [])) if isinstance(node, Definition)]

    @cached_property
    def jitted(self) -> list[Span]:
        """The functions in the module and in its classes that stand under `jax.jit`, by their qualified names."""
        if self.tree is None:
            return []
        names = _names_of_jit(self.tree)
        return [
            Span(str(self.path), node.lineno, node.col_offset, node.lineno, node.col_offset, name)
            for name, node in _outside_functions(self.tree, "")
            if any(_is_jit(decorator, names) for decorator in node.decorator_list)
        ]

    @cached_property
    def integers(self) -> set[int]:
        """Every integer that is written, in the program, in an annotation or elsewhere."""
        return {int(digits) for digits in re.findall(r"\d(?:_?\d)*", self.text) if len(digits) < 20}

    @cached_property
    def ignores(self) -> list[Ignore]:
        """The comments that ignore problems."""
        return list(self._ignores())

    @property
    def is_worth_importing(self) -> bool:
        """False if there is certainly nothing to check: it neither names pystage nor annotates a parameter."""
        if re.search(r"\bpystage\b", self.text) or self.tree is None:
            return True
        parameters = [
            p for d in self.definitions for p in (*d.args.posonlyargs, *d.args.args, *d.args.kwonlyargs)
        ]
        return any(parameter.annotation is not None for parameter in parameters)

    def definition_at(self, first_line: int) -> Definition | None:
        """The function whose code begins at this line, decorators included."""
        for node in self.definitions:
            if first_line == min([node.lineno, *[d.lineno for d in node.decorator_list]]):
                return node
        return None

    def lines_of(self, line: int) -> range:
        """The lines of the function whose `def` stands on this one."""
        for node in self.definitions:
            if node.lineno == line:
                return range(line, (node.end_lineno or line) + 1)
        return range(line, line + 1)

    def ignoring(self, code: str, span: Span) -> list[Ignore]:
        """The comments that ignore a problem there: on its lines, or in the header of a function around it."""
        lines = {*range(span.line, span.end_line + 1)}
        for node in self.definitions:
            if node.lineno <= span.line <= (node.end_lineno or node.lineno):
                lines.update(range(node.lineno, max(node.lineno + 1, node.body[0].lineno)))
        return [ignore for ignore in self.ignores if ignore.span.line in lines and ignore.covers(code)]

    def _ignores(self) -> Iterator[Ignore]:
        if "pystage:" not in self.text:
            return
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (tokenize.TokenError, SyntaxError):
            return
        for token in tokens:
            found = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if found is not None:
                line, column = token.start
                place = Span(str(self.path), line, column + found.start(), line, column + found.end())
                codes = [code.strip() for code in (found[1] or "").split(",")]
                yield Ignore(place, frozenset(codes) if found[1] is not None else None)


def _outside_functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    """The functions that are no part of another, by qualified name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield prefix + child.name, child
        else:
            yield from _outside_functions(
                child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
            )


def _names_of_jit(tree: ast.Module) -> set[str]:
    """What `jax.jit` is called in a module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {f"{alias.asname or 'jax'}.jit" for alias in node.names if _binds_jax(alias)}
        elif isinstance(node, ast.ImportFrom) and node.module == "jax" and not node.level:
            found |= {alias.asname or alias.name for alias in node.names if alias.name == "jit"}
    return found


def _binds_jax(alias: ast.alias) -> bool:
    return alias.name == "jax" or (alias.name.startswith("jax.") and alias.asname is None)


def _is_jit(decorator: ast.expr, names: Set[str]) -> bool:
    """Whether a decorator is `jax.jit`, a call of it, or a `partial` of it."""
    if not isinstance(decorator, ast.Call):
        return ast.unparse(decorator) in names
    is_partial = ast.unparse(decorator.func) in ("partial", "functools.partial") and decorator.args
    return _is_jit(decorator.args[0] if is_partial else decorator.func, names)


_UNREADABLE = "?"
"""No Python, so that the file is imported, and Python says what is wrong with it."""


def read(path: Path) -> Written:
    """A file as Python reads it."""
    try:
        with tokenize.open(path) as file:
            return Written(path, file.read())
    except (SyntaxError, UnicodeDecodeError):
        return Written(path, _UNREADABLE)
