"""Rewrites the methods of a test module so that calls and operators go through a `Stager`.

Nested functions, lambdas and classes stay as they stand in the file: they are staged, or not, as wholes. Line numbers stay.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any, cast

STAGER = "pystage_stager"
FOUND = "pystage_found"
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.MatMult: "matmul",
}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.In: "contains",
    ast.NotIn: "not_contains",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
_UNTOUCHED = frozenset(["super", "locals", "globals", "vars", "eval", "exec", "dir"])
_RAISING = {"assertRaises": 1, "assertRaisesRegex": 2}
COLLECTED = frozenset(
    [
        "assertEqual",
        "assertNotEqual",
        "assertTrue",
        "assertFalse",
        "assertIn",
        "assertNotIn",
        "assertIsNone",
        "assertIsNotNone",
        "assertLess",
        "assertLessEqual",
        "assertGreater",
        "assertGreaterEqual",
        "assertAlmostEqual",
        "assertListEqual",
        "assertTupleEqual",
        "assertDictEqual",
        "assertSetEqual",
        "assertSequenceEqual",
        "assert_",
    ]
)


def rewritten(source: str, file: str) -> Any:
    """The code of a test module in which the methods of its classes call the stager."""
    tree = ast.parse(source, file)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.body = [_method(each) for each in node.body]
    return compile(ast.fix_missing_locations(tree), file, "exec")


def _method(node: ast.stmt) -> ast.stmt:
    if not isinstance(node, ast.FunctionDef) or any(
        isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(node)
    ):
        return node
    node.body = [cast(ast.stmt, _Calls().visit(each)) for each in node.body]
    return node


class _Calls(ast.NodeTransformer):
    """Rewrites the calls and operators of a method."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.guard = node.guard and self.visit(node.guard)
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name):
            return node if function.id in _UNTOUCHED else _stager(node, "call", function, *node.args)
        if not isinstance(function, ast.Attribute):
            return node
        if isinstance(function.value, ast.Name) and function.value.id in ("self", "cls", STAGER):
            place = _RAISING.get(function.attr, len(node.args))
            if place < len(node.args) and not isinstance(node.args[place], ast.Starred):
                node.args[place] = _stager(node.args[place], "bound", node.args[place])
            return node
        if function.attr.startswith("__") or (
            isinstance(function.value, ast.Call) and _is_super(function.value)
        ):
            return node
        return _stager(node, "method", function.value, ast.Constant(function.attr), *node.args)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _stager(node, "operate", ast.Constant(_BINARY[type(node.op)]), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        name = _UNARY.get(type(node.op))
        if name is None or isinstance(node.operand, ast.Constant):
            return node
        return _stager(node, "operate", ast.Constant(name), node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        name = _COMPARED.get(type(node.ops[0]))
        if name is None or len(node.ops) > 1:
            return node
        return _stager(node, "operate", ast.Constant(name), node.left, node.comparators[0])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _stager(node, "operate", ast.Constant("getitem"), node.value, _key(node.slice))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        given = (node.value, target.value, _key(target.slice))
        return _statement(node, _stager(node, "operate", ast.Constant("store"), *given))

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        return _statement(
            node, _stager(node, "operate", ast.Constant("delete"), target.value, _key(target.slice))
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        name = f"i{_BINARY[type(node.op)].rstrip('_')}"
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        value = _stager(node, "operate", ast.Constant(name), old, node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)


def _is_super(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "super"


def _key(node: ast.expr) -> ast.expr:
    """The expression of what stands in brackets: a slice as an object."""
    if isinstance(node, ast.Slice):
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), parts, []), node)
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([_key(each) for each in node.elts], ast.Load()), node)
    return node


def _stager(node: ast.expr | ast.stmt, name: str, *args: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Name(STAGER, ast.Load()), name, ast.Load())
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return ast.copy_location(ast.Call(function, list(args), keywords), node)


def _statement(node: ast.stmt, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(value), node)


# ---------------------------------------------------------------- bodies


def bodies(source: str) -> dict[str, str]:
    """By `Class.test`, the source of a function without parameters that gives what the test compares.

    Only of tests that use `self` for nothing but assertions that compare.
    """
    found = {}
    for cls in ast.parse(source).body:
        for node in cls.body if isinstance(cls, ast.ClassDef) else ():
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.decorator_list:
                node.body = [cast(ast.stmt, _Collecting().visit(each)) for each in node.body]
                if any(
                    isinstance(n, ast.Name) and n.id in ("self", "super", "__class__") for n in ast.walk(node)
                ):
                    continue
                if FOUND not in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
                    continue
                text = ast.unparse(list(itertools.chain(*[[each] for each in node.body])))  # type: ignore[arg-type]
                lines = [f"{FOUND} = []", *text.splitlines(), f"return {FOUND}"]
                found[f"{cls.name}.{node.name}"] = (
                    "\n".join([f"def {node.name}():", *[f"    {x}" for x in lines]]) + "\n"
                )
    return found


class _Collecting(ast.NodeTransformer):
    """Turns assertions into appending what they compare to a list."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return node
        if (
            not isinstance(call.func.value, ast.Name)
            or call.func.value.id != "self"
            or call.func.attr not in COLLECTED
        ):
            return node
        pair = ast.Tuple(call.args[:2], ast.Load())
        append = ast.Attribute(ast.Name(FOUND, ast.Load()), "append", ast.Load())
        return ast.copy_location(ast.Expr(ast.Call(append, [pair], [])), node)
