"""Scopes: the storage class of every variable, by the rules of Python's symbol table (PEP 227, 572, 709).

`analyse` walks the syntax tree once. Each function, lambda and comprehension gets a `VariableScope`;
`VariableScope.resolve` gives the storage class of a name. A comprehension is inlined into its function with its variables
renamed, as in PEP 709, unless a nested function captures one of them: then every execution of the comprehension needs
variables of its own, and it stays a function.
"""

from __future__ import annotations

import ast
import enum
import sys
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from ...records import dataclass
from ..stage.ir import StorageClass

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class ScopeKind(enum.Enum):
    """The kind of construct that a scope belongs to."""

    FUNCTION = "function"
    COMPREHENSION = "comprehension"


@dataclass(slots=True, eq=False)
class VariableScope:
    """The variables of one function or comprehension.

    `bound`: names that something in it assigns; `used`: all names it mentions. `captured`: a comprehension
    that stays a function; `inlined`: one that Python itself makes no function of (PEP 709). `cells`, `free`: as in
    `stage.ir.Function`, filled by `analyse`.
    """

    kind: ScopeKind
    parent: VariableScope | None
    outer_free: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()
    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    children: list[VariableScope] = field(default_factory=list)
    captured: bool = False
    inlined: bool = False
    cells: set[str] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)

    @property
    def is_function(self) -> bool:
        """Does it have a frame of its own?"""
        return self.kind is ScopeKind.FUNCTION or self.captured

    @property
    def function(self) -> VariableScope:
        """The scope whose frame holds these variables."""
        scope = self
        while not scope.is_function:
            assert scope.parent is not None
            scope = scope.parent
        return scope

    def resolve(self, name: str) -> tuple[StorageClass, str]:
        """Where `name`, used in this scope, lives, and what it is called in the stage IR."""
        owner, found = self.owner(name)
        if not found:
            return StorageClass.GLOBAL, name
        if owner is not None and not owner.is_function:
            return StorageClass.LOCAL, owner.renamed[name]
        frame = self.function
        shared = name in frame.cells or name in frame.free
        return (StorageClass.CELL if shared else StorageClass.LOCAL), name

    def owner(self, name: str) -> tuple[VariableScope | None, bool]:
        """The scope that holds `name`, and whether it is a variable of a function at all.

        `(None, True)` is a variable of a function around the outermost one; `(None, False)` a global.
        """
        scope: VariableScope | None = self
        while scope is not None:
            if name in scope.globals:
                return None, False
            if name in scope.bound and name not in scope.nonlocals:
                return scope, True
            if scope.parent is None:
                return None, name in scope.outer_free
            scope = scope.parent
        raise AssertionError("internal error: a scope without a root")

    def is_free(self, name: str) -> bool:
        """Is `name`, used in this scope, a variable of a function around it to Python?"""
        owner, found = self.owner(name)
        scope: VariableScope | None = self
        while scope is not owner and scope is not None and scope.inlined:
            scope = scope.parent
        return found and scope is not owner

    def local_names(self) -> Iterator[str]:
        """The variables of this frame that no other frame shares, renamed ones of comprehensions included."""
        yield from self.bound - self.globals - self.nonlocals - self.cells
        yield from self._renamed_inside()

    def _renamed_inside(self) -> Iterator[str]:
        for child in self.children:
            if not child.is_function:
                yield from child.renamed.values()
                yield from child._renamed_inside()

    def tree(self) -> Iterator[VariableScope]:
        """This scope and all inside it."""
        yield self
        for child in self.children:
            yield from child.tree()


def mangle(name: str, class_name: str) -> str:
    """`__name` inside class `C` is `_C__name` (Python reference, 6.2.1)."""
    if not class_name or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def analyse(
    node: ast.AST,
    outer_free: frozenset[str],
    class_name: str,
    generators: frozenset[ast.AST] = frozenset(),
) -> dict[ast.AST, VariableScope]:
    """The scope of every function and comprehension in `node`, itself a function definition or a lambda.

    `outer_free` are the free variables of its code object: names of the functions around it. `generators` are the
    generator expressions that have a frame of their own.
    """
    collector = _ScopeCollector(class_name)
    root = VariableScope(ScopeKind.FUNCTION, None, outer_free)
    collector.function(node, root)
    for expression in generators:
        collector.scopes[expression].captured = True
    _mark_captured(root)
    _share(root)
    return collector.scopes


def _mark_captured(root: VariableScope) -> None:
    """Finds the comprehensions whose variables a function inside them captures."""
    changed = True
    while changed:
        changed = False
        for scope in root.tree():
            for name in scope.used | scope.bound:
                owner, _ = scope.owner(name)
                if owner is None or owner.is_function:
                    continue
                if scope.function is not owner.function and not owner.captured:
                    owner.captured = changed = True


def _share(root: VariableScope) -> None:
    """Fills `cells` and `free` of every frame, and names the variables of inlined comprehensions."""
    counter = 0
    for scope in root.tree():
        if not scope.is_function:
            counter += 1
            scope.renamed = {name: f"{name}.{counter}" for name in scope.bound}
    for scope in root.tree():
        for name in scope.used | scope.bound:
            owner, found = scope.owner(name)
            if not found:
                continue
            home = owner.function if owner is not None else None
            frame: VariableScope | None = scope.function
            if home is not None and frame is not home:
                home.cells.add(name)
            while frame is not None and frame is not home:
                frame.free.add(name)
                frame = frame.parent.function if frame.parent is not None else None


