"""The stages of a compilation, in order; every program between them is kept and can be printed.

    arguments ──infer──▶ typed program ──simplify──in place──▶ program ──emit (where JAX lowers it)──▶ StableHLO

In: a plain function and the `Spec`s of its arguments. Out: a `Staged` program. Emission stands in
`emit/stablehlo.py` and happens when JAX lowers the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .diagnostics.codes_runtime import ValueNotGiven
from .diagnostics.errors import StagingError
from .diagnostics.span import Span
from .emit.inplace import in_place
from .emit.simplify import simplify
from .hlo.builder import Builder
from .hlo.ir import Function
from .ops import Constant
from .values.boundary import Choice, Container, Demand, Form, Output, Program, Raises, Spec, Template, View
from .values.demand import NeedsConstant, Statics


class Infer(Protocol):
    """The stage from source and arguments to a typed program; raises `StagingError` or `NeedsConstant`."""

    def __call__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Spec],
        kwargs: Mapping[str, Spec],
        /,
        *,
        name: str,
        static: Mapping[int, Any],
        demands: Sequence[Demand],
    ) -> Program:
        """The program of `fn` for these arguments.

        `static` are leaves whose value is known; `demands` say why, of those that it asked for.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What is to be compiled: a function, the specs of its arguments, and how to know more of them.

    `value_of` gives the value of a dynamic leaf, or None where only its type is known; `path_of` says in
    words where it stands, and `given` what was given instead of a value.
    """

    fn: Callable[..., Any]
    name: str
    span: Span | None
    args: tuple[Spec, ...]
    kwargs: Mapping[str, Spec]
    value_of: Callable[[int], Any]
    path_of: Callable[[int], str]
    given: str = "only its type is given"


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """A program that is ready to be emitted, and what it was made from.

    `program` is as inferred; `function` is the simplified one, and takes those parameters of the program's
    function whose indices are in `kept`. `weak` are the results of JAX's weak type. `static` are the leaves
    on whose value the program was specialised.
    """

    name: str
    span: Span | None
    program: Program
    function: Function
    kept: tuple[int, ...]
    weak: frozenset[int]
    static: Mapping[int, Any]

    def __str__(self) -> str:
        function = self.program.function
        takes = ", ".join(map(str, function.param_types))
        gives = ", ".join(map(str, function.result_types))
        known = [f"leaf {leaf} = {value!r}" for leaf, value in self.static.items()]
        return f"{self.name}({takes}) -> ({gives})" + (f" for {', '.join(known)}" if known else "")


def build(infer: Infer, request: Request, static: Mapping[int, Any]) -> Staged:
    """Runs the stages before emission; `static` are leaves known to be wanted as constants, with their values.

    Raises `StagingError`.
    """
    program, known = _infer(infer, request, dict(static))
    simplified = in_place(simplify(program.function))
    _give_something(simplified.function)
    weak = frozenset(o.index for o in outputs(program) if o.form is Form.JAX and o.weak)
    return Staged(request.name, request.span, program, simplified.function, simplified.kept, weak, known)


def _infer(infer: Infer, request: Request, static: dict[int, Any]) -> tuple[Program, dict[int, Any]]:
    """Inference, again with each value that it asks for."""
    demands: list[Demand] = []
    while True:
        try:
            program = infer(
                request.fn,
                request.args,
                request.kwargs,
                name=request.name,
                static=Statics(static, request.value_of),
                demands=demands,
            )
        except NeedsConstant as first:
            for need in (first, *first.more):
                value = None if need.leaf in static else request.value_of(need.leaf)
                if value is None:
                    path = request.path_of(need.leaf)
                    problem = ValueNotGiven(
                        span=need.span, path=path, reason=need.reason, given=request.given
                    )
                    raise StagingError((problem,)) from None
                static[need.leaf] = value
                demands.append(Demand(need.leaf, value, need.span, need.reason))
            continue
        for demand in program.demands:
            static.setdefault(demand.leaf, demand.value)
        return program, static


def _give_something(function: Function) -> None:
    """Adds a result where there is none but something must run: JAX leaves out what gives nothing."""
    body = function.body
    if body.ops and not body.results:
        body.results = (Builder(body).op(Constant(np.asarray(False))),)


def outputs(program: Program) -> Iterator[Output]:
    """Every `Output` of the program's templates."""
    templates: list[Template] = [m.value for m in program.mutations]
    if not isinstance(program.result, Raises):
        templates.append(program.result)
    while templates:
        match templates.pop():
            case Output() as output:
                yield output
            case Container(children=children):
                templates += children
            case View(base=base):
                templates.append(base)
            case Choice(selector=selector, options=options):
                templates += [selector, *options]
