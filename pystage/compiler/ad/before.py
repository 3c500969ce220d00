"""Values that a loop comes to carry after it was built: what they begin with is built right before it."""

from __future__ import annotations

import numpy as np

from ..hlo.builder import Builder
from ..hlo.ir import Region, Value
from ..hlo.types import ArrayType
from ..ops import Constant
from .calculus import Calculus
from .tape import Step


class Before:
    """Adds values that a loop carries: what they begin with is built right before the loop."""

    def __init__(self, loop: Step) -> None:
        self._loop = loop

    def constant(self, array: np.ndarray) -> Value:
        """A constant before the loop."""
        region = Region()
        value = Builder(region).op(Constant(array))
        return self._placed(region, value)

    def zeros(self, type: ArrayType) -> Value:
        """An array of zeros before the loop."""
        region = Region()
        value = Calculus(Builder(region)).zeros(type)
        return self._placed(region, value)

    def _placed(self, region: Region, value: Value) -> Value:
        ops = self._loop.holder.ops
        at = ops.index(self._loop.op)
        ops[at:at] = region.ops
        return value

    def carry(self, condition: Region, body: Region, start: Value) -> Value:
        """One more carried value, of which the body has yet to give the next: the parameter of the body."""
        op = self._loop.op
        op.operands = (*op.operands, start)
        condition.add_param(start.type)
        return body.add_param(start.type)