class _ScopeCollector:
    """Walks a syntax tree and notes in each scope what it binds and uses."""

    def __init__(self, class_name: str) -> None:
        self.scopes: dict[ast.AST, VariableScope] = {}
        self.class_name = class_name
        self.scope: VariableScope
        self.visitors: dict[type, Callable[[Any], None]] = {
            ast.Name: self.name,
            ast.Assign: self.assign,
            ast.AugAssign: self.assignment,
            ast.AnnAssign: self.assignment,
            ast.NamedExpr: self.named,
            ast.For: self.for_loop,
            ast.AsyncFor: self.for_loop,
            ast.withitem: self.with_item,
            ast.ExceptHandler: self.named_part,
            ast.Delete: self.delete,
            ast.alias: self.alias,
            ast.Global: lambda n: self.declare(n, self.scope.globals),
            ast.Nonlocal: lambda n: self.declare(n, self.scope.nonlocals),
            ast.ClassDef: lambda n: self.bind(n.name),
            ast.FunctionDef: self.nested_function,
            ast.AsyncFunctionDef: self.nested_function,
            ast.Lambda: self.nested_function,
            ast.MatchAs: self.named_part,
            ast.MatchStar: self.named_part,
            ast.MatchMapping: self.match_mapping,
        } | dict.fromkeys(COMPREHENSIONS, self.comprehension)

    def walk(self, node: ast.AST) -> None:
        """Visits `node`, or its children if nothing is to note of it."""
        visit = self.visitors.get(type(node))
        if visit is not None:
            visit(node)
            return
        self.within(node)

    def within(self, node: ast.AST) -> None:
        """Visits the children of `node`."""
        for child in ast.iter_child_nodes(node):
            self.walk(child)

    def bind(self, name: str) -> None:
        self.scope.bound.add(mangle(name, self.class_name))

    def name(self, node: Any) -> None:
        if node.id != "__debug__":
            self.scope.used.add(mangle(node.id, self.class_name))
            if node.id == "super":
                self.scope.used.add("__class__")

    def target(self, node: Any) -> None:
        """The target of an assignment, a loop or `del`."""
        match node:
            case ast.Name(id=name):
                self.bind(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self.target(element)
            case ast.Starred(value=inner):
                self.target(inner)
            case _:
                self.walk(node)

    def assign(self, node: Any) -> None:
        for target in node.targets:
            self.target(target)
        self.walk(node.value)

    def delete(self, node: Any) -> None:
        for target in node.targets:
            self.target(target)

    def with_item(self, node: Any) -> None:
        self.walk(node.context_expr)
        if node.optional_vars is not None:
            self.target(node.optional_vars)

    def named_part(self, node: Any) -> None:
        """What binds its `name`, if it has one, besides what is in it."""
        self.within(node)
        if node.name is not None:
            self.bind(node.name)

    def assignment(self, node: Any) -> None:
        if node.value is not None:
            self.walk(node.value)
        self.target(node.target)

    def named(self, node: Any) -> None:
        """A walrus binds in the function around all comprehensions (PEP 572)."""
        self.walk(node.value)
        scope, name = self.scope, mangle(node.target.id, self.class_name)
        scope.used.add(name)
        while scope.kind is ScopeKind.COMPREHENSION:
            assert scope.parent is not None
            scope = scope.parent
        scope.bound.add(name)

    def for_loop(self, node: Any) -> None:
        self.walk(node.iter)
        self.target(node.target)
        for statement in (*node.body, *node.orelse):
            self.walk(statement)

    def comprehension(self, node: Any) -> None:
        """The first iterable belongs to the scope around it; everything else is inside."""
        self.walk(node.generators[0].iter)
        outer = self.scope
        self.scope = self.enter(node, ScopeKind.COMPREHENSION)
        self.scope.inlined = sys.version_info >= (3, 12) and not isinstance(node, ast.GeneratorExp)
        for place, clause in enumerate(node.generators):
            if place:
                self.walk(clause.iter)
            self.target(clause.target)
            for condition in clause.ifs:
                self.walk(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.walk(part)
        self.scope = outer

    def enter(self, node: ast.AST, kind: ScopeKind) -> VariableScope:
        scope = VariableScope(kind, self.scope)
        self.scope.children.append(scope)
        self.scopes[node] = scope
        return scope

    def alias(self, node: Any) -> None:
        self.bind(node.asname or node.name.partition(".")[0])

    def declare(self, node: Any, names: set[str]) -> None:
        declared = [mangle(name, self.class_name) for name in node.names]
        names.update(declared)
        self.scope.used.update(declared)

    def match_mapping(self, node: Any) -> None:
        self.within(node)
        if node.rest is not None:
            self.bind(node.rest)

    def nested_function(self, node: Any) -> None:
        """Decorators and defaults belong to the scope around it."""
        if not isinstance(node, ast.Lambda):
            self.bind(node.name)
            for decorator in node.decorator_list:
                self.walk(decorator)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.walk(default)
        outer = self.scope
        self.function(node, self.enter(node, ScopeKind.FUNCTION))
        self.scope = outer

    def function(self, node: Any, scope: VariableScope) -> None:
        """Walks the body of a function in its own scope."""
        self.scopes[node] = self.scope = scope
        params = node.args
        ordered = (*params.posonlyargs, *params.args)
        others = (params.vararg, *params.kwonlyargs, params.kwarg)
        scope.parameters = tuple(mangle(p.arg, self.class_name) for p in ordered)
        scope.bound.update(
            scope.parameters, (mangle(p.arg, self.class_name) for p in others if p is not None)
        )
        for part in node.body if isinstance(node.body, list) else [node.body]:
            self.walk(part)
