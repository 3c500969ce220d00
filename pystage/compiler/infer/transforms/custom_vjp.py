"""`pystage.custom_vjp`: stages a call with a custom VJP rule.

In: three callable values (the function, its forward and its backward rule) and abstract arguments. Out: the plain call
of the function, as a `Call` with a `VjpRule`. The forward rule is inferred for the same arguments; the backward rule for
placeholders of its residuals and of the cotangents of the result. Neither changes the state. If a rule does not fit or
cannot be staged, the call carries the diagnostic instead, and a derivative through the call reports it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, cast

from ....records import dataclass
from ...ad.calculus import CalculusBuilder, differentiable
from ...diagnostics.codes_differentiation import NoRuleFor, RuleDoesNotFit
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...hlo.ir import Region, Value
from ...hlo.types import is_complex
from ...library.context import Context
from ...library.kernels.structures import list_items
from ...library.rules.numbers import number_value
from ...ops import Call, VjpFunctions, VjpRule
from ...values.boundary import Form
from ...values.capacity import CapacityExceeded
from ...values.lattice import (
    LISTS,
    Abstract,
    Array,
    Const,
    ErrorCell,
    Meaning,
    OutputCell,
    Ref,
    Tuple,
)
from ...values.state import ERROR, OUTPUT
from ...values.walk import children, keys, values_of
from ..calls.calls import apply_transformed, transformed
from ..calls.canonical import Canonical
from ..core.engine import Engine
from ..objects.copies import class_of, opened
from ..state.speculate import commit_unless
from ..state.summaries import Summary
from .custom_results import CotangentTemplate, DistinctResult, fresh_value
from .pullbacks import Structure, flattened
from .vjp_functions import InferredFunction, VjpAssembler


@dataclass(frozen=True, slots=True)
class CustomVjp:
    """The three functions of a `custom_vjp`, and the positional arguments (`apart`) that get no cotangents."""

    name: str
    function: Abstract
    forward: Abstract
    backward: Abstract
    apart: frozenset[int]
    is_transpose: bool
    """The backward rule is the transpose of a rule for tangents."""


def call_with_rule(
    engine: Engine,
    custom: CustomVjp,
    args: Sequence[Abstract],
    kwargs: Mapping[str, Abstract],
    positional: Sequence[Abstract] | None,
) -> Abstract:
    """Calls the function. `positional` are all its arguments by position, None if some can only be named."""
    distinct = DistinctResult(engine, custom.name)

    def with_numbers(ctx: Context, /, *inner: Abstract, **named: Abstract) -> Abstract:
        distinct.begin()
        result = distinct.of(engine.call(custom.function, inner, named))
        structure, numbers = flattened(engine, result)
        distinct.structure = structure
        return Tuple((result, Tuple(tuple(numbers))))

    summary, canonical = transformed(engine, Meaning("the function", with_numbers), args, kwargs)
    primal = InferredFunction(summary, summary.function, [*canonical.values, *summary.free])
    key = _key(engine, custom, args, kwargs)
    rule = engine.custom_rules.open.get(key)
    if rule is None and summary.raises is None:
        # The rule may call the function itself, recursively, with the rule that is being inferred.
        own = NoRuleFor(span=engine.b.span, name=custom.name, what="its rule needs its own derivative")
        again = engine.custom_rules.open[key] = VjpRule(custom.name, own)
        try:
            rule = VjpRule(custom.name, _vjp(engine, custom, distinct, primal, positional))
        finally:
            del engine.custom_rules.open[key]
        if isinstance(rule.vjp, VjpFunctions) and len(primal.actual) == len(canonical.values) + len(
            summary.free
        ):
            again.vjp = rule.vjp

    def put(summary: Summary, actual: Sequence[Value]) -> Mapping[Value, Value]:
        if not summary.pure:
            engine.effects.functions.add(primal.function)
        made = engine.b.apply(Call(primal.function, rule=rule), primal.actual, pure=summary.pure)
        return dict(zip(summary.function.body.results, made.results, strict=True))

    whole = apply_transformed(engine, summary, canonical, put)
    assert isinstance(whole, Tuple)
    return whole.items[0]


def _key(
    engine: Engine, custom: CustomVjp, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]
) -> tuple[object, ...]:
    """The key of a rule: calls with equal keys have the same rule."""
    canonical = Canonical(engine)
    for value in (custom.function, custom.forward, custom.backward, *args, *kwargs.values()):
        canonical.describe(value)
    return canonical.key(custom.apart, *kwargs)


def _vjp(
    engine: Engine,
    custom: CustomVjp,
    distinct: DistinctResult,
    primal: InferredFunction,
    positional: Sequence[Abstract] | None,
) -> VjpFunctions | Diagnostic:
    """The rule of the call of `primal`, or why it has none; `primal` gets the operands that the rule needs besides."""
    span = engine.b.span
    found: VjpFunctions | Diagnostic
    try:
        with commit_unless(engine, DiagnosticError) as trial:
            found = _RuleInference(engine, custom, distinct, primal).vjp(positional)
            if trial.refused:
                raise DiagnosticError(trial.refused[0])
    except DiagnosticError as error:
        found = error.diagnostic
    engine.b.span = span
    if isinstance(found, VjpFunctions):
        return found
    return found if found.span is not None else replace(found, span=span)


class _RuleInference:
    """Infers the rule of one call from its three functions."""

    def __init__(
        self, engine: Engine, custom: CustomVjp, distinct: DistinctResult, primal: InferredFunction
    ) -> None:
        self._engine = engine
        self._custom = custom
        self._distinct = distinct
        self._primal = primal
        numbers = primal.numbers()
        self._numbers = [n if n is not None and differentiable(n.type) else None for n in numbers]
        self._seeds = [n.value for n in self._numbers if n is not None]
        """The numbers of the result that have cotangents, in the function's own terms."""

    def vjp(self, positional: Sequence[Abstract] | None) -> VjpFunctions:
        """The functions of the rule; `DiagnosticError` where it has none."""
        if positional is None:
            self._misfit("its arguments cannot all be passed by position")
        summary = self._primal.summary
        if self._distinct.problem:
            self._refuse(self._distinct.problem)
        if summary.reached or summary.outer:
            self._refuse("it changes what was there before")
        engine = self._engine
        given = [a for i, a in enumerate(positional) if i not in self._custom.apart]
        apart = [a for i, a in enumerate(positional) if i in self._custom.apart]
        structures, leaves = [], []
        for argument in given:
            structure, numbers = flattened(engine, argument)
            structures.append(structure)
            leaves += [n.value if isinstance(n, Array) and differentiable(n.type) else None for n in numbers]
        outside = self._outside(apart)
        bodies, engine.raises.bodies = engine.raises.bodies, []
        try:
            with engine.state.fork(), engine.b.isolated(Region()):
                engine.state.set(ERROR, ErrorCell())
                engine.state.set(OUTPUT, OutputCell())
                forward, residual, kept = self._forward(positional)
                cotangent = CotangentTemplate(engine, summary.made)
                assert isinstance(summary.result, Tuple)
                seed = cotangent.of(summary.result.items[0])
                backward = self._backward([*apart, residual, seed], structures, leaves)
        finally:
            engine.raises.bodies = bodies
        return VjpAssembler(self._primal, forward, backward).assemble(
            kept, cotangent.numbers, self._seeds, leaves, outside, self._custom.is_transpose
        )

    def _outside(self, apart: Sequence[Abstract]) -> set[Value]:
        """The values that the function uses without getting them by an argument that the rule covers."""
        roots = [self._custom.function, *apart]
        contents = [*roots, *[self._engine.state.get(c) for c in self._engine.state.reachable(roots)]]
        return {*self._primal.summary.free, *[v for content in contents for v in values_of(content)]}

    def _forward(
        self, positional: Sequence[Abstract]
    ) -> tuple[InferredFunction, Abstract, dict[Value, Value]]:
        """The forward rule, the residuals as values of the caller, and what its results are in its own terms."""
        engine = self._engine

        def with_numbers(ctx: Context, *inner: Abstract) -> Abstract:
            pair = _listed(engine, engine.call(self._custom.forward, inner))
            if pair is None or len(pair) != 2:
                self._misfit("the forward rule gives no pair (result, residuals)")
            structure, numbers = flattened(engine, pair[0])
            if structure != self._distinct.structure:
                self._misfit("the forward rule gives a result of another structure than the function")
            found = [
                self._number(wanted, number)
                for wanted, number in zip(self._numbers, numbers, strict=True)
                if wanted is not None
            ]
            return Tuple((pair[1], Tuple(tuple(found))))

        summary, canonical = transformed(engine, Meaning("the forward rule", with_numbers), positional, {})
        self._check(summary, "forward")
        rule = InferredFunction(summary, summary.function, [*canonical.values, *summary.free])
        kept: dict[Value, Value] = {}

        def put(summary: Summary, actual: Sequence[Value]) -> Mapping[Value, Value]:
            placeholders = {r: Value(r.type, Region(), 0) for r in summary.function.body.results}
            kept.update((placeholder, result) for result, placeholder in placeholders.items())
            return placeholders

        whole = apply_transformed(engine, replace(summary, error=None), canonical, put)
        assert isinstance(whole, Tuple)
        return rule, whole.items[0], kept

    def _number(self, wanted: Array, number: Array | Const) -> Array:
        """A number of the forward rule's result, which must be of the type that the function gives."""
        value = number_value(self._engine.b, number)
        if value.type != wanted.type:
            self._misfit(f"the forward rule gives {value.type} where the function gives {wanted.type}")
        return Array(fresh_value(self._engine, value), Form.JAX)

    def _backward(
        self,
        args: Sequence[Abstract],
        structures: Sequence[Structure],
        leaves: Sequence[Value | None],
    ) -> InferredFunction:
        """The backward rule: its numbers are the cotangents of the arguments' numbers."""
        engine = self._engine

        def with_numbers(ctx: Context, *inner: Abstract) -> Abstract:
            found = _listed(engine, engine.call(self._custom.backward, inner))
            if found is None:
                self._misfit("the backward rule gives no tuple of cotangents")
            if len(found) != len(structures):
                counts = f"{len(found)} cotangents for {len(structures)} arguments"
                self._misfit(f"the backward rule gives {counts}")
            numbers: list[Abstract] = []
            for i, (structure, ct) in enumerate(zip(structures, found)):
                numbers += self._matched(structure, ct, f"of argument {i}")
            own = [self._contribution(leaf, ct) for leaf, ct in zip(leaves, numbers, strict=True)]
            return Tuple((Const(None), Tuple(tuple(own))))

        summary, canonical = transformed(engine, Meaning("the backward rule", with_numbers), args, {})
        self._check(summary, "backward")
        return InferredFunction(summary, summary.function, [*canonical.values, *summary.free])

    def _matched(self, structure: Structure, ct: Abstract, where: str) -> list[Abstract]:
        """The numbers of a cotangent, one for each of the argument's; None for those that are zeros."""
        engine = self._engine
        if isinstance(ct, Const) and ct.value is None:
            return [Const(None)] * _count(structure)
        kind = structure[0]
        if kind == "other":
            return []
        if kind == "number":
            _, numbers = flattened(engine, ct)
            if len(numbers) != 1 or flattened(engine, ct)[0] != structure:
                self._misfit(f"the cotangent {where} is no number or array")
            return [numbers[0]]
        found = _parts(engine, ct, structure)
        if found is None:
            self._misfit(f"the cotangent {where} has another structure than the argument")
        return [n for inner, c in zip(_inner(structure), found) for n in self._matched(inner, c, where)]

    def _contribution(self, leaf: Value | None, ct: Abstract) -> Abstract:
        if leaf is None or (isinstance(ct, Const) and ct.value is None):
            return Const(None)
        assert isinstance(ct, Array | Const)
        value = number_value(self._engine.b, ct)
        if value.type.shape != leaf.type.shape:
            shapes = f"{value.type.shape} for an argument of shape {leaf.type.shape}"
            self._misfit(f"the backward rule gives a cotangent of shape {shapes}")
        if is_complex(value.type.dtype) and not is_complex(leaf.type.dtype):
            self._misfit("the backward rule gives a complex cotangent for a real argument")
        converted = CalculusBuilder(self._engine.b).convert(value, leaf.type.dtype)
        return Array(fresh_value(self._engine, converted), Form.JAX)

    def _check(self, summary: Summary, which: str) -> None:
        """Checks that a rule only computes; of what it may raise, only exceptions of arithmetic have a meaning."""
        if summary.reached or summary.outer:
            self._refuse(f"its {which} rule changes what was there before")
        if summary.output is not None:
            self._refuse(f"its {which} rule prints")
        first = summary.sites[0]
        raised = [
            cls for cls in self._engine.raises.sites.classes(first) if not issubclass(cls, ArithmeticError)
        ]
        if CapacityExceeded in raised:
            self._refuse(f"its {which} rule makes something that grows")
        if summary.raises is not None or (summary.error is not None and raised):
            names = " or ".join(sorted([cls.__name__ for cls in raised])) or "an exception"
            self._refuse(f"its {which} rule may raise {names}")

    def _misfit(self, what: str) -> NoReturn:
        raise DiagnosticError(RuleDoesNotFit(name=self._custom.name, what=what))

    def _refuse(self, what: str) -> NoReturn:
        raise DiagnosticError(NoRuleFor(name=self._custom.name, what=what))


def _listed(engine: Engine, value: Abstract) -> list[Abstract] | None:
    """The items of a tuple or a list; None for all else."""
    if isinstance(value, Tuple):
        return list(value.items)
    content = engine.cell(value) if isinstance(value, Ref) else None
    return list(list_items(engine, content.items)) if isinstance(content, LISTS) else None


def _count(structure: Structure) -> int:
    """How many numbers a structure has."""
    kind = structure[0]
    return int(kind == "number") if isinstance(kind, str) else sum(map(_count, _inner(structure)))


def _inner(structure: Structure) -> list[Structure]:
    """The structures of the contents of a container, which follow its class and keys."""
    return cast(list[Structure], list(structure[2:]))


def _parts(engine: Engine, value: Abstract, structure: Structure) -> list[Abstract] | None:
    """The children of a value by the keys of a structure; None if it has another structure."""
    container, wanted = opened(engine, value), cast(tuple[Hashable, ...], structure[1])
    if container is None or class_of(container) is not structure[0]:
        return None
    by_key = dict(zip(keys(container), children(container), strict=True))
    return [by_key[key] for key in wanted] if set(by_key) == set(wanted) else None
