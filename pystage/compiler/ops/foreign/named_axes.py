"""The named axes in force: those of a mesh inside `jax.shard_map`, and those that `jax.vmap` names.

JAX keeps them in its tracing context, which it does not publish.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from typing import Any

import jax
from jax._src import config as jax_config
from jax._src import core
from jax.sharding import NamedSharding, PartitionSpec

from ....records import dataclass


@dataclass(frozen=True, slots=True)
class NamedAxis:
    """A named axis, and how many participants it has."""

    name: Hashable
    size: int

    def __str__(self) -> str:
        return f"{self.name}:{self.size}"


@dataclass(frozen=True, slots=True)
class NamedAxes:
    """The named axes around a call; `manual` are those of devices, `checked` those over which JAX tracks what varies."""

    axes: tuple[NamedAxis, ...] = ()
    manual: frozenset[Hashable] = frozenset()
    checked: frozenset[Hashable] = frozenset()

    def find(self, name: Hashable) -> NamedAxis | None:
        """The axis of that name, if it is bound."""
        return next((axis for axis in self.axes if axis.name == name), None)

    def extended(self, axes: Sequence[NamedAxis], manual: bool = False, checked: bool = False) -> NamedAxes:
        """With further axes, which hide others of their names."""
        names = frozenset([axis.name for axis in axes])
        return NamedAxes(
            (*[axis for axis in self.axes if axis.name not in names], *axes),
            (self.manual - names) | (names if manual else frozenset()),
            (self.checked - names) | (names if checked else frozenset()),
        )


NO_AXES = NamedAxes()


@functools.lru_cache(maxsize=1024)
def _named_axes(environment: Any, mesh: Any, checked: bool) -> NamedAxes:
    axes = tuple([NamedAxis(name, size) for name, size in environment.axis_sizes.items()])
    manual = frozenset(mesh.manual_axes) & {axis.name for axis in axes}
    return NamedAxes(axes, manual, manual if checked else frozenset())


class _Current:
    """Reads the named axes in force, as a guard does."""

    @property
    def axes(self) -> NamedAxes:
        """The named axes in force in this thread; the same object as long as they are."""
        mesh = jax.sharding.get_abstract_mesh()
        return _named_axes(core.get_axis_env(), mesh, bool(jax_config._check_vma.value))


CURRENT = _Current()


def in_force(axes: Sequence[NamedAxis]) -> ExitStack:
    """A context for tracing by JAX in which these axes are bound, and nothing is said of what varies over them."""
    with ExitStack() as stack:
        stack.enter_context(core.extend_axis_env_nd([(axis.name, axis.size) for axis in axes]))
        stack.enter_context(jax_config._check_vma(False))
        return stack.pop_all()


def effects_of(axes: Sequence[NamedAxis]) -> frozenset[Any]:
    """What JAX notes of a program that names these axes."""
    return frozenset([core.NamedAxisEffect(axis.name) for axis in axes])


def varying_of(value: Any) -> frozenset[Hashable]:
    """The named axes over which JAX knows an array to vary."""
    return frozenset(jax.typeof(value).mat.varying)


def aval(
    shape: tuple[int, ...], dtype: Any, weak: bool = False, varying: frozenset[Hashable] = frozenset()
) -> Any:
    """JAX's abstract value for an array that varies over these axes."""
    if not varying:
        return core.ShapedArray(shape, dtype, weak_type=weak)
    kind = core.ManualAxisType(varying=varying)
    place = NamedSharding(jax.sharding.get_abstract_mesh(), PartitionSpec())
    return core.ShapedArray(shape, dtype, weak_type=weak, sharding=place, manual_axis_type=kind)
