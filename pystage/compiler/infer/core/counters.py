"""Counters: variables that a loop changes by adding constants, and so known to stay within 64 bits.

In: a loop, and what its variables are before it. Out: the bounds that such a variable keeps in every trip and
after the loop. No program makes more than 2**50 additions, so that the number of trips need not be known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...analysis.intervals import TRIPS
from ...hlo.types import INT64
from ...library.rules.bounds import Bounds, bounds
from ...library.rules.promote import fits
from ...stage import ir as stage
from ...values.boundary import Form
from ...values.lattice import Array, Const, Slot
from ...values.state import Content
from .assigned import steps

if TYPE_CHECKING:
    from .engine import Engine


def counter_bounds(engine: Engine, loop: stage.Instr | None, frame: int) -> dict[Slot, Bounds]:
    """The bounds of the counters of a loop, as far as they are known."""
    found: dict[Slot, Bounds] = {}
    for name, (down, up) in steps(loop).items() if loop is not None else ():
        slot = (frame, name)
        content = engine.state.slots.get(slot)
        if not _is_integer(content):
            continue
        assert isinstance(content, Array | Const)
        low, high = bounds(engine, content)
        found[slot] = _moved(low, down), _moved(high, up)
    return found


def _is_integer(content: Content | None) -> bool:
    if isinstance(content, Array):
        return content.form is Form.PYTHON and content.dtype == INT64 and type(content) is Array
    return isinstance(content, Const) and type(content.value) is int


def _moved(bound: int | None, step: int) -> int | None:
    """A bound after any number of steps."""
    if bound is None or not fits(bound + step * TRIPS, INT64):
        return None
    return bound + step * TRIPS


def with_bounds(content: Content, ends: Bounds) -> Content:
    """A carried integer that keeps these bounds; anything else as it is."""
    if not isinstance(content, Array) or not _is_integer(content):
        return content
    return Array(content.value, content.form, content.weak, *ends)
