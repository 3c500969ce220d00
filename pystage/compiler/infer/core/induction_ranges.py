"""Ranges of the induction variables of a loop, which keep Python's integers within 64 bits.

In: a loop, and what its variables are before it. Out: the range in which such a variable stays in every trip and after the
loop, whatever the trip count is.
"""

from __future__ import annotations

from ...analysis.induction import InductionVariable, recurrences
from ...analysis.ranges import ANY, Interval, open_ends
from ...hlo.types import INT64, is_integer
from ...stage import ir as stage
from ...values.boundary import Form
from ...values.lattice import Array, Const
from ...values.slots import Slot
from ...values.state import Content
from ...values.walk import nodes
from .engine import Engine


def induction_ranges(engine: Engine, loop: stage.Instr | None, frame: int) -> dict[Slot, Interval]:
    """The known ranges of the induction variables of a loop."""
    found: dict[Slot, Interval] = {}
    for name, recurrence in recurrences(loop).items() if loop is not None else ():
        slot = (frame, name)
        content = engine.state.slots.get(slot)
        if not _is_integer(content):
            continue
        assert isinstance(content, Array | Const)
        found[slot] = open_ends(InductionVariable(engine.range_of(content), recurrence, None).after, INT64)
    return found


def _is_integer(content: Content | None) -> bool:
    if isinstance(content, Array):
        return content.form is Form.PYTHON and content.dtype == INT64 and type(content) is Array
    return isinstance(content, Const) and type(content.value) is int


def with_range(content: Content, range: Interval) -> Content:
    """A carried integer with this range; any other value unchanged."""
    if not isinstance(content, Array) or not _is_integer(content):
        return content
    return Array(content.value, content.form, content.weak, range)


def assume_ranges(engine: Engine, content: Content) -> None:
    """Assumes the ranges of values that enter or leave a loop, a branch or a callee in interval analysis."""
    for node in nodes(content):
        if isinstance(node, Array) and node.range != ANY and is_integer(node.dtype):
            engine.intervals.keep({node.value: node.range})
