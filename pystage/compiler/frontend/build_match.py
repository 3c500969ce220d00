"""`match` to stage IR (PEP 634): each pattern becomes a test, and names are bound after the whole pattern has matched.

A captured value is kept in a hidden local until then, since a pattern that fails must not bind anything.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ..stage import ir
from .build_expressions import test
from .builder import StageBuilder
from .source import Place, end_of, start_of

_MISSING = object()
"""What `getattr` gives for an attribute that the subject of a class pattern does not have."""

Test = Callable[[], ir.Temp]


def match(b: StageBuilder, node: Any) -> None:
    """`match subject: case …`: the first case whose pattern and guard hold."""
    subject = b.expr(node.subject)
    outer = b.block
    for case in node.cases:
        branch = ir.If(b.span(case.pattern), _case(b, case, subject), [], [])
        b.suite(case.body, branch.then)
        b.emit(branch)
        b.block = branch.orelse
    b.block = outer


def _case(b: StageBuilder, case: Any, subject: ir.Temp) -> ir.Temp:
    """Does the case apply? Binds its names before the guard is evaluated, as CPython does."""
    span = b.span(case.pattern)
    names = list(dict.fromkeys(_captures(case.pattern)))
    matched = b.pattern(case.pattern, subject)
    if not names and case.guard is None:
        return matched
    dst = b.temp()
    branch = ir.If(span, matched, [], [])
    with b.into(branch.then):
        for name in names:
            b.store(b.mangle(name), b.load_hidden(_hidden(b, name), span), span)
        b.join(dst, b.constant(True, span) if case.guard is None else test(b, case.guard), span)
    with b.into(branch.orelse):
        b.join(dst, b.constant(False, span), span)
    b.emit(branch)
    return dst


def _captures(pattern: Any) -> list[str]:
    """The names that a pattern binds, in source order."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            return (_captures(inner) if inner else []) + ([name] if name else [])
        case ast.MatchStar(name=name):
            return [name] if name else []
        case ast.MatchMapping(patterns=parts, rest=rest):
            return [name for part in parts for name in _captures(part)] + ([rest] if rest else [])
        case ast.MatchClass(patterns=patterns, kwd_patterns=named):
            parts = [*patterns, *named]
        case ast.MatchOr(patterns=parts) | ast.MatchSequence(patterns=parts):
            pass
        case _:
            parts = []
    return [name for part in parts for name in _captures(part)]


def _hidden(b: StageBuilder, name: str) -> str:
    """Where a captured value waits."""
    hidden = f".case.{name}"
    b.hidden.add(hidden)
    return hidden


def _capture(b: StageBuilder, name: str, value: ir.Temp, behind: Place) -> None:
    b.store_hidden(_hidden(b, name), value, b.word(name, behind))


def _all(b: StageBuilder, node: Any, tests: Sequence[Test]) -> ir.Temp:
    """Whether all tests hold; none is made after one that fails."""
    span = b.span(node)
    if not tests:
        return b.constant(True, span)
    first = tests[0]()
    if len(tests) == 1:
        return first
    dst = b.temp()
    branch = ir.If(span, first, [], [])
    with b.into(branch.then):
        b.join(dst, _all(b, node, tests[1:]), span)
    with b.into(branch.orelse):
        b.join(dst, b.constant(False, span), span)
    b.emit(branch)
    return dst


def value_pattern(b: StageBuilder, node: Any, subject: ir.Temp) -> ir.Temp:
    """A literal or a dotted name: equality."""
    return _compare(b, node, "==", subject, b.expr(node.value))


def singleton_pattern(b: StageBuilder, node: Any, subject: ir.Temp) -> ir.Temp:
    """`None`, `True`, `False`: identity."""
    return _compare(b, node, "is", subject, b.constant(node.value, b.span(node)))


def _compare(b: StageBuilder, node: Any, op: str, left: ir.Temp, right: ir.Temp) -> ir.Temp:
    dst = b.temp()
    b.emit(ir.Compare(b.span(node), dst, op, left, right))
    return dst


def as_pattern(b: StageBuilder, node: Any, subject: ir.Temp) -> ir.Temp:
    """`_`, `name`, `pattern as name`"""

    def bind() -> ir.Temp:
        if node.name is not None:
            _capture(b, node.name, subject, start_of(node) if node.pattern is None else end_of(node.pattern))
        return b.constant(True, b.span(node))

    if node.pattern is None:
        return bind()

    def inner() -> ir.Temp:
        return b.pattern(node.pattern, subject)

    return _all(b, node, [inner] if node.name is None else [inner, bind])


def or_pattern(b: StageBuilder, node: Any, subject: ir.Temp) -> ir.Temp:
    """`a | b`: the first alternative that matches."""
    return _any(b, node, node.patterns, subject)


