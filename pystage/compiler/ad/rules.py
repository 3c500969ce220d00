"""The derivative of one operation, by the rule in its class."""

from __future__ import annotations

from collections.abc import Sequence

from ..hlo.calculus import Contribution, Cotangents, NotDifferentiable, Tangents
from ..hlo.ir import Op, Value
from .calculus import Calculus, differentiable


def tangents(c: Calculus, op: Op, given: Tangents) -> Sequence[Value | None]:
    """Tangents of the results of an operation without regions; `NotDifferentiable` if it has no rule."""
    kind = op.kind
    varied = [i for i, t in enumerate(given) if t is not None]
    if not varied or not any(differentiable(r.type) for r in op.results):
        return (None,) * len(op.results)
    if kind.linear and all(i in kind.linear for i in varied):
        operands = [
            v if i not in kind.linear else c.zeros(v.type) if t is None else t
            for i, (v, t) in enumerate(zip(op.operands, given, strict=True))
        ]
        found: Sequence[Value | None] = c.apply(kind, operands).results
    else:
        found = kind.jvp(c, op, given)
    return [t if differentiable(r.type) else None for r, t in zip(op.results, found, strict=True)]


def contributions(c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
    """What an operation without regions sends to the cotangents of its operands."""
    if all(ct is None for ct in cotangents):
        return (None,) * len(op.operands)
    found = op.kind.vjp(c, op, cotangents)
    if len(found) != len(op.operands):
        raise NotDifferentiable(f"`{op.kind.opcode}` (its rule gives {len(found)} of {len(op.operands)})")
    return found
