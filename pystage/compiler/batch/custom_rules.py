"""Batching of calls with a custom VJP rule: the functions of the rule are batched too.

In: such a call, and which of its operands are batched. Out: a call with a batched rule, whose results are all batched. The
cotangent of an operand that is not batched is the sum over the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from ..ad.calculus import CalculusBuilder
from ..analysis.dependence import Mask
from ..hlo.builder import Builder
from ..hlo.ir import Function, Region, Value
from ..hlo.types import BOOL, ArrayType
from ..ops import Call, VjpFunctions, VjpRule
from ..ops.batching import broadcast_to_batch


class Batcher(Protocol):
    """The interface of `batching.Batch` used here."""

    batch_size: int
    rules: dict[tuple[VjpRule, Mask, bool], VjpRule]

    def results(self, function: Function, params: Mask) -> Mask: ...

    def function(self, old: Function, params: Mask, masked: bool = False) -> Function: ...


def batched_call(owner: Batcher, kind: Call, params: Mask, masked: bool) -> Call:
    """The batched call; `masked`: its last operand is the active mask."""
    assert kind.rule is not None
    rule = _rule(owner, kind.rule, params, masked)
    return replace(kind, function=_batched_function(owner, kind.function, params, masked), rule=rule)


def _rule(owner: Batcher, old: VjpRule, params: Mask, masked: bool) -> VjpRule:
    key = old, params, masked
    found = owner.rules.get(key)
    if found is None:
        found, vjp = VjpRule(old.name), old.vjp
        owner.rules[key] = found
        if isinstance(vjp, VjpFunctions):
            forward = _batched_function(owner, vjp.forward, params, masked)
            vjp = replace(vjp, forward=forward, backward=_batched_backward(owner, vjp, params, masked))
        found.vjp = vjp
    return found


def _types(owner: Batcher, types: Sequence[ArrayType], params: Mask, masked: bool) -> list[ArrayType]:
    """The types of the batched operands."""
    found = [t.with_shape((owner.batch_size, *t.shape)) if p else t for t, p in zip(types, params)]
    return [*found, ArrayType(BOOL, (owner.batch_size,))] if masked else found


def _batched_function(owner: Batcher, old: Function, params: Mask, masked: bool) -> Function:
    """`old`, batched, with every result batched."""
    made = owner.function(old, params, masked)
    flags = owner.results(old, params)

    def results(c: CalculusBuilder, operands: Sequence[Value]) -> list[Value]:
        found = zip(c.apply(Call(made), operands).results, flags, old.result_types, strict=True)
        return [broadcast_to_batch(c, r, flag, owner.batch_size, t.shape) for r, flag, t in found]

    return _function(made.name, old, _types(owner, old.param_types, params, masked), results)


def _batched_backward(owner: Batcher, vjp: VjpFunctions, params: Mask, masked: bool) -> Function:
    """The batched backward function of a rule: its residuals and cotangents are all batched."""
    old = vjp.backward
    count = len(params)
    flags = (*params, *[True] * (len(old.param_types) - count))
    made = owner.function(old, flags, masked)
    batched = owner.results(old, flags)
    own = _types(owner, old.param_types[:count], params, masked)
    given = _types(owner, old.param_types[count:], flags[count:], False)

    def results(c: CalculusBuilder, operands: Sequence[Value]) -> list[Value]:
        mask = list(operands[count : len(own)])
        found = c.apply(Call(made), [*operands[:count], *operands[len(own) :], *mask]).results
        whole = [
            broadcast_to_batch(c, r, flag, owner.batch_size, t.shape)
            for r, flag, t in zip(found, batched, old.result_types, strict=True)
        ]
        return [r if params[i] else c.sum(r, (0,)) for i, r in zip(vjp.wrt, whole, strict=True)]

    return _function(made.name, old, [*own, *given], results)


def _function(
    name: str,
    old: Function,
    types: Sequence[ArrayType],
    results: Callable[[CalculusBuilder, Sequence[Value]], Sequence[Value]],
) -> Function:
    body = Region(tuple(types))
    b = Builder(body)
    b.span = old.span
    body.results = tuple(results(CalculusBuilder(b), body.params))
    return Function(f"{name}_all", body, old.span)
