"""Whether what a loop carries changed its type in a pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...hlo.ir import Value
from ...values.lattice import Abstract, Cell, Slot, Source, Unknown
from ...values.state import Content
from ..aliases.merged import STALE
from .patterns import Hole, outline


def same_patterns(old: dict[Slot, Content], new: dict[Slot, Content]) -> bool:
    """True if the two sets of patterns have the same holes and the same structure."""
    return all(slot in old and same_pattern(old[slot], pattern) for slot, pattern in new.items())


_NOT_COMPARED = frozenset(["sources", "span", "origin", "runs", "reason", "sides"])
"""Fields of abstract values that say nothing of what a loop carries, or are compared apart."""


def same_pattern(old: object, new: object) -> bool:
    """True if two patterns have the same holes and the same structure."""
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, Value):
        return isinstance(old, Hole) and old.type == cast(Value, new).type
    if isinstance(old, Unknown):
        return True
    if isinstance(old, Abstract | Cell) or hasattr(old, "__dataclass_fields__"):
        names = [n for n in type(old).__dataclass_fields__ if n not in _NOT_COMPARED]
        return _same_sources(getattr(old, "sources", ()), getattr(new, "sources", ())) and all(
            same_pattern(getattr(old, n), getattr(new, n)) for n in names
        )
    if isinstance(old, tuple | list):
        return len(old) == len(cast("tuple[object]", new)) and all(
            map(same_pattern, old, cast("tuple[object]", new))
        )
    if isinstance(old, dict):
        return list(old) == list(cast("dict[object, object]", new)) and all(
            same_pattern(v, cast("dict[object, object]", new)[k]) for k, v in old.items()
        )
    return bool(old == new)


def _same_sources(old: Sequence[Source], new: Sequence[Source]) -> bool:
    """True if merged cells may be the same objects, and know as much of them."""
    first, second = [{outline(s.ref): s for s in sources} for sources in (old, new)]
    return first.keys() == second.keys() and all(
        (s.known is STALE) == (second[key].known is STALE) and same_pattern(s.ref.path, second[key].ref.path)
        for key, s in first.items()
    )
