"""Help for shapes that do not broadcast: an axis to insert, or the sizes that differ."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from .span import Span

Shape = tuple[str, ...]
"""Sizes as they are told: numbers, or names of dimensions."""

_LONGEST = 30
"""An operand whose text is longer is named by its shape."""


def how_to_fit(shapes: str, operation: str, span: Span | None) -> str | None:
    """A rewrite that lets `shapes`, those of the operands of an operation at `span`, broadcast; None if unknown."""
    found = [_shape(text) for text in re.findall(r"\(([^()]*)\)", shapes)]
    pair = next((pair for pair in combinations(found, 2) if not _fit(*pair)), None)
    if pair is None:
        return None
    operands = zip(found, _operands(operation, span, len(found)))
    names = {shape: text for shape, text in operands if text is not None}
    one, other = pair
    short, long = sorted(pair, key=len)
    rest = [shape for shape in found if shape != short]
    for index, expanded in _expanded(short, len(long)):
        if all(_fit(expanded, shape) for shape in rest):
            return (
                f"`{names[short]}{index}` has shape {_text(expanded)}, which fits"
                if short in names
                else f"`{index}` behind the operand of shape {_text(short)} makes it {_text(expanded)}, which fits"
            )
    axis, a, b = next(
        (-i, a, b) for i, (a, b) in enumerate(zip(one[::-1], other[::-1]), 1) if not _same(a, b)
    )
    return (
        f"along axis {axis}, {_named(one, names)} has {a} and {_named(other, names)} has {b}: "
        "make them equal, or one of them 1"
    )


def _shape(text: str) -> Shape:
    return tuple([size for size in re.split(r",\s*", text) if size])


def _text(shape: Shape) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(shape)})"


def _named(shape: Shape, names: Mapping[Shape, str]) -> str:
    return f"`{names[shape]}`" if shape in names else f"the operand of shape {_text(shape)}"


def _same(a: str, b: str) -> bool:
    return a == b or "1" in (a, b)


def _fit(one: Shape, other: Shape) -> bool:
    return all(_same(a, b) for a, b in zip(one[::-1], other[::-1]))


def _expanded(shape: Shape, rank: int) -> Sequence[tuple[str, Shape]]:
    """The shape with axes of size 1 among and behind its own, up to `rank` axes, and the index that adds them."""
    found: dict[str, Shape] = {}
    for places in sorted(combinations(range(rank), len(shape)), reverse=True):
        first, axes = places[0], dict(zip(places, shape))
        added = [place for place in range(first, rank) if place not in axes]
        if added:
            index = ", ".join(":" if place in axes else "None" for place in range(first, added[-1] + 1))
            found[f"[{index}]"] = tuple([axes.get(place, "1") for place in range(first, rank)])
    return list(found.items())


def _operands(operation: str, span: Span | None, count: int) -> list[str | None]:
    """The operands as the source writes them, those of an operator or of a call of the function; None for long ones."""
    nodes: list[ast.expr] = []
    match _expression(span):
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            nodes = [left, right]
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args, keywords=[]):
            nodes = args if name == operation.rpartition(".")[2] else []
    return [_operand(node) for node in nodes] if len(nodes) == count else []


def _operand(node: ast.expr) -> str | None:
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return None
    text = ast.unparse(node)
    return text if len(text) <= _LONGEST else None


def _expression(span: Span | None) -> ast.expr | None:
    """The expression at a place, where there is one alone and its source can be read."""
    if span is None or span.line <= 0:
        return None
    lines = linecache.getlines(span.file)[span.line - 1 : span.end_line]
    if len(lines) != span.end_line - span.line + 1:
        return None
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    try:
        return ast.parse("(" + "".join(lines) + "\n)", mode="eval").body
    except SyntaxError:
        return None
