"""Programs built by hand in the place of inference, for the tests of the runtime.

A test gives a plain function and a `build` that writes the program of the same meaning: it gets a `Sketch`
of the call's specs, and returns the template of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pystage.compiler.diagnostics.span import Span
from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region, Value
from pystage.compiler.hlo.types import ArrayType
from pystage.compiler.ops import Add, Constant
from pystage.compiler.values.boundary import (
    Argument,
    Failure,
    Form,
    Global,
    Guard,
    GuardKind,
    HiddenInput,
    LeafSpec,
    Mutation,
    OutputTemplate,
    Path,
    PathStep,
    Program,
    Site,
    Spec,
    StructureSpec,
    Template,
    Write,
)
from pystage.runtime.function import CompiledFunction

PYTHON = {"b": bool, "i": int, "f": float, "c": complex}


class Sketch:
    """One program being written: its parameters are all leaves of the call, then hidden inputs as they come."""

    def __init__(
        self, name: str, args: Sequence[Spec], kwargs: Mapping[str, Spec], static: Mapping[int, Any]
    ) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.static = static
        self.leaves = leaves_of((*args, *kwargs.values()))
        self.body = Region()
        self.b = Builder(self.body)
        self.params = {i: self.body.add_param(leaf.type) for i, leaf in self.leaves.items()}
        self.hidden: list[HiddenInput] = []
        self.guards: list[Guard] = []
        self.mutations: list[Mutation] = []
        self.results: list[Value] = []
        self.alias_sensitive = False
        self.failure: Failure | None = None

    def output(self, value: Value, form: Form) -> OutputTemplate:
        """A result of the program."""
        self.results.append(value)
        scalar = PYTHON[value.type.dtype.kind] if form is Form.PYTHON else None
        return OutputTemplate(len(self.results) - 1, form, scalar)

    def constant(self, value: Any, like: Value) -> Value:
        """A constant of the type of another value."""
        return self.b.op(Constant(np.full(like.type.shape, value, like.type.dtype)))

    def doubled(self, index: int = 0) -> Value:
        """Twice a leaf."""
        return self.b.op(Add(), self.params[index], self.params[index])

    def read(self, path: Path, type: ArrayType, form: Form) -> Value:
        """A hidden input."""
        self.hidden.append(HiddenInput(path, type, form, False, None))
        return self.body.add_param(type)

    def guard(self, kind: GuardKind, path: Path, expected: Any) -> None:
        """A guard."""
        self.guards.append(Guard(kind, path, expected, None))

    def store(self, path: Path, value: Value) -> None:
        """A store to all of an ndarray."""
        self.mutations.append(Mutation(Write.ARRAY, path, None, self.output(value, Form.NDARRAY), None))

    def change(self, kind: Write, path: Path, key: Any, value: Template) -> None:
        """Another mutation."""
        self.mutations.append(Mutation(kind, path, key, value, None))

    def fail(self, exception: Template, span: Span | None, code: Value | None = None) -> None:
        """The program raises at `span`, if `code` is 1 (None: certainly)."""
        site = Site(Exception, exception, (), span)
        number = 1 if code is None else self.output(code, Form.PYTHON)
        self.failure = Failure(number, lambda _: site, {})

    def program(self, result: Template) -> Program:
        """The program as inference would give it."""
        self.body.results = tuple(self.results)
        return Program(
            Function(self.name, self.body),
            tuple(self.params),
            tuple(self.hidden),
            tuple([(i,) for i in range(len(self.hidden))]),
            tuple(self.guards),
            result,
            tuple(self.mutations),
            alias_sensitive=self.alias_sensitive,
            failure=self.failure,
        )


Build = Callable[[Sketch], Template]


class Inferred:
    """Inference by hand; `calls` counts how often it ran."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self.calls = 0

    def __call__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Spec],
        kwargs: Mapping[str, Spec],
        /,
        *,
        name: str,
        static: Mapping[int, Any],
    ) -> Program:
        self.calls += 1
        sketch = Sketch(name, args, kwargs, static)
        return sketch.program(self._build(sketch))


def compiled(
    plain: Callable[..., Any], build: Build, fallback: Any = "error", donate: Sequence[int | str] = ()
) -> tuple[CompiledFunction[..., Any], Inferred]:
    """The plain function compiled with a program written by hand, and what counts its inferences."""
    infer = Inferred(build)
    made = CompiledFunction(
        plain, fallback=lambda: fallback, donate=frozenset(donate), name=None, infer=infer
    )
    return made, infer


def leaves_of(specs: Sequence[Spec]) -> dict[int, LeafSpec]:
    """The dynamic leaves by index."""
    found: dict[int, LeafSpec] = {}
    for spec in specs:
        if isinstance(spec, LeafSpec):
            found.setdefault(spec.index, spec)
        elif isinstance(spec, StructureSpec):
            found.update(leaves_of(spec.children))
    return dict(sorted(found.items()))


def argument(name: str, *steps: tuple[PathStep, Any]) -> Path:
    """A path from a parameter."""
    return Path(Argument(name), steps)


def variable(namespace: dict[str, Any], name: str, *steps: tuple[PathStep, Any]) -> Path:
    """A path from a global variable."""
    return Path(Global(namespace, name), steps)
