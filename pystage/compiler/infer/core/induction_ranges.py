"""Ranges of the induction variables of a loop, which keep Python's integers within 64 bits.

In: a loop of the source, and its variables on entry. Out: the bounds that each induction variable keeps in every trip and
after the loop, whatever the trip count is.
"""

from __future__ import annotations

from ...analysis.induction import InductionVariable, recurrences
from ...analysis.transfer import between, ends
from ...hlo.types import INT64
from ...library.rules.bounds import Bounds, bounds
from ...library.rules.promote import if_fits
from ...stage import ir as stage
from ...values.boundary import Form
from ...values.lattice import Array, Const
from ...values.slots import Slot
from ...values.state import Content
from .engine import Engine


def induction_ranges(engine: Engine, loop: stage.Instr | None, frame: int) -> dict[Slot, Bounds]:
    """The bounds of the induction variables of a loop, as far as they are known."""
    found: dict[Slot, Bounds] = {}
    for name, recurrence in recurrences(loop).items() if loop is not None else ():
        slot = (frame, name)
        content = engine.state.slots.get(slot)
        if not _is_integer(content):
            continue
        assert isinstance(content, Array | Const)
        initial = between(*bounds(engine, content))
        low, high = ends(InductionVariable(initial, recurrence, None).after)
        found[slot] = if_fits(low), if_fits(high)
    return found


def _is_integer(content: Content | None) -> bool:
    if isinstance(content, Array):
        return content.form is Form.PYTHON and content.dtype == INT64 and type(content) is Array
    return isinstance(content, Const) and type(content.value) is int


def with_range(content: Content, ends: Bounds) -> Content:
    """A carried integer that keeps these bounds; anything else as it is."""
    if not isinstance(content, Array) or not _is_integer(content):
        return content
    return Array(content.value, content.form, content.weak, *ends)
