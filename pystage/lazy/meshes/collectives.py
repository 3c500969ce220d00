"""Collectives on tensors that are spread over a mesh.

A tensor is one array for all devices. Each of these functions is `jax.shard_map` of JAX's collective: every device has its
block of the tensor, as `x.sharding.spec` says, exchanges it with the devices that differ from it in their place along the
named axes alone, and the blocks that come of it are put together again as `spec` says, without the named axes where each
of these devices has the same block. So the call is recorded as one operation, and its result has a known shape and layout.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from numpy.lib.array_utils import normalize_axis_index

from ..array import LazyTensor
from ..standard.data_types import ANY, FLOATING, NUMERIC, REAL, Category
from ..standard.operands import apply, array
from ..tensor import node_of
from .shardings import sharding_of
from .specs import Axes, names_in, sharding_of_result


def all_reduce(x: LazyTensor, axis_name: Hashable, /, *, op: str = "sum") -> LazyTensor:
    """The blocks of `x` along an axis of its mesh, combined element by element.

    `axis_name`: the name of an axis, or a tuple of names. `op`: "sum", "prod" (numeric types), "mean" (floating-point
    types), "max" or "min" (real-valued types). The result has the shape of a block along the axes of `x` that are split
    over `axis_name`, the element type of `x`, and the layout of `x` without `axis_name`. The source is `jax.lax.psum`,
    `pmean`, `pmax` and `pmin`.

    ValueError for another `op`, a tensor that is not on a mesh, an axis that its mesh does not have, or over which `x` is
    not split; TypeError for other types.
    """
    reduce, category = _choice("all_reduce", op, _REDUCTIONS)
    call = _CollectiveCall("all_reduce", x, axis_name, category)
    return call.result(reduce, call.spec_without)


def all_gather(x: LazyTensor, axis_name: Hashable, /, *, axis: int = 0) -> LazyTensor:
    """The blocks of `x` along an axis of its mesh, concatenated along `axis` of the tensor, on each device.

    The result has the layout of `x` without `axis_name`: where `x` is split along `axis`, the elements of `x`. Any type.
    The source is `jax.lax.all_gather(tiled=True)`. ValueError as for `all_reduce`; AxisError for an `axis` that `x` does
    not have.
    """
    call = _CollectiveCall("all_gather", x, axis_name)
    return call.result(_gather, call.spec_without, call.axis(axis))


def reduce_scatter(x: LazyTensor, axis_name: Hashable, /, *, op: str = "sum", axis: int = 0) -> LazyTensor:
    """The sum of the blocks of `x` along an axis of its mesh, of which each device keeps its part along `axis`.

    `op`: "sum" (numeric types) or "mean" (floating-point types). The result is laid out as `x`, and has along `axis` one
    element for as many of `x` as there are devices along `axis_name`. The source is `jax.lax.psum_scatter(tiled=True)`.
    ValueError as for `all_reduce`, and where the blocks cannot be divided among the devices.
    """
    reduce, category = _choice("reduce_scatter", op, _SCATTERS)
    call = _CollectiveCall("reduce_scatter", x, axis_name, category)
    return call.result(reduce, call.spec, call.divided(call.axis(axis)))


def all_to_all(
    x: LazyTensor, axis_name: Hashable, /, *, split_axis: int = 0, concat_axis: int = 0
) -> LazyTensor:
    """The block of each device, split along `split_axis`, with a part sent to each device along an axis of the mesh.

    Each concatenates what it gets along `concat_axis`, in the order of the senders. The result is laid out as `x`; it has a
    part of the extent of `split_axis`, and so many times that of `concat_axis`. Any type. The source is
    `jax.lax.all_to_all(tiled=True)`. ValueError as for `reduce_scatter`.
    """
    call = _CollectiveCall("all_to_all", x, axis_name)
    return call.result(_exchange, call.spec, call.divided(call.axis(split_axis)), call.axis(concat_axis))


def ppermute(x: LazyTensor, axis_name: Hashable, perm: Sequence[tuple[int, int]], /) -> LazyTensor:
    """The blocks of `x` along an axis of its mesh, in other places: those of the pairs `(source, destination)` in `perm`.

    Where no block arrives there are zeros. The result has the shape, type and layout of `x`. The source is
    `jax.lax.ppermute`. ValueError as for `all_reduce`, and for places that there are not, or that occur twice.
    """
    call = _CollectiveCall("ppermute", x, axis_name)
    pairs = tuple([(int(source), int(destination)) for source, destination in perm])
    for place in (0, 1):
        places = [pair[place] for pair in pairs]
        if len({*places}) < len(places) or not {*places} <= {*range(call.count)}:
            what = ("source", "destination")[place]
            raise ValueError(f"`ppermute` takes each {what} from 0 to {call.count - 1} once, not {places}")
    return call.result(_permute, call.spec, pairs)


class _CollectiveCall:
    """One call: the tensor, its layout, and the axes of the mesh among whose devices it is made. `count`: of devices."""

    def __init__(self, name: str, x: LazyTensor, axis_name: Hashable, category: Category = ANY) -> None:
        self.name = name
        self.x = array(name, x, category)
        self.axes: Axes = axis_name if isinstance(axis_name, tuple) else (axis_name,)
        mesh = x.device
        if not isinstance(mesh, Mesh):
            raise ValueError(
                f"`{name}` takes a tensor on a mesh, and this one is on {mesh}; "
                "`lazy.asarray(x, device=NamedSharding(mesh, spec))` spreads one"
            )
        for axis in self.axes:
            if axis not in mesh.shape:
                raise ValueError(f"`{name}` by {axis!r}: the axes of the mesh are {mesh.axis_names}")
        self.count = math.prod([mesh.shape[axis] for axis in self.axes])
        self._sharding = sharding_of(node_of(x))
        names = [names_in(entry) for entry in self._sharding.spec]
        self.spec = PartitionSpec(*names)
        self.spec_without = PartitionSpec(*[tuple([n for n in e if n not in self.axes]) for e in names])
        for axis in self.axes:
            if not any(axis in entry for entry in names):
                raise ValueError(
                    f"`{name}` by {axis!r} takes a tensor that is split over this axis; all of its devices have the "
                    f"same of this one, which is laid out as {self._sharding.spec}"
                )

    def axis(self, axis: int) -> int:
        """An axis of the tensor, counted from the first."""
        return normalize_axis_index(axis, self.x.ndim)

    def divided(self, axis: int) -> int:
        """An axis along which the blocks are divided among the devices."""
        extent = self._sharding.shard_shape(self.x.shape)[axis]
        if extent % self.count:
            raise ValueError(
                f"`{self.name}` cannot divide blocks of {extent} along axis {axis} among {self.count} devices"
            )
        return axis

    def result(self, block: Callable[..., Any], out: PartitionSpec, *options: Any) -> LazyTensor:
        """The recorded call of `block(b, axes, *options)` on each device, with the layout of its result."""
        sharding = sharding_of_result(self._sharding.mesh, out)
        function = _function(self.name, block, self.axes, options, sharding.mesh, self.spec, out)
        with jax.enable_x64(True):  # where it cannot be recorded, it computes the same
            made = apply(function, self.x)
        node = node_of(made)
        if node.array is None:
            node.layout = sharding
            return made
        return made if sharding_of(node) == sharding else made.to(sharding)


@functools.lru_cache(maxsize=4096)
def _function(
    name: str,
    block: Callable[..., Any],
    axes: Axes,
    options: tuple[Any, ...],
    mesh: Any,
    spec: PartitionSpec,
    out: PartitionSpec,
) -> Callable[[Any], Any]:
    """The function that is recorded."""

    def on_one(b: Any) -> Any:
        return block(b, axes, *options)

    def collective(x: Any) -> Any:
        run = jax.shard_map(on_one, mesh=mesh, in_specs=(spec,), out_specs=out, check_vma=False)
        return np.array(run(jnp.asarray(x)))

    collective.__name__ = name
    return collective


def _sum(b: Any, axes: Axes) -> Any:
    return lax.psum(b, axes)


def _mean(b: Any, axes: Axes) -> Any:
    return lax.pmean(b, axes)


def _max(b: Any, axes: Axes) -> Any:
    return lax.pmax(b, axes)


def _min(b: Any, axes: Axes) -> Any:
    return lax.pmin(b, axes)


def _prod(b: Any, axes: Axes) -> Any:
    return jnp.prod(lax.all_gather(b, axes), axis=0, dtype=b.dtype)


def _gather(b: Any, axes: Axes, axis: int) -> Any:
    return lax.all_gather(b, axes, axis=axis, tiled=True)


def _scattered_sum(b: Any, axes: Axes, axis: int) -> Any:
    return lax.psum_scatter(b, axes, scatter_dimension=axis, tiled=True)


def _scattered_mean(b: Any, axes: Axes, axis: int) -> Any:
    return lax.psum_scatter(b, axes, scatter_dimension=axis, tiled=True) / lax.axis_size(axes)


def _exchange(b: Any, axes: Axes, split_axis: int, concat_axis: int) -> Any:
    return lax.all_to_all(b, axes, split_axis, concat_axis, tiled=True)


def _permute(b: Any, axes: Axes, perm: Sequence[tuple[int, int]]) -> Any:
    return lax.ppermute(b, axes, perm)


_Choices = dict[str, tuple[Callable[..., Any], Category]]
_REDUCTIONS: _Choices = {
    "sum": (_sum, NUMERIC),
    "mean": (_mean, FLOATING),
    "max": (_max, REAL),
    "min": (_min, REAL),
    "prod": (_prod, NUMERIC),
}
_SCATTERS: _Choices = {"sum": (_scattered_sum, NUMERIC), "mean": (_scattered_mean, FLOATING)}


def _choice(name: str, op: str, choices: _Choices) -> tuple[Callable[..., Any], Category]:
    if op not in choices:
        raise ValueError(f"`op` of `{name}` is {', '.join(map(repr, choices))}, not {op!r}")
    return choices[op]
