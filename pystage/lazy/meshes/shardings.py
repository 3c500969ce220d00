"""The layout of a tensor on a mesh, also of one that is pending: nothing is computed to know it.

Computed arrays have a sharding, and so have the parameters of a step and the results of what lays out its result itself
(collectives, `t.to(sharding)`). How other results lie is XLA's decision: its partitioner is asked, by compiling the program
of the tensor, which starts from the nearest tensors whose layout is known.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..barrier import program_for, value_of
from ..counting import counts
from ..graph import Node, RecordedCall
from ..segment import Segment


@functools.lru_cache(maxsize=4096)
def laying_out(sharding: NamedSharding) -> Callable[[Any], Any]:
    """The function of an array that lays it out, and does not change its elements."""

    def to(x: Any) -> Any:
        return np.array(jax.lax.with_sharding_constraint(jnp.asarray(x), sharding))

    return to


class _UnknownLayout(Segment):
    """The calls between a node and the nearest nodes whose layout is known."""

    __slots__ = ()

    def call_of(self, node: Node) -> RecordedCall | None:
        return None if node.layout is not None else node.call


def sharding_of(node: Node) -> NamedSharding:
    """The layout of a node on a mesh. ValueError for one that no `PartitionSpec` says."""
    if node.array is not None:
        return _named(node, node.array.sharding if isinstance(node.array, jax.Array) else None)
    return _named(node, node.layout or _derived(node))


def _derived(node: Node) -> Any:
    """How XLA lays out a pending node."""
    segment = _UnknownLayout([node])
    began = time.perf_counter()
    program, made = program_for(segment, ())
    if program.executable is None:  # too large for one program
        return value_of(node, "the sharding").sharding
    structs = [_struct(segment.inputs[i]) for i in program.inputs]
    sharding = program.executable.shardings(structs)[0]
    if made:
        counts.note_compile("a sharding", len(segment.calls), time.perf_counter() - began)
    return sharding


def _struct(node: Node) -> jax.ShapeDtypeStruct:
    """The description of an input, as a program takes it."""
    type_ = node.type
    is_number = node.array is not None and type_.rank == 0 and not isinstance(node.array, jax.Array)
    sharding = None if is_number else sharding_of(node)
    return jax.ShapeDtypeStruct(type_.shape, type_.dtype, sharding=sharding)


def _named(node: Node, sharding: Any) -> NamedSharding:
    """A sharding over the mesh that is a node's device. None: that of what every device has whole."""
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
        return sharding
    if sharding is None or sharding.is_fully_replicated:
        return NamedSharding(node.device, PartitionSpec())
    raise ValueError(
        f"XLA lays a tensor of shape {node.type.shape} out in a way that no PartitionSpec says; "
        "lay it out with `t.to(NamedSharding(mesh, spec))`"
    )
