"""Calls that have a derivative rule of their own, for many lanes at once: the rule is one for all lanes too.

In: such a call, and which of its operands have lanes. Out: a call whose results all have lanes, with a rule for it. Each
lane is an application of its own, so that the cotangent of an operand that all lanes share is the sum over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from ..ad.calculus import Calculus
from ..hlo.builder import Builder
from ..hlo.ir import Function, Region, Value
from ..hlo.types import BOOL, ArrayType
from ..ops import Call, VjpFunctions, VjpRule
from ..ops.batching import of_all_lanes
from .spread import Mask


class Lanes(Protocol):
    """What is asked of `batching.Batch`."""

    lanes: int
    rules: dict[tuple[VjpRule, Mask, bool], VjpRule]

    def results(self, function: Function, params: Mask) -> Mask: ...

    def function(self, old: Function, params: Mask, masked: bool = False) -> Function: ...


def of_all(owner: Lanes, kind: Call, params: Mask, masked: bool) -> Call:
    """The call for all lanes; `masked`: its last operand says which of them are needed."""
    assert kind.rule is not None
    rule = _rule(owner, kind.rule, params, masked)
    return replace(kind, function=_whole(owner, kind.function, params, masked), rule=rule)


def _rule(owner: Lanes, old: VjpRule, params: Mask, masked: bool) -> VjpRule:
    key = old, params, masked
    found = owner.rules.get(key)
    if found is None:
        found, vjp = VjpRule(old.name), old.vjp
        owner.rules[key] = found
        if isinstance(vjp, VjpFunctions):
            forward = _whole(owner, vjp.forward, params, masked)
            vjp = replace(vjp, forward=forward, backward=_back(owner, vjp, params, masked))
        found.vjp = vjp
    return found


def _types(owner: Lanes, types: Sequence[ArrayType], params: Mask, masked: bool) -> list[ArrayType]:
    """The types of the operands of all lanes."""
    found = [t.with_shape((owner.lanes, *t.static_shape)) if p else t for t, p in zip(types, params)]
    return [*found, ArrayType(BOOL, (owner.lanes,))] if masked else found


def _whole(owner: Lanes, old: Function, params: Mask, masked: bool) -> Function:
    """`old` for all lanes, with lanes in every result."""
    made = owner.function(old, params, masked)
    flags = owner.results(old, params)

    def results(c: Calculus, operands: Sequence[Value]) -> list[Value]:
        found = zip(c.apply(Call(made), operands).results, flags, old.result_types, strict=True)
        return [of_all_lanes(c, r, flag, owner.lanes, t.static_shape) for r, flag, t in found]

    return _function(made.name, old, _types(owner, old.param_types, params, masked), results)


def _back(owner: Lanes, vjp: VjpFunctions, params: Mask, masked: bool) -> Function:
    """The way back of all lanes: of their operands, and of residuals and cotangents that all have lanes."""
    old = vjp.backward
    count = len(params)
    flags = (*params, *[True] * (len(old.param_types) - count))
    made = owner.function(old, flags, masked)
    has_lanes = owner.results(old, flags)
    own = _types(owner, old.param_types[:count], params, masked)
    given = _types(owner, old.param_types[count:], flags[count:], False)

    def results(c: Calculus, operands: Sequence[Value]) -> list[Value]:
        mask = list(operands[count : len(own)])
        found = c.apply(Call(made), [*operands[:count], *operands[len(own) :], *mask]).results
        whole = [
            of_all_lanes(c, r, flag, owner.lanes, t.static_shape)
            for r, flag, t in zip(found, has_lanes, old.result_types, strict=True)
        ]
        return [r if params[i] else c.sum(r, (0,)) for i, r in zip(vjp.wrt, whole, strict=True)]

    return _function(made.name, old, [*own, *given], results)


def _function(
    name: str,
    old: Function,
    types: Sequence[ArrayType],
    results: Callable[[Calculus, Sequence[Value]], Sequence[Value]],
) -> Function:
    body = Region(tuple(types))
    b = Builder(body)
    b.span = old.span
    body.results = tuple(results(Calculus(b), body.params))
    return Function(f"{name}_all", body, old.span)
