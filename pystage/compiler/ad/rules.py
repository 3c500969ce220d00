"""The derivative of one operation, by the rule in its class."""

from __future__ import annotations

from collections.abc import Sequence

from ..hlo.calculus import Contribution, Cotangents, NotDifferentiable, Tangents
from ..hlo.ir import Op, Value
from ..hlo.op import HloOp
from ..ops import Or, Reduce, constant
from ..ops.elementwise.base import Elementwise
from .calculus import CalculusBuilder, differentiable


def tangents(c: CalculusBuilder, op: Op, given: Tangents) -> Sequence[Value | None]:
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
        with _located(op):
            found = kind.jvp(c, op, given)
    return [t if differentiable(r.type) else None for r, t in zip(op.results, found, strict=True)]


class _located:
    """A block in which `NotDifferentiable` gets the location of an operation."""

    __slots__ = ("_op",)

    def __init__(self, op: Op) -> None:
        self._op = op

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, frames: object) -> None:
        if isinstance(error, NotDifferentiable) and error.at is None:
            error.at = self._op.span


def contributions(c: CalculusBuilder, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
    """The contributions of an operation without regions to the cotangents of its operands."""
    if all(ct is None for ct in cotangents):
        return (None,) * len(op.operands)
    with _located(op):
        found = op.kind.vjp(c, op, cotangents)
    if len(found) != len(op.operands):
        raise NotDifferentiable(f"`{op.kind.opcode}` (its rule gives {len(found)} of {len(op.operands)})")
    return found


def stopped_at_zero(
    c: CalculusBuilder, kind: HloOp, cotangents: Cotangents, found: Sequence[Contribution]
) -> Sequence[Contribution]:
    """The contributions `found`, but zero where the operation's own cotangent is zero, even if a slope is infinite."""
    sent = [i for i, contribution in enumerate(found) if contribution is not None]
    if all(i in kind.linear for i in sent):  # it only moves and adds numbers
        return found
    given = [ct for ct in cotangents if ct is not None]
    if not isinstance(kind, Elementwise):
        return unless_all_zero(c, given, found)
    (ct,) = given
    none = c.compare("EQ", ct, c.zeros(ct.type))
    return [c.select(none, c.zeros(x.type), x) if isinstance(x, Value) and x is not ct else x for x in found]


def unless_all_zero(
    c: CalculusBuilder, given: Sequence[Value], found: Sequence[Contribution]
) -> Sequence[Contribution]:
    """`found`, but zeros if all of `given` are."""
    some: Value | None = None
    for ct in given:
        other = c.compare("NE", ct, c.zeros(ct.type))
        start = constant(c.b, False)
        one = c.b.op(Reduce(Or(), tuple(range(ct.type.rank))), other, start) if ct.type.rank else other
        some = one if some is None else c.b.op(Or(), some, one)
    assert some is not None
    return [c.select(some, x, c.zeros(x.type)) if isinstance(x, Value) else x for x in found]
