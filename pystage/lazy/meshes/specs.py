"""The `PartitionSpec` of an array: over which axes of a mesh each of its axes is split."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from jax.sharding import Mesh, NamedSharding, PartitionSpec

Axes = tuple[Hashable, ...]
"""Names of axes of a mesh."""


def names_in(entry: Any) -> Axes:
    """The axes of a mesh over which one axis of an array is split, by its entry in a `PartitionSpec`."""
    return () if entry is None else entry if isinstance(entry, tuple) else (entry,)


def sharding_of_result(mesh: Mesh, spec: PartitionSpec) -> NamedSharding:
    """A layout as JAX writes that of a result: without axes at the end that are not split, on a mesh of untyped axes."""
    entries = [names[0] if len(names) == 1 else names or None for names in map(names_in, spec)]
    while entries and entries[-1] is None:
        entries.pop()
    return NamedSharding(Mesh(mesh.devices, mesh.axis_names), PartitionSpec(*entries))


def as_far_as_divided(mesh: Mesh, spec: PartitionSpec, shape: Sequence[int]) -> NamedSharding:
    """A layout for an array of a shape, without the axes of the mesh by which this cannot be divided."""
    counts = [math.prod([mesh.shape[name] for name in names_in(entry)]) for entry in spec]
    parts = zip(spec, counts, shape, strict=False)
    return NamedSharding(mesh, PartitionSpec(*[None if n % count else entry for entry, count, n in parts]))
