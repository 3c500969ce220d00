"""Transposes of products in 16 bits, as products whose operands are exchanged.

In: a program for CPUs. Out: the same program without those transposes. XLA:CPU widens the operands of a product that its
library does not take, since it has no other code for 16 bits; a transpose it folds into the product only later, and may
then have neither ("Unsupported element type for DotThunk"). Gradients by the weights of a layer are such transposes.
"""

from __future__ import annotations

from ...hlo.ir import Function, Op
from ...hlo.rewrite import Rewriter
from ...hlo.types import BFLOAT16, FLOAT16
from ...hlo.walk import kinds
from ...ops import DotGeneral, Transpose
from ...ops.linear_algebra.dot import ROUNDED


def exchange_operands(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    if not {DotGeneral, Transpose} <= kinds(function):
        return function
    return _Exchange().function(function)


class _Exchange(Rewriter):
    def op(self, op: Op) -> None:
        product = self.new(op.operands[0]).owner if isinstance(op.kind, Transpose) else None
        if isinstance(product, Op) and isinstance(product.kind, DotGeneral) and _is_narrow(product):
            lhs, rhs = product.operands
            kind, permutation = product.kind.transposed(lhs.type, rhs.type)
            if Transpose(permutation) == op.kind:
                self.values[op.results[0]] = self.b.op(kind, rhs, lhs)
                return
        self.copy(op)


def _is_narrow(product: Op) -> bool:
    assert isinstance(product.kind, DotGeneral)
    return product.kind.precision in ROUNDED or product.operands[0].type.dtype in (BFLOAT16, FLOAT16)
