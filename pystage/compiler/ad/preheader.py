"""The preheader of a loop: adds carried values to a finished loop and builds their initial values right before it."""

from __future__ import annotations

import numpy as np

from ..hlo.builder import Builder
from ..hlo.ir import Region, Value
from ..hlo.types import ArrayType
from ..ops import Constant
from .calculus import CalculusBuilder
from .tape import TapeEntry


class Preheader:
    """Adds carried values to a loop; their initial values are built right before it."""

    def __init__(self, loop: TapeEntry) -> None:
        self._loop = loop

    def constant(self, array: np.ndarray) -> Value:
        """A constant in the preheader."""
        region = Region()
        value = Builder(region).op(Constant(array))
        return self._placed(region, value)

    def zeros(self, type: ArrayType) -> Value:
        """An array of zeros in the preheader."""
        region = Region()
        value = CalculusBuilder(Builder(region)).zeros(type)
        return self._placed(region, value)

    def _placed(self, region: Region, value: Value) -> Value:
        ops = self._loop.holder.ops
        at = ops.index(self._loop.op)
        ops[at:at] = region.ops
        return value

    def carry(self, condition: Region, body: Region, start: Value) -> Value:
        """Adds a carried value and gives the body's parameter; the caller adds the next value to the body's results."""
        op = self._loop.op
        op.operands = (*op.operands, start)
        condition.add_param(start.type)
        return body.add_param(start.type)
