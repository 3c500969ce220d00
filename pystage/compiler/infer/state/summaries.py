"""Function summaries: the effects of a callee on the heap, applied at further calls of the same canonical form."""

from __future__ import annotations

from dataclasses import field

from ....records import dataclass
from ...diagnostics.diagnostic import Diagnostic
from ...hlo.ir import Function as HloFunction
from ...hlo.ir import Value
from ...hlo.types import ArrayType
from ...values.identity import Identity
from ...values.lattice import Abstract, Cell, ErrorCell, OutputCell
from ...values.slots import Slot
from ...values.state import Content, OrderSensitivity
from .frame import PythonRaise


@dataclass(slots=True, eq=False)
class CalleeEffects:
    """The effects of a callee, in terms of its own parameters.

    `reached`, `outer` and `made` are the contents of the canonical cells (by position), of outer cells (by
    number) and of the cells it made. `error` is the error cell that it leaves, None if it did not touch it; `output` the
    output cell, None if it printed nothing.
    """

    result: Abstract
    reached: dict[int, Cell]
    outer: dict[Slot, Content]
    made: dict[int, Cell]
    error: ErrorCell | None
    output: OutputCell | None

    def contents(self) -> list[Content]:
        """All contents."""
        cells = [cell for cell in (self.error, self.output) if cell is not None]
        return [self.result, *self.reached.values(), *self.outer.values(), *self.made.values(), *cells]


@dataclass(slots=True, eq=False)
class Summary(CalleeEffects):
    """The effects of a callee, and what is needed to apply them at another call.

    `parameters` and `objects` number what it was given, as its canonical form does. `free` are the
    values of the program around it that it uses, which are the last parameters of `function`. `computed`: the positions of
    parameters that the program computes. `depends`: the outer cells it may have read, with what they held. The codes of its
    errors are the numbers from `sites[0]` up to `sites[1]`, for a call at depth `sites[2]`. `raises`: it certainly ends by
    that exception.
    `observed`: of canonical cells that it changes, whether somebody sees them after a raise. `pure`: nothing in it must
    run but for its results. `laid_out`: canonical arrays whose memory is taken to lie in row-major order. `splits`:
    something in it is split over the alternatives of a gated φ. `elements`: the types of the arrays among elements of lists
    and dicts of rows that it stored into.
    """

    function: HloFunction
    free: tuple[Value, ...]
    parameters: dict[int, int]
    objects: dict[Identity, int]
    computed: tuple[int, ...]
    depends: tuple[tuple[int, Content], ...]
    sites: tuple[int, int, int]
    raises: PythonRaise | None
    observed: dict[int, bool]
    pure: bool
    laid_out: dict[int, OrderSensitivity]
    splits: bool
    elements: tuple[ArrayType, ...]


@dataclass(slots=True, eq=False)
class SummaryEntry:
    """The summaries of a function for arguments of one canonical form; `endless`: why its recursion was given up."""

    summaries: list[Summary] = field(default_factory=list)
    endless: Diagnostic | None = None
