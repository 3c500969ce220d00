"""A whole program: from a Python function and the description of its arguments to a `Program`.

The arguments become cells and parameters, the function is called on them, and what it left behind becomes
templates for the results and mutations for the caller's objects.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax

from ..diagnostics.codes_calls import InternalError
from ..diagnostics.diagnostic import Diagnostic, DiagnosticError
from ..diagnostics.errors import StagingError
from ..hlo.ir import Function, Value
from ..stage import ir as stage
from ..values.boundary import (
    Argument,
    Demand,
    Form,
    Leaf,
    Path,
    Program,
    Raises,
    Spec,
    Static,
    Step,
    Structure,
    Template,
)
from ..values.demand import NeedsConstant, Statics
from ..values.lattice import (
    Abstract,
    Array,
    ArrayCell,
    Const,
    DictCell,
    ListCell,
    ObjectCell,
    Ref,
    Tuple,
)
from . import instructions as _instructions  # noqa: F401  (fills the engine's table)
from . import meanings as _meanings  # noqa: F401  (declares what they mean)
from .engine import Engine
from .exits import Exit
from .frame import PythonRaise, Restart

RESTART_LIMIT = 32


def infer_program(
    function: Any,
    args: Sequence[Spec],
    kwargs: Mapping[str, Spec],
    *,
    name: str,
    static: Mapping[int, Any] | None = None,
    demands: Sequence[Demand] = (),
) -> Program:
    """Infers `function` on arguments of these specs.

    `static` gives the values of argument leaves that inference demanded (`NeedsConstant`), `demands` says
    why. Raises `StagingError` with every independent diagnostic.
    """
    unrolled: frozenset[stage.Instr] = frozenset()
    for _ in range(RESTART_LIMIT):
        engine = Engine(bool(jax.config.jax_enable_x64), unrolled)
        engine.origins.ask = static.ask if isinstance(static, Statics) else None
        try:
            with _deep_recursion():
                return _Entry(engine, static or {}).run(function, args, kwargs, name, tuple(demands))
        except Restart as restart:
            unrolled |= {restart.loop}
    raise StagingError((InternalError(text="inference does not settle which loops to unroll"),))


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Inference recurses with the nesting of calls and statements; Python's own limit is too low for it."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _parameters(function: Any) -> tuple[tuple[str, ...], str | None, str | None, tuple[str, ...]]:
    """Positional parameters, `*args`, `**kwargs` and keyword-only parameters of a plain function."""
    code: types.CodeType | None = getattr(function, "__code__", None)
    if code is None:
        return (), None, None, ()
    count, only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    rest = names[count + only :]
    star = rest[0] if code.co_flags & inspect.CO_VARARGS else None
    double = rest[1 if star else 0] if code.co_flags & inspect.CO_VARKEYWORDS else None
    return names[:count], star, double, names[count : count + only]


def positional_path(function: Any, position: int) -> Path:
    """The path of the argument at `position`."""
    names, star, _, _ = _parameters(function)
    if position < len(names):
        return Path(Argument(names[position]))
    return Path(Argument(star or f"argument {position}"), ((Step.ITEM, position - len(names)),))


def keyword_path(function: Any, name: str) -> Path:
    """The path of the argument passed as `name=…`."""
    names, _, double, only = _parameters(function)
    if name in names or name in only or double is None:
        return Path(Argument(name))
    return Path(Argument(double), ((Step.ITEM, name),))


class _Entry:
    """The entry of one program: abstract arguments from specs, and the program from what comes out."""

    def __init__(self, engine: Engine, static: Mapping[int, Any]) -> None:
        self.engine = engine
        self.static = static
        self.leaves: dict[int, Value] = {}
        self.structures: dict[int, Ref] = {}
        self.arrays: dict[int, Ref] = {}

    def run(
        self,
        function: Any,
        args: Sequence[Spec],
        kwargs: Mapping[str, Spec],
        name: str,
        demands: tuple[Demand, ...],
    ) -> Program:
        """The program of one call."""
        engine = self.engine
        abstract = [self.argument(spec, positional_path(function, i)) for i, spec in enumerate(args)]
        named = {k: self.argument(spec, keyword_path(function, k)) for k, spec in kwargs.items()}
        result: Abstract | PythonRaise
        try:
            result = engine.call(Const(function), abstract, named)
        except PythonRaise as error:
            result = error
        except DiagnosticError as error:
            engine.report(error.diagnostic)
            result = Const(None)
        if engine.origins.demands:
            first, *more = engine.origins.demands.values()
            raise NeedsConstant(first.leaf, first.span, first.reason, tuple(more))
        self.check(engine.errors.found)
        leaving = Exit(engine)
        template: Template | Raises
        try:
            if isinstance(result, PythonRaise):
                template = Raises(result.exception, result.span)
            else:
                template = leaving.result(result)
            mutations = leaving.mutations()
        except DiagnosticError as error:
            engine.report(error.diagnostic)
            self.check(engine.errors.found)
            raise
        return self.program(leaving, template, mutations, name, demands)

    def program(
        self,
        leaving: Exit,
        template: Template | Raises,
        mutations: Any,
        name: str,
        demands: tuple[Demand, ...],
    ) -> Program:
        """The program, its parameters in the order of `leaves`, then hidden inputs."""
        engine = self.engine
        body = engine.root
        body.results = tuple(leaving.results)
        hidden = engine.externals.hidden
        order = [*self.leaves.values(), *[value for _, value in hidden]]
        for index, value in enumerate(order):
            value.index = index
        body.params = order
        return Program(
            function=Function(name, body),
            leaves=tuple(self.leaves),
            hidden=tuple([h for h, _ in hidden]),
            guards=tuple(engine.externals.guards),
            result=template,
            mutations=tuple(mutations),
            demands=demands,
            alias_sensitive=len(self.structures) > 1 and any(m.kind.name != "ARRAY" for m in mutations),
        )

    def check(self, found: list[Diagnostic]) -> None:
        """Raises everything that was found."""
        if found:
            raise StagingError(tuple(found))

    # -- arguments

    def argument(self, spec: Spec, path: Path) -> Abstract:
        """The abstract value of an argument; mutable ones are cells that the caller sees."""
        match spec:
            case Leaf():
                return self.leaf(spec, path)
            case Static(value):
                return Const(value)
            case Structure():
                return self.structure(spec, path)

    def leaf(self, spec: Leaf, path: Path) -> Abstract:
        """A dynamic leaf: a parameter, or a constant where it was demanded."""
        engine = self.engine
        if spec.index in self.static and spec.form in (Form.PYTHON, Form.SCALAR):
            return Const(self.static[spec.index])
        if spec.form is Form.NDARRAY and spec.index in self.arrays:
            return self.arrays[spec.index]
        value = self.leaves.get(spec.index)
        if value is None:
            value = self.leaves[spec.index] = engine.root.add_param(spec.type)
            if spec.form in (Form.PYTHON, Form.SCALAR):
                engine.origins.leaves[value] = spec.index
        if spec.form is not Form.NDARRAY:
            return Array(value, spec.form, spec.weak, key_impl=spec.key_impl)
        ref = self.arrays[spec.index] = Ref(self.cell(path, ArrayCell(value)))
        return ref

    def cell(self, path: Path, content: Any) -> int:
        """A cell for an object of the caller's."""
        state = self.engine.state
        cell = state.new_cell(content)
        self.engine.externals.initial[cell] = (path, content)
        return cell

    def structure(self, spec: Structure, path: Path) -> Abstract:
        """A container or an object of the caller's."""
        engine = self.engine
        if issubclass(spec.cls, tuple):
            items = [
                self.argument(c, Path(path.root, (*path.steps, (Step.ITEM, i))))
                for i, c in enumerate(spec.children)
            ]
            return Tuple(tuple(items), spec.cls)
        if spec.identity in self.structures:
            return self.structures[spec.identity]
        empty: Any
        if spec.cls is list:
            empty, step = ListCell(()), Step.ITEM
        elif spec.cls is dict:
            empty, step = DictCell({}), Step.ITEM
        else:
            empty, step = ObjectCell(spec.cls, {}), Step.ATTRIBUTE
        cell = self.cell(path, empty)
        ref = self.structures[spec.identity] = Ref(cell)
        children = [
            self.argument(c, Path(path.root, (*path.steps, (step, k))))
            for k, c in zip(spec.keys, spec.children)
        ]
        content: Any
        if spec.cls is list:
            content = ListCell(tuple(children))
        elif spec.cls is dict:
            content = DictCell(dict(zip(spec.keys, children)))
        else:
            content = ObjectCell(spec.cls, dict(zip(spec.keys, children)))
        engine.state.set(cell, content)
        engine.externals.initial[cell] = (path, content)
        return ref
