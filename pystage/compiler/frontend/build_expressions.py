"""Expressions to stage IR: names, literals, operators, displays, subscripts, f-strings.

Every function takes the builder and a node, appends the instructions in Python's order of evaluation,
and returns the temporary that holds the value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from ..stage import ir
from ..values.lattice import is_same_set
from .builder import StageBuilder, is_without_effect, unstarred
from .code_equality import same_constant

UNARY: dict[type, str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}

BINARY: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}

COMPARE: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def name(b: StageBuilder, node: Any) -> ir.Temp:
    """A variable, or the constant that the syntax tree calls a name."""
    if node.id == "__debug__":
        return b.constant(__debug__, b.span(node))
    return b.load(b.mangle(node.id), b.span(node))


def literal(b: StageBuilder, node: Any) -> ir.Temp:
    """A number, a string without replacement fields, `None`, `True`, `False`, `...`."""
    return b.constant(node.value, b.span(node))


def attribute(b: StageBuilder, node: Any) -> ir.Temp:
    """`value.attr`"""
    obj = b.expr(node.value)
    dst = b.temp()
    b.emit(ir.GetAttr(b.span(node), dst, obj, b.mangle(node.attr)))
    return dst


def unary(b: StageBuilder, node: Any) -> ir.Temp:
    """`-x`, `+x`, `~x`, `not x`; a negative number is a constant."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() | complex() as number)):
            if not isinstance(number, bool):
                return b.constant(-number, b.span(node))
    operand = b.expr(node.operand)
    dst = b.temp()
    b.emit(ir.Unary(b.span(node), dst, UNARY[type(node.op)], operand))
    return dst


def binary(b: StageBuilder, node: Any) -> ir.Temp:
    """`left op right`"""
    left = b.expr(node.left)
    right = b.expr(node.right)
    dst = b.temp()
    b.emit(ir.Binary(b.span(node), dst, BINARY[type(node.op)], left, right))
    return dst


def boolean(b: StageBuilder, node: Any) -> ir.Temp:
    """`a and b and …`, `a or b or …`: the first operand that decides, else the last."""
    return _decide(b, node, _operands(node), isinstance(node.op, ast.And), in_test=False)


def test(b: StageBuilder, node: Any) -> ir.Temp:
    """An expression of which only the truth matters: `and`, `or`, `not` in it give bools.

    So operands of different kinds meet in a bool, where the value of `a or b` would be of either kind.
    """
    if isinstance(node, ast.BoolOp):
        return _decide(b, node, _operands(node), isinstance(node.op, ast.And), in_test=True)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand = test(b, node.operand)
        dst = b.temp()
        b.emit(ir.Unary(b.span(node), dst, "not", operand))
        return dst
    return b.expr(node)


def _operands(node: Any) -> list[Any]:
    """The operands of `a and b and …`, or of `a or b or …`, from the left."""
    first, *rest = node.values
    within = isinstance(first, ast.BoolOp) and type(first.op) is type(node.op)
    return [*(_operands(first) if within else [first]), *rest]


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
    return _chain(b, node, b.expr(node.left), 0)


def _chain(b: StageBuilder, node: ast.Compare, left: ir.Temp, place: int) -> ir.Temp:
    right = b.expr(node.comparators[place])
    dst = b.temp()
    b.emit(ir.Compare(b.span(node), dst, COMPARE[type(node.ops[place])], left, right))
    if place == len(node.ops) - 1:
        return dst
    return choose(b, node, dst, lambda: _chain(b, node, right, place + 1), lambda: dst)


def walrus(b: StageBuilder, node: Any) -> ir.Temp:
    """`(target := value)`"""
    value = b.expr(node.value)
    b.store(b.mangle(node.target.id), value, b.span(node))
    return value


def display(kind: ir.Sequence) -> Callable[[StageBuilder, Any], ir.Temp]:
    """The visitor of `(…)`, `[…]` or `{…}`."""

    def build(b: StageBuilder, node: Any) -> ir.Temp:
        is_ordered = True
        if kind is ir.Sequence.SET and is_folded(node, node):
            constant = folded_set(b, node)
            if constant is not None:
                return _sequence(b, node, kind, (ir.Item(b.constant(constant, b.span(node)), True),))
            is_ordered = False
        items = []
        for place, e in enumerate(node.elts):
            value, star = b.expr(unstarred(e)), isinstance(e, ast.Starred)
            if star:
                behind = node.elts[place + 1 :]
                value = b.spliced(value, behind, b.span(e))
                is_ordered = is_ordered and all(map(is_without_effect, behind))
            items.append(ir.Item(value, star))
        return _sequence(b, node, kind, tuple(items), is_ordered)

    return build


