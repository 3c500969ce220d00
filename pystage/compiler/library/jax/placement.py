"""Refusal of calls whose JAX trace places arrays on devices or calls the host.

In: JAX's trace of a call, and its arguments. Out: the reason for the refusal, or None. A staged program runs on the
device of its arguments, and would drop a placement without notice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
from jax._src.core import ClosedJaxpr, Jaxpr

from ...ops.foreign.jax_call import Leaf, Static, Trace

PLACED = "it places arrays, and pystage does so over the devices of a mesh alone"
CALLS_HOST = "it calls the host while the program runs"
_PLACES = frozenset({"layout_constraint", "shard_map", "xla_pmap"})
"""The primitives that place whatever they are given."""
_SHARDINGS = ("devices", "in_shardings", "out_shardings", "sharding", "out_sharding", "dst_sharding")
"""The parameters by which others place their operands or results."""


def beside_arrays(trace: Trace, leaves: Sequence[Leaf]) -> str | None:
    """The reason why the call cannot be staged although JAX can trace it."""
    if trace.effects:
        return CALLS_HOST
    given = any(isinstance(x, Static) and _is_placement_argument(x.value) for x in leaves)
    if trace.types and (given or _places_arrays(trace.jaxpr.jaxpr)):
        return PLACED
    return None


def _places_arrays(jaxpr: Jaxpr) -> bool:
    """True if an operation places an array, in the program or in one inside of it."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in _PLACES:
            return True
        for name, value in eqn.params.items():
            if name in _SHARDINGS and any(map(_is_placement, value if type(value) is tuple else (value,))):
                return True
            if any(map(_places_arrays, _programs(value))):
                return True
    return False


def _is_placement_argument(value: Any) -> bool:
    """True for an argument that can only say where an array shall lie."""
    return isinstance(value, jax.sharding.Sharding | jax.sharding.Mesh | jax.Device) and _is_placement(value)


def _is_placement(value: Any) -> bool:
    """True for a value that says where an array lies; JAX has an object of its own for "anywhere", and a mesh of no axes."""
    if value is None or type(value).__name__ == "UnspecifiedValue":
        return False
    mesh = getattr(value, "mesh", value)
    return not getattr(mesh, "empty", False)


def _programs(value: Any) -> Iterator[Jaxpr]:
    """The programs in a parameter of an operation."""
    if isinstance(value, ClosedJaxpr):
        yield value.jaxpr
    elif isinstance(value, Jaxpr):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _programs(each)
