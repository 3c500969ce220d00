"""Expressions to stage IR: names, literals, operators, displays, subscripts, f-strings.

Every function takes the builder and a node, appends the instructions in Python's order of evaluation,
and returns the temporary that holds the value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from ..stage import ir
from .builder import StageBuilder

KEYWORDS: dict[str, object] = {"None": None, "True": True, "False": False, "__debug__": __debug__}

UNARY: dict[type, str] = {cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~", cst.Not: "not"}

BINARY: dict[type, str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
}

COMPARE: dict[type, str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}


def name(b: StageBuilder, node: Any) -> ir.Temp:
    """A variable, or one of the constants that the syntax tree calls names."""
    if node.value in KEYWORDS:
        return b.constant(KEYWORDS[node.value], b.span(node))
    return b.load(b.mangle(node.value), b.span(node))


def literal(b: StageBuilder, node: Any) -> ir.Temp:
    """A number, or a string without replacement fields."""
    return b.constant(node.evaluated_value, b.span(node))


def ellipsis(b: StageBuilder, node: Any) -> ir.Temp:
    """`...`"""
    return b.constant(..., b.span(node))


def attribute(b: StageBuilder, node: Any) -> ir.Temp:
    """`value.attr`"""
    obj = b.expr(node.value)
    dst = b.temp()
    b.emit(ir.GetAttr(b.span(node), dst, obj, b.mangle(node.attr.value)))
    return dst


def unary(b: StageBuilder, node: Any) -> ir.Temp:
    """`-x`, `+x`, `~x`, `not x`; a negative number is a constant."""
    op = UNARY[type(node.operator)]
    if op == "-" and isinstance(node.expression, (cst.Integer, cst.Float, cst.Imaginary)):
        return b.constant(-node.expression.evaluated_value, b.span(node))
    operand = b.expr(node.expression)
    dst = b.temp()
    b.emit(ir.Unary(b.span(node), dst, op, operand))
    return dst


def binary(b: StageBuilder, node: Any) -> ir.Temp:
    """`left op right`"""
    left = b.expr(node.left)
    right = b.expr(node.right)
    dst = b.temp()
    b.emit(ir.Binary(b.span(node), dst, BINARY[type(node.operator)], left, right))
    return dst


def boolean(b: StageBuilder, node: Any) -> ir.Temp:
    """`a and b and …`, `a or b or …`: the first operand that decides, else the last."""
    return _decide(b, node, _operands(node), isinstance(node.operator, cst.And), in_test=False)


def test(b: StageBuilder, node: Any) -> ir.Temp:
    """An expression of which only the truth matters: `and`, `or`, `not` in it give bools.

    So operands of different kinds meet in a bool, where the value of `a or b` would be of either kind.
    """
    if isinstance(node, cst.BooleanOperation):
        return _decide(b, node, _operands(node), isinstance(node.operator, cst.And), in_test=True)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        operand = test(b, node.expression)
        dst = b.temp()
        b.emit(ir.Unary(b.span(node), dst, "not", operand))
        return dst
    return b.expr(node)


def _operands(node: Any) -> list[Any]:
    """The operands of `a and b and …`, or of `a or b or …`, from the left."""
    kind = type(node.operator)
    operands: list[Any] = []
    while isinstance(node, cst.BooleanOperation) and isinstance(node.operator, kind):
        operands.append(node.right)
        node = node.left
    return [node, *operands[::-1]]


def _decide(b: StageBuilder, node: Any, operands: Sequence[Any], conjunction: bool, in_test: bool) -> ir.Temp:
    left = test(b, operands[0]) if in_test else b.expr(operands[0])
    if len(operands) == 1:
        return _truth(b, operands[0], left) if in_test else left

    def go_on() -> ir.Temp:
        return _decide(b, node, operands[1:], conjunction, in_test)

    def stop() -> ir.Temp:
        return b.constant(not conjunction, b.span(node)) if in_test else left

    return choose(b, node, left, *((go_on, stop) if conjunction else (stop, go_on)))


def _truth(b: StageBuilder, node: Any, value: ir.Temp) -> ir.Temp:
    dst = b.temp()
    b.emit(ir.Unary(b.span(node), dst, "bool", value))
    return dst


def choose(
    b: StageBuilder, node: Any, cond: ir.Temp, then: Callable[[], ir.Temp], orelse: Callable[[], ir.Temp]
) -> ir.Temp:
    """The value that one of two arms computes."""
    span = b.span(node)
    dst = b.temp()
    branch = ir.If(span, cond, [], [])
    for block, compute in ((branch.then, then), (branch.orelse, orelse)):
        with b.into(block):
            b.join(dst, compute(), span)
    b.emit(branch)
    return dst


def conditional(b: StageBuilder, node: Any) -> ir.Temp:
    """`body if test else orelse`"""
    return choose(b, node, test(b, node.test), lambda: b.expr(node.body), lambda: b.expr(node.orelse))


def comparison(b: StageBuilder, node: Any) -> ir.Temp:
    """`a < b < c`: every operand is evaluated at most once, and none after a comparison that fails."""
    return _chain(b, node, b.expr(node.left), node.comparisons)


def _chain(b: StageBuilder, node: Any, left: ir.Temp, targets: Sequence[Any]) -> ir.Temp:
    target, rest = targets[0], targets[1:]
    right = b.expr(target.comparator)
    dst = b.temp()
    b.emit(ir.Compare(b.span(node), dst, COMPARE[type(target.operator)], left, right))
    if not rest:
        return dst
    return choose(b, node, dst, lambda: _chain(b, node, right, rest), lambda: dst)


def walrus(b: StageBuilder, node: Any) -> ir.Temp:
    """`(target := value)`"""
    value = b.expr(node.value)
    b.store(b.mangle(node.target.value), value, b.span(node))
    return value


def display(kind: ir.Sequence) -> Callable[[StageBuilder, Any], ir.Temp]:
    """The visitor of `(…)`, `[…]` or `{…}`."""

    def build(b: StageBuilder, node: Any) -> ir.Temp:
        items = []
        for place, e in enumerate(node.elements):
            value, star = b.expr(e.value), isinstance(e, cst.StarredElement)
            if star:
                value = b.spliced(value, [other.value for other in node.elements[place + 1 :]], b.span(e))
            items.append(ir.Item(value, star))
        return _sequence(b, node, kind, tuple(items))

    return build


def _sequence(b: StageBuilder, node: Any, kind: ir.Sequence, items: tuple[ir.Item, ...]) -> ir.Temp:
    """A sequence of items; a tuple of literals, which were the last to be emitted, is a literal itself."""
    dst, span = b.temp(), b.span(node)
    first = len(b.block) - len(items)
    literals = [i for i in b.block[first:] if isinstance(i, ir.Constant)]
    if kind is ir.Sequence.TUPLE and [ir.Item(i.dst, False) for i in literals] == list(items):
        del b.block[first:]
        b.emit(ir.Constant(span, dst, tuple([i.value for i in literals])))
    else:
        b.emit(ir.Build(span, dst, kind, items))
    return dst


def dictionary(b: StageBuilder, node: Any) -> ir.Temp:
    """`{key: value, **mapping}`"""
    entries: list[tuple[ir.Temp | None, ir.Temp]] = []
    for element in node.elements:
        key = None if isinstance(element, cst.StarredDictElement) else b.expr(element.key)
        entries.append((key, b.expr(element.value)))
    dst = b.temp()
    b.emit(ir.BuildDict(b.span(node), dst, tuple(entries)))
    return dst


def subscript(b: StageBuilder, node: Any) -> ir.Temp:
    """`obj[index]`"""
    obj = b.expr(node.value)
    at = index(b, node)
    dst = b.temp()
    b.emit(ir.GetItem(b.span(node), dst, obj, at))
    return dst


def index(b: StageBuilder, node: Any) -> ir.Temp:
    """The index of a `Subscript`: one value, or a tuple of several."""
    elements = node.slice
    first = elements[0]
    alone = len(elements) == 1 and not isinstance(first.comma, cst.Comma)
    if alone and getattr(first.slice, "star", None) is None:
        return b.expr(first.slice)
    items = tuple(ir.Item(b.expr(e.slice), getattr(e.slice, "star", None) is not None) for e in elements)
    return _sequence(b, node, ir.Sequence.TUPLE, items)


def index_value(b: StageBuilder, node: Any) -> ir.Temp:
    """An index that is no slice."""
    return b.expr(node.value)


def slice_(b: StageBuilder, node: Any) -> ir.Temp:
    """`lower:upper:step`"""
    bounds = [None if part is None else b.expr(part) for part in (node.lower, node.upper, node.step)]
    dst = b.temp()
    b.emit(ir.BuildSlice(b.span(node), dst, *bounds))
    return dst


def concatenated(b: StageBuilder, node: Any) -> ir.Temp:
    """Adjacent strings; one f-string among them makes all of it one."""
    pieces = _pieces(node)
    if not any(isinstance(piece, cst.FormattedString) for piece in pieces):
        return literal(b, node)
    return _join(b, node, pieces)


def formatted(b: StageBuilder, node: Any) -> ir.Temp:
    """An f-string."""
    return _join(b, node, [node])


def _pieces(node: Any) -> list[Any]:
    pieces: list[Any] = []
    while isinstance(node, cst.ConcatenatedString):
        pieces.append(node.left)
        node = node.right
    return [*pieces, node]


def _join(b: StageBuilder, node: Any, pieces: Sequence[Any]) -> ir.Temp:
    parts: list[ir.Temp] = []
    for piece in pieces:
        if isinstance(piece, cst.FormattedString):
            parts += _parts(b, piece.parts, piece)
        elif piece.evaluated_value:
            parts.append(literal(b, piece))
    dst = b.temp()
    b.emit(ir.JoinStrings(b.span(node), dst, tuple(parts)))
    return dst


def _parts(b: StageBuilder, parts: Sequence[Any], string: Any) -> list[ir.Temp]:
    """The temporaries of text and replacement fields, in order."""
    temps: list[ir.Temp] = []
    for part in parts:
        if isinstance(part, cst.FormattedStringText):
            temps.append(b.constant(_text(part.value, string), b.span(part)))
            continue
        if part.equal is not None:
            temps.append(b.constant(_self_documenting(part), b.span(part)))
        temps.append(_field(b, part, string))
    return temps


def _field(b: StageBuilder, part: Any, string: Any) -> ir.Temp:
    """`{expression!conversion:spec}`"""
    value = b.expr(part.expression)
    spec: ir.Temp | None = None
    if part.format_spec is not None:
        pieces = _parts(b, part.format_spec, string)
        spec = b.temp()
        b.emit(ir.JoinStrings(b.span(part), spec, tuple(pieces)))
    conversion = part.conversion or ""
    if part.equal is not None and not conversion and spec is None:
        conversion = "r"
    dst = b.temp()
    b.emit(ir.Format(b.span(part), dst, value, conversion, spec))
    return dst


def _text(value: str, string: Any) -> str:
    """The text between replacement fields, escapes and doubled braces resolved."""
    value = value.replace("{{", "{").replace("}}", "}")
    if "r" in string.prefix.lower() or "\\" not in value:
        return value
    quote = string.end
    text = ast.literal_eval(f"{quote}{value}{quote}")
    assert isinstance(text, str)
    return text


def _self_documenting(part: Any) -> str:
    """The text that `{expression=}` shows before the value: the source up to and with the `=`."""
    code = cst.Module([]).code_for_node
    before, after = part.whitespace_before_expression, part.whitespace_after_expression
    return "".join(map(code, (before, part.expression, after, part.equal)))
