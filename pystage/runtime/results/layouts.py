"""Layouts of results over the devices of a mesh, as `compile` is told (`Layouts`)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from ...compiler.values.boundary import ContainerTemplate, Form, OutputTemplate, Template
from ...compiler.values.walk import nodes
from ..arguments.layouts import Place


def places_of_results(template: Template, place: Any) -> dict[int, Place]:
    """By result of a program, the layout of the `jax.Array` that is made of it; ValueError for items that do not fit."""
    if place is None:
        return {}
    if not isinstance(place, tuple | list | dict):
        found = [node for node in nodes(template) if isinstance(node, OutputTemplate)]
        return {node.index: place for node in found if node.form is Form.JAX}
    if not isinstance(template, ContainerTemplate):
        raise ValueError(f"out_shardings has {len(place)} items, and the result is no tuple, list or dict")
    named = isinstance(place, dict)
    parts = dict(zip(template.keys if named else itertools.count(), template.children))
    places: dict[Any, Any] = dict(place) if named else dict(enumerate(place))
    if parts.keys() != places.keys():
        raise ValueError(f"out_shardings has the items {list(places)}, and the result {list(parts)}")
    made: dict[int, Place] = {}
    for key, part in parts.items():
        made |= places_of_results(part, places[key])
    return made


def laid_out(values: Sequence[Any], places: Mapping[int, Place]) -> list[Any]:
    """Arrays in a trace of JAX's, some of them with a layout."""
    constrain = jax.lax.with_sharding_constraint
    return [v if places.get(i) is None else constrain(v, places[i]) for i, v in enumerate(values)]
