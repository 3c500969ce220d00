"""Range-based branch folding: interval analysis of a whole program decides branches, choices and checks.

In: a function of HLO IR that may raise. Out: the same function, in which every integer and boolean whose interval is a
single value is a constant, a decided choice is the chosen operand, and a decided branch is the arm that runs.
Inference asks the same questions while it builds, but does not yet know the body of the loop that carries a value. What
has no uses afterwards is left to `simplify`.
"""

from __future__ import annotations

import numpy as np

from ..analysis.intervals import Intervals
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.rewrite import Rewriter
from ..hlo.walk import functions
from ..ops import And, Broadcast, Constant, If, Or, Select, While, constant

_STEPS, _STEPS_FOR_EACH = 20_000, 4
"""How many steps the analysis of a program may take: so many, and so many for each of its operations."""


def fold_branches(function: Function) -> Function:
    """Rewrites `function` and all that it calls."""
    operations = sum(1 for each in functions(function) for _ in each.body.walk())
    return _Folding(_STEPS + _STEPS_FOR_EACH * operations).function(function)


class _Folding(Rewriter):
    def __init__(self, steps: int) -> None:
        super().__init__()
        self._intervals = Intervals(most=steps)

    def rewritten(self, old: Function) -> Function:
        with self._intervals.knowing({}):
            return super().rewritten(old)

    def op(self, op: Op) -> None:
        if isinstance(op.kind, If):
            self._branch(op)
        elif isinstance(op.kind, While):
            self._loop(op)
        elif not (op.kind.pure and not op.regions and all(map(self._known, op.results))):
            self._other(op)

    def _known(self, value: Value) -> bool:
        """Gives `value` a constant as its copy, if it can be one number only."""
        dtype = value.type.dtype
        if dtype.kind not in "biu" or (
            isinstance(value.owner, Op) and isinstance(value.owner.kind, Constant)
        ):
            return False
        low, high = self._intervals(value)
        if low != high:
            return False
        number = constant(self.b, np.asarray(int(low)).astype(dtype))
        shape = value.type.shape
        self.values[value] = self.b.op(Broadcast(shape, ()), number) if shape else number
        return True

    def _other(self, op: Op) -> None:
        """An operation of which one operand may decide, or not count."""
        same: Value | None = None
        if isinstance(op.kind, Select):
            decided = self._intervals.decides(op.operands[0])
            if decided is not None:
                same = op.operands[1 if decided else 2]
        elif isinstance(op.kind, And | Or) and op.results[0].type.dtype.kind == "b":
            x, y = op.operands
            neutral = isinstance(op.kind, And)
            for this, other in ((x, y), (y, x)):
                if self._intervals.decides(this) is neutral:
                    same = other
        if same is None:
            self.copy(op)
        else:
            self.values[op.results[0]] = self.new(same)

    def _branch(self, op: Op) -> None:
        decided = self._intervals.decides(op.operands[0])
        if decided is not None:
            region = op.regions[0 if decided else 1]
            self.ops(region)
            self.values.update(zip(op.results, self.new_all(region.results), strict=True))
            return
        regions = []
        for region, taken in zip(op.regions, (True, False), strict=True):
            with self._intervals.under(op.operands[0], taken):
                regions.append(self.region(region))
        self.define(op, self.append(op, op.kind, self.new_all(op.operands), tuple(regions)))
        self._results(op)

    def _loop(self, op: Op) -> None:
        operands = self.new_all(op.operands)
        condition, body = op.regions
        with self._intervals.knowing({}):
            copied = self._shared(condition)
        with self._intervals.in_loop(op):
            regions = (copied, self._shared(body))
        self.define(op, self.append(op, op.kind, operands, regions))
        self._results(op)

    def _shared(self, region: Region) -> Region:
        """The copy of a region of a loop; parameters that are one number only are that number."""
        made = Region(tuple([p.type for p in region.params]))
        with self.b.region(made):
            for param, copy in zip(region.params, made.params, strict=True):
                if not self._known(param):
                    self.values[param] = copy
            self.ops(region)
            made.results = self.new_all(region.results)
        return made

    def _results(self, op: Op) -> None:
        """Replaces results whose interval is a single number by constants."""
        for result in op.results:
            self._known(result)
