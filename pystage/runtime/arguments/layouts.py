"""Layouts of arguments and results over the devices of a mesh, as `compile` is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
from jax.sharding import Sharding

from ...records import dataclass
from .targets import Calling

Place: TypeAlias = Sharding | None
"""Where an array lies; None where it may lie anywhere."""


@dataclass(frozen=True, slots=True)
class Layouts:
    """`ins`: for all arguments, or by position or name; `outs`: for the whole result, or by item."""

    ins: Any = None
    outs: Any = None

    def check(self, fn: Callable[..., Any], name: str) -> None:
        """TypeError for what is no sharding, ValueError for a parameter that the function does not have."""
        for option, given in (("in_shardings", self.ins), ("out_shardings", self.outs)):
            for place in jax.tree.leaves(given):
                if not isinstance(place, Sharding):
                    raise TypeError(
                        f"{option} takes shardings, such as jax.sharding.NamedSharding, not {place!r}"
                    )
        if isinstance(self.ins, dict):
            calling = Calling(fn)
            for parameter in self.ins:
                if not calling.has(parameter):
                    raise ValueError(f"`{name}` has no parameter `{parameter}` to lay out")

    def of(self, position: int, name: Any) -> Place:
        """The layout of all arrays of an argument."""
        if isinstance(self.ins, dict):
            return self.ins.get(name)
        if isinstance(self.ins, tuple | list):
            return self.ins[position] if position < len(self.ins) else None
        return self.ins


ANYWHERE = Layouts()
