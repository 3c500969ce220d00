"""What a call of a function did, to be done again at the next call of that kind."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...hlo.ir import Function as HloFunction
from ...hlo.ir import Value
from ...values.lattice import Abstract, Cell, ErrorCell, OutputCell
from ...values.slots import Slot
from ...values.state import Content, OrderSensitivity
from ..core.frame import PythonRaise


@dataclass(slots=True, eq=False)
class Summary:
    """What a callee did, in terms of its own parameters: enough to do it again at another call.

    `reached`, `outer` and `made` are the contents of the canonical cells (by position), of outer cells (by
    number) and of the cells it made; `depends` the outer cells it may have read, with what they held.
    `error` is the error cell that it leaves, None if it did not touch it; its codes are the numbers from
    `sites[0]` up to `sites[1]`, for a call at depth `sites[2]`. `raises`: it certainly ends by that exception.
    `output` is the output cell that it leaves, None if it printed nothing. `observed`: of canonical cells that it
    changes, whether somebody sees them after a raise. `pure`: nothing in it must run but for its results.
    `laid_out`: canonical arrays whose memory is taken to lie in row-major order.
    """

    function: HloFunction
    free: tuple[Value, ...]
    result: Abstract
    reached: dict[int, Cell]
    outer: dict[Slot, Content]
    made: dict[int, Cell]
    parameters: dict[int, int]
    depends: tuple[tuple[int, Content], ...]
    error: ErrorCell | None
    output: OutputCell | None
    sites: tuple[int, int, int]
    raises: PythonRaise | None
    observed: dict[int, bool]
    pure: bool
    laid_out: dict[int, OrderSensitivity]
    splits: bool = False


@dataclass(slots=True, eq=False)
class SummaryEntry:
    """What is known of a function called with arguments of one canonical form."""

    summaries: list[Summary] = field(default_factory=list)
    in_progress: bool = False
