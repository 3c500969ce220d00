"""Layouts over the devices of a mesh: `jax.lax.with_sharding_constraint`, and `jax.device_put` to a sharding."""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding

from ...diagnostics.codes_calls import NotServed
from ...diagnostics.codes_jax import RefusedByJax
from ...ops import ShardingConstraint
from ...values.lattice import Abstract
from ..context import Context, Raw
from ..registry import meaning
from .loop_carries import array_leaf
from .pytrees import flatten, unflatten
from .traced_calls import jax_call


def _is_sharding(thing: object) -> bool:
    return isinstance(thing, NamedSharding)


def _laid_out(ctx: Context, x: Raw, shardings: Any, name: str) -> Abstract:
    """The arrays of a structure, laid out as a prefix of it says; PS651 where JAX refuses that."""
    leaves, tree = flatten(ctx, x)
    arrays = [array_leaf(ctx, leaf, name) for leaf in leaves]
    structs = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays])
    try:
        jax.eval_shape(lambda values: jax.lax.with_sharding_constraint(values, shardings), structs)
        spread = jax.tree.broadcast(shardings, structs, is_leaf=_is_sharding)
    except Exception as error:
        ctx.fail(RefusedByJax(span=ctx.span, reason=str(error)))
    places = jax.tree.leaves(spread, is_leaf=_is_sharding)
    made = [
        ctx.jax(ctx.op(ShardingConstraint(place), array.value), array.weak)
        for array, place in zip(arrays, places, strict=True)
    ]
    return unflatten(ctx, tree, made)


def _are_served(ctx: Context, shardings: Any) -> bool:
    """True for a structure of shardings over the devices of meshes, outside of `jax.shard_map`."""
    found = jax.tree.leaves(shardings, is_leaf=_is_sharding)
    on_meshes = all(isinstance(s, NamedSharding) and isinstance(s.mesh, Mesh) for s in found)
    return bool(found) and on_meshes and not ctx.named_axes().manual


@meaning(jax.lax.with_sharding_constraint)
def with_sharding_constraint(ctx: Context, x: Raw, shardings: Raw) -> Abstract:
    """The same arrays, laid out over the devices of a mesh."""
    name = "jax.lax.with_sharding_constraint"
    given = ctx.known(shardings, f"the shardings of {name}")
    if not _are_served(ctx, given):
        why = "pystage has layouts over the devices of a mesh that is given, outside of jax.shard_map"
        instead = "give a jax.sharding.NamedSharding with a mesh"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    return _laid_out(ctx, x, given, name)


@meaning(jax.device_put)
def device_put(
    ctx: Context, x: Raw, device: Raw = None, *, src: Raw = None, donate: Raw = False, may_alias: Raw = None
) -> Abstract:
    """The arrays, laid out over the devices of a mesh; to one device only where nothing is said of it."""
    given = ctx.known(device, "the device of jax.device_put")
    options = {"src": src, "donate": donate, "may_alias": may_alias}
    plain = not any(ctx.known(value, f"{name} of jax.device_put") for name, value in options.items())
    if plain and _are_served(ctx, given):
        return _laid_out(ctx, x, given, "jax.device_put")
    return jax_call(ctx, jax.device_put, [x, device], options)
