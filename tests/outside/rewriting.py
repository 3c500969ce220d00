"""Rewrites a test module so that each call, operator and subscript in it goes through one of the functions of `hooks`.

In: a module's source file. Out: its code, in memory only, with the lines of the file. Nothing is changed where the rewritten
expression has another meaning: `super()` and what reads the frame of its caller.
"""

from __future__ import annotations

import ast
from pathlib import Path
from types import CodeType

READS_ITS_FRAME = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
ATTRIBUTES = frozenset({"T", "mT", "real", "imag"})
"""Attributes of arrays that are views."""
BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
"""Names of the functions of `operator`; in-place ones have an `i` before."""


def rewritten(file: Path) -> CodeType:
    """The code of the module in the file; it needs `HOOKS` among its globals."""
    tree = _Rewriter().visit(ast.parse(file.read_text(encoding="utf-8")))
    return compile(ast.fix_missing_locations(tree), str(file), "exec")


HOOKS = ("call", "operate", "item", "store", "store_in_place", "attribute")
"""The functions that a rewritten module calls, by the names without the prefix."""
PREFIX = "outside_"


def _hook(at: ast.expr | ast.stmt, name: str, *args: ast.expr) -> ast.Call:
    assert name in HOOKS
    called = ast.Call(ast.Name(PREFIX + name, ast.Load()), list(args), [])
    return ast.copy_location(called, at)


class _Rewriter(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in READS_ITS_FRAME:
            return node
        made = _hook(node, "call", node.func, *node.args)
        made.keywords = node.keywords
        return made

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _hook(node, "operate", ast.Constant(BINARY[type(node.op)]), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if type(node.op) not in UNARY or isinstance(node.operand, ast.Constant):
            return node
        return _hook(node, "operate", ast.Constant(UNARY[type(node.op)]), node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARISONS:
            return node
        name = ast.Constant(COMPARISONS[type(node.ops[0])])
        return _hook(node, "operate", name, node.left, node.comparators[0])

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _hook(node, "item", node.value, _index(node.slice))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr not in ATTRIBUTES:
            return node
        return _hook(node, "attribute", node.value, ast.Constant(node.attr))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        if len(node.targets) != 1 or not isinstance(target := node.targets[0], ast.Subscript):
            return node
        return ast.copy_location(
            ast.Expr(_hook(node, "store", node.value, target.value, _index(target.slice))), node
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        name = ast.Constant("i" + BINARY[type(node.op)].rstrip("_"))
        match node.target:
            case ast.Name(id=variable):
                read = ast.Name(variable, ast.Load())
                return ast.copy_location(
                    ast.Assign([node.target], _hook(node, "operate", name, read, node.value)), node
                )
            case ast.Subscript(value=value, slice=index):
                return ast.copy_location(
                    ast.Expr(_hook(node, "store_in_place", name, value, _index(index), node.value)), node
                )
            case _:
                return node


def _index(node: ast.expr) -> ast.expr:
    """An index as an expression of its own."""
    match node:
        case ast.Slice(lower=lower, upper=upper, step=step):
            parts = [part or ast.Constant(None) for part in (lower, upper, step)]
            return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), parts, []), node)
        case ast.Tuple(elts=items):
            return ast.copy_location(ast.Tuple([_index(item) for item in items], ast.Load()), node)
        case _:
            return node
