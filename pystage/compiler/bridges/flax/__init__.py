"""Flax: modules of Linen and of NNX are staged from source; JAX traces layers of the library where it can.

linen/   modules bound to scopes, on cells in place of thread-local state
nnx/     modules as plain objects; functions that split or merge them run on shells
"""

from __future__ import annotations

from ...policy import Package, Policy
from ..bridge import Bridge

FLAX = Bridge(
    Package(
        "flax",
        Policy.TRACED,
        plumbing=("flax/linen/module.py", "flax/core/scope.py"),
        objects_changed=frozenset({"TraceContextError"}),
        of_one_trace=frozenset({"flax.nnx.variablelib.Variable"}),
        individual=frozenset({"flax.linen.module.Module"}),
    ),
    tested="0.12",
    meanings={
        "flax.linen": "bridges.flax.linen.modules:declare",
        "flax.nnx": "bridges.flax.nnx.modules:declare",
    },
)