def _sequence(
    b: StageBuilder, node: Any, kind: ir.Sequence, items: tuple[ir.Item, ...], is_ordered: bool = True
) -> ir.Temp:
    """A sequence of items; a tuple of literals, which were the last to be emitted, is a literal itself."""
    dst, span = b.temp(), b.span(node)
    first = len(b.block) - len(items)
    literals = [i for i in b.block[first:] if isinstance(i, ir.Constant)]
    if kind is ir.Sequence.TUPLE and [ir.Item(i.dst, False) for i in literals] == list(items):
        del b.block[first:]
        b.emit(ir.Constant(span, dst, tuple([i.value for i in literals])))
    else:
        b.emit(ir.Build(span, dst, kind, items, is_ordered))
    return dst


_FOLDED = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.unaryop, ast.operator, ast.expr_context)


def is_folded(display: ast.Set, around: ast.expr) -> bool:
    """True if CPython makes the display a constant, a frozenset, where the expression `around` has it."""
    if not all(isinstance(each, _FOLDED) for element in display.elts for each in ast.walk(element)):
        return False
    return bool(_frozensets(compile(ast.Expression(around), "<set>", "eval")))


def folded_set(b: StageBuilder, display: ast.Set) -> frozenset[Any] | None:
    """The constant of the code for a display; None where several differ in their order.

    Its order is the order of the code: the compiler's, or that of a `.pyc` file.
    """
    (wanted,) = _frozensets(compile(ast.Expression(_membership(display)), "<set>", "eval"))
    found = [each for each in _frozensets(b.unit.source.code) if same_constant(each, wanted)]
    return found[0] if found and all(is_same_set(found[0], each) for each in found) else None


def iterated(b: StageBuilder, node: ast.expr) -> ir.Temp:
    """What a loop goes over: CPython makes a display of constants there a frozenset."""
    if isinstance(node, ast.Set) and is_folded(node, _membership(node)):
        constant = folded_set(b, node)
        if constant is not None:
            return b.constant(constant, b.span(node))
    return b.expr(node)


def _membership(display: ast.Set) -> ast.expr:
    test = ast.Compare(ast.Constant(None), [ast.In()], [display])
    return ast.fix_missing_locations(ast.copy_location(test, display))


def _frozensets(code: CodeType) -> list[frozenset[Any]]:
    found: list[frozenset[Any]] = []
    for constant in code.co_consts:
        if isinstance(constant, frozenset):
            found.append(constant)
        elif isinstance(constant, CodeType):
            found += _frozensets(constant)
    return found


def dictionary(b: StageBuilder, node: Any) -> ir.Temp:
    """`{key: value, **mapping}`"""
    entries: list[tuple[ir.Temp | None, ir.Temp]] = []
    for key, value in zip(node.keys, node.values):
        entries.append((None if key is None else b.expr(key), b.expr(value)))
    dst = b.temp()
    b.emit(ir.BuildDict(b.span(node), dst, tuple(entries)))
    return dst


def subscript(b: StageBuilder, node: Any) -> ir.Temp:
    """`obj[index]`"""
    obj = b.expr(node.value)
    at = b.expr(node.slice)
    dst = b.temp()
    b.emit(ir.GetItem(b.span(node), dst, obj, at))
    return dst


def slice_(b: StageBuilder, node: Any) -> ir.Temp:
    """`lower:upper:step`"""
    bounds = [None if part is None else b.expr(part) for part in (node.lower, node.upper, node.step)]
    dst = b.temp()
    b.emit(ir.BuildSlice(b.span(node), dst, *bounds))
    return dst


def formatted(b: StageBuilder, node: Any) -> ir.Temp:
    """An f-string, with the strings beside it: text and `{expression!conversion:spec}`, in order."""
    parts = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            parts.append(_field(b, part))
        elif part.value:
            parts.append(literal(b, part))
    dst = b.temp()
    b.emit(ir.JoinStrings(b.span(node), dst, tuple(parts)))
    return dst


def _field(b: StageBuilder, node: ast.FormattedValue) -> ir.Temp:
    value = b.expr(node.value)
    spec = None if node.format_spec is None else b.expr(node.format_spec)
    conversion = "" if node.conversion == -1 else chr(node.conversion)
    dst = b.temp()
    b.emit(ir.Format(b.span(node.value), dst, value, conversion, spec))
    return dst