def _any(b: StageBuilder, node: Any, patterns: Sequence[Any], subject: ir.Temp) -> ir.Temp:
    span = b.span(node)
    first = b.pattern(patterns[0], subject)
    if len(patterns) == 1:
        return first
    dst = b.temp()
    branch = ir.If(span, first, [], [])
    with b.into(branch.then):
        b.join(dst, b.constant(True, span), span)
    with b.into(branch.orelse):
        b.join(dst, _any(b, node, patterns[1:], subject), span)
    b.emit(branch)
    return dst


def sequence_pattern(b: StageBuilder, node: Any, subject: ir.Temp) -> ir.Temp:
    """`[a, *rest, b]`: a sequence of that length whose parts match."""
    elements = node.patterns
    stars = [i for i, e in enumerate(elements) if isinstance(e, ast.MatchStar)]
    star = stars[0] if stars else None

    def shape() -> ir.Temp:
        dst, count = b.temp(), len(elements) - len(stars)
        b.emit(
            ir.MatchTest(b.span(node), dst, ir.Test.SEQUENCE, subject, count=count, at_least=star is not None)
        )
        return dst

    def parts() -> ir.Temp:
        dsts = tuple(b.temp() for _ in elements)
        b.emit(ir.Unpack(b.span(node), dsts, subject, star))
        tests: list[Test] = []
        for element, dst in zip(elements, dsts):
            if isinstance(element, ast.MatchStar):
                if element.name is not None:
                    _capture(b, element.name, dst, start_of(element))
            elif not _is_wildcard(element):
                tests.append(lambda p=element, d=dst: b.pattern(p, d))  # type: ignore[misc]
        return _all(b, node, tests)

    def matters(element: Any) -> bool:
        return element.name is not None if isinstance(element, ast.MatchStar) else not _is_wildcard(element)

    return _all(b, node, [shape, parts] if any(map(matters, elements)) else [shape])


def _is_wildcard(pattern: Any) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None


def mapping_pattern(b: StageBuilder, node: Any, subject: ir.Temp) -> ir.Temp:
    """`{key: pattern, **rest}`: a mapping that has these keys, with values that match."""
    span = b.span(node)
    keys = [b.expr(key) for key in node.keys]

    def shape() -> ir.Temp:
        dst = b.temp()
        b.emit(ir.MatchTest(span, dst, ir.Test.MAPPING, subject, tuple(keys)))
        return dst

    def value(key: ir.Temp, pattern: Any) -> ir.Temp:
        dst = b.temp()
        b.emit(ir.GetItem(b.span(pattern), dst, subject, key))
        return b.pattern(pattern, dst)

    def rest() -> ir.Temp:
        copy = b.temp()
        maker = b.constant(dict, span)
        b.emit(ir.Call(span, copy, maker, (ir.Arg(ir.ArgKind.POSITIONAL, subject),)))
        for key in keys:
            b.emit(ir.DelItem(span, copy, key))
        _capture(b, node.rest, copy, end_of(node.patterns[-1]) if node.patterns else start_of(node))
        return b.constant(True, span)

    tests: list[Test] = [shape]
    for key, pattern in zip(keys, node.patterns):
        if not _is_wildcard(pattern):
            tests.append(lambda k=key, p=pattern: value(k, p))  # type: ignore[misc]
    if node.rest is not None:
        tests.append(rest)
    return _all(b, node, tests)


def class_pattern(b: StageBuilder, node: Any, subject: ir.Temp) -> ir.Temp:
    """`Class(pattern, name=pattern)`: an instance whose attributes match."""
    cls = b.expr(node.cls)

    def shape() -> ir.Temp:
        dst = b.temp()
        b.emit(ir.MatchTest(b.span(node), dst, ir.Test.CLASS, subject, (cls,)))
        return dst

    def positional(position: int, pattern: Any) -> ir.Temp:
        dst = b.temp()
        b.emit(ir.MatchArgs(b.span(pattern), dst, subject, cls, position))
        return b.pattern(pattern, dst)

    tests: list[Test] = [shape]
    for position, pattern in enumerate(node.patterns):
        tests.append(lambda i=position, p=pattern: positional(i, p))  # type: ignore[misc]
    for name, pattern in zip(node.kwd_attrs, node.kwd_patterns):
        tests.append(lambda n=name, p=pattern: _keyword(b, n, p, subject))  # type: ignore[misc]
    return _all(b, node, tests)


def _keyword(b: StageBuilder, name: str, pattern: ast.pattern, subject: ir.Temp) -> ir.Temp:
    """`name=pattern`: the subject has the attribute, and it matches. The attribute is read once."""
    span = b.span(pattern)
    dst, found = b.temp(), b.temp()
    attr, missing = b.constant(b.mangle(name), span), b.constant(_MISSING, span)
    args = tuple(ir.Arg(ir.ArgKind.POSITIONAL, arg) for arg in (subject, attr, missing))
    b.emit(ir.Call(span, dst, b.constant(getattr, span), args))

    def present() -> ir.Temp:
        b.emit(ir.Compare(span, found, "is not", dst, missing))
        return found

    return _all(b, pattern, [present, lambda: b.pattern(pattern, dst)])
