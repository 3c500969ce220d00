"""Masks of products that nobody needs.

In: a program whose derivatives have been taken. Out: the same program without a `Select` that puts a number in the place of
elements which nothing demands. An operand of a product is masked along an axis over which the product does not sum, too,
because the derivative by the other operand sums over it. Where everything that uses the product selects by the same mask,
or is selected by it in turn, the elements beside the mask may be any.

Which elements a value's users demand is found backwards, region by region: those that are beside a mask, a vector of truth
values along an axis, for some of the users are demanded by the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import ops
from ...analysis.def_use import used_by
from ...hlo.ir import Function, Op, Region, Value
from ...hlo.rewrite import Rewriter
from ...hlo.types import BOOL
from ...hlo.walk import functions, kinds
from ...ops.elementwise.base import Elementwise

Mask = tuple[int, Value]
"""An axis of a value, and the vector that says which of its elements along this axis are demanded."""
Masks = frozenset[Mask]


def unmask_products(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    if not {ops.DotGeneral, ops.Select} <= kinds(function):
        return function
    unneeded = {op for each in functions(function) for op in _unneeded(each.body)}
    return _Unmasking(unneeded).function(function) if unneeded else function


class _Unmasking(Rewriter):
    def __init__(self, unneeded: set[Op]) -> None:
        super().__init__()
        self._unneeded = unneeded

    def op(self, op: Op) -> None:
        if op in self._unneeded:
            self.values[op.results[0]] = self.new(op.operands[1])
        else:
            self.copy(op)


def _unneeded(region: Region) -> Iterator[Op]:
    """The operands of products that need not be masked."""
    for op in region.ops:
        for inner in op.regions:
            yield from _unneeded(inner)
    masks: dict[Value, Masks] = dict.fromkeys(region.results, frozenset())
    products: set[Value] = set()
    for op in reversed(region.ops):
        if isinstance(op.kind, ops.DotGeneral):
            products.update(op.operands)
        if isinstance(op.kind, ops.Select) and op.results[0] in products and _is_unneeded(op, masks):
            yield op
        for value, found in _demanded(op, masks):
            masks[value] = masks[value] & found if value in masks else found


def _is_unneeded(op: Op, masks: dict[Value, Masks]) -> bool:
    """True for a selection by a mask beside which its users demand no element."""
    return _mask_of(op.operands[0]) in masks.get(op.results[0], ())


def _demanded(op: Op, masks: dict[Value, Masks]) -> Iterator[tuple[Value, Masks]]:
    """What an operation uses, with the masks beside which it demands no element."""
    given = masks.get(op.results[0], frozenset()) if len(op.results) == 1 else frozenset()
    match op.kind:
        case ops.Select():
            mask = _mask_of(op.operands[0])
            yield op.operands[0], frozenset()
            yield op.operands[1], given if mask is None else given | {mask}
            yield op.operands[2], given
        case ops.DotGeneral() as product:
            for operand, axes in zip(op.operands, _free_axes(op, product), strict=True):
                yield operand, frozenset([(axes[at], m) for at, m in given if at in axes])
        case ops.Reshape():
            (operand,) = op.operands
            moved = _unit_reshape(op.results[0], operand)
            yield operand, frozenset([(moved[at], m) for at, m in given if at in moved])
        case Elementwise() | ops.StopGradient():
            for operand in op.operands:
                yield operand, given if operand.type.shape == op.results[0].type.shape else frozenset()
        case _:
            for value in used_by(op):
                yield value, frozenset()


def _free_axes(op: Op, product: ops.DotGeneral) -> tuple[dict[int, int], dict[int, int]]:
    """For each operand, by axis of the product the axis over which it does not sum."""
    axes = []
    at = len(product.lhs_batch)
    sides = (product.lhs_batch, product.lhs_contract), (product.rhs_batch, product.rhs_contract)
    for operand, (batch, summed) in zip(op.operands, sides, strict=True):
        free = [i for i in range(operand.type.rank) if i not in batch and i not in summed]
        axes.append({at + k: i for k, i in enumerate(free)})
        at += len(free)
    return axes[0], axes[1]


def _mask_of(predicate: Value) -> Mask | None:
    """The vector that a predicate is along one of its axes, and that axis."""
    if predicate.type.rank == 1:
        return 0, predicate
    op = predicate.owner
    if (
        not isinstance(op, Op)
        or predicate.type.dtype != BOOL
        or not isinstance(op.kind, ops.Broadcast | ops.Reshape)
    ):
        return None
    found = _mask_of(op.operands[0])
    if found is None:
        return None
    at, mask = found
    if isinstance(op.kind, ops.Reshape):
        moved = _unit_reshape(op.operands[0], predicate)
        return (moved[at], mask) if at in moved else None
    same = op.operands[0].type.shape[at] == predicate.type.shape[op.kind.axes[at]]
    return (op.kind.axes[at], mask) if same else None


def _unit_reshape(value: Value, other: Value) -> dict[int, int]:
    """The axes of `other` by those of `value`, of whose shapes one has further axes of one element; else none."""
    axes = [[i for i, extent in enumerate(v.type.shape) if extent != 1] for v in (value, other)]
    extents = [[v.type.shape[i] for i in found] for v, found in zip((value, other), axes, strict=True)]
    return dict(zip(*axes, strict=True)) if extents[0] == extents[1] else {}
