"""How the arguments and results of a compiled function are laid out over the devices of a mesh, as `compile` is told."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
from jax.sharding import Sharding

from ...compiler.values.boundary import ContainerTemplate, Form, OutputTemplate, Template
from ...compiler.values.walk import nodes
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
        """The place of all arrays of an argument."""
        if isinstance(self.ins, dict):
            return self.ins.get(name)
        if isinstance(self.ins, tuple | list):
            return self.ins[position] if position < len(self.ins) else None
        return self.ins

    def of_results(self, result: Template) -> dict[int, Place]:
        """The places of the results of a program, of which the user's result is made."""
        return dict(_spread(result, self.outs))


ANYWHERE = Layouts()


def _spread(template: Template, place: Any) -> list[tuple[int, Place]]:
    if place is None:
        return []
    if not isinstance(place, tuple | list | dict):
        found = [node for node in nodes(template) if isinstance(node, OutputTemplate)]
        return [(node.index, place) for node in found if node.form is Form.JAX]
    if not isinstance(template, ContainerTemplate):
        raise ValueError(f"out_shardings has {len(place)} items, and the result is no tuple, list or dict")
    named = isinstance(place, dict)
    parts = dict(zip(template.keys if named else itertools.count(), template.children))
    places: dict[Any, Any] = dict(place) if named else dict(enumerate(place))
    if parts.keys() != places.keys():
        raise ValueError(f"out_shardings has the items {list(places)}, and the result {list(parts)}")
    return [each for key, part in parts.items() for each in _spread(part, places[key])]


def laid_out(values: Sequence[Any], places: dict[int, Place]) -> list[Any]:
    """Arrays in a trace of JAX's, of which some have a place."""
    constrain = jax.lax.with_sharding_constraint
    return [v if places.get(i) is None else constrain(v, places[i]) for i, v in enumerate(values)]
