"""Bounded arrays: the bound of an extent is known while compiling, the size is computed by the program.

Such an array is a whole, whose extents are known, and for each bounded axis the places of the whole that belong to it
(`Extent`). Elementwise work is done on the whole; what combines along an axis leaves out what does not belong to it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field, replace

from ...records import dataclass
from ..hlo.ir import Value
from ..hlo.types import ArrayType
from .boundary import Form
from .capacity import Capacity
from .identity import Identity, united
from .lattice import Abstract, Array, Ref
from .node import NOTE, TreeNode


@dataclass(frozen=True, slots=True)
class Progression:
    """`count` positions of an axis: `start`, `start + step`, …, which the program computes.

    The step may be known; it is never 0.
    """

    start: Value
    step: int | Value
    count: Value


@dataclass(frozen=True, slots=True)
class Compressed:
    """The `size` elements of `whole` that `mask`, a vector, selects along `axis`."""

    whole: Value
    mask: Value
    axis: int
    size: Value


@dataclass(frozen=True, slots=True, eq=False)
class Extent(TreeNode):
    """The positions of a whole that belong to a bounded axis.

    They are `start`, `start + step`, …, as many as `size`; or those at which `mask`, a vector, is true, while something is
    stored there, or computed of all elements. `bounds`: the numbers that decide about a slice. `capacity`: the bound, where
    a run may need more. `most`: there are never more than these, where that is known to be less than the whole has.
    """

    axis: int
    mask: Value | None = None
    start: Value | None = None
    step: int | Value = 1
    size: Value | None = None
    capacity: Capacity | None = None
    most: int | None = None
    bounds: tuple[Array, ...] = field(default=(), metadata=NOTE)

    @property
    def progression(self) -> Progression | None:
        """The positions in order; None for those of a mask."""
        if self.start is None or self.size is None:
            return None
        return Progression(self.start, self.step, self.size)

    def is_like(self, other: Extent) -> bool:
        """True for an extent that differs at most in numbers of the program, of which a step may be known."""
        if (self.axis, self.capacity) != (other.axis, other.capacity) or self.mask is not other.mask:
            return False
        pairs = (self.start, other.start), (self.size, other.size)
        return all((a is None) == (b is None) for a, b in pairs)

    def moved(self, by: int) -> Extent:
        """The same positions of an array with so many more leading axes."""
        return replace(self, axis=self.axis + by)


def joined_most(a: Extent, b: Extent) -> int | None:
    """The greater bound of two extents."""
    return None if a.most is None or b.most is None else max(a.most, b.most)


def extent_of(progression: Progression, axis: int, bounds: tuple[Array, ...] = ()) -> Extent:
    """The extent of a progression along `axis`."""
    return Extent(axis, start=progression.start, step=progression.step, size=progression.count, bounds=bounds)


def axes_with(shape: tuple[int, ...], extents: tuple[Extent, ...]) -> tuple[Extent | int, ...]:
    """The axes of an array of `shape` of which some are bounded."""
    found: list[Extent | int] = list(shape)
    for extent in extents:
        found[extent.axis] = extent
    return tuple(found)


class Selection(Abstract):
    """A value between an array and its elements: a bounded array, `x.at`, `x.at[i]`. Indexing and attributes of arrays
    handle it.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Bounded(Selection):
    """An array with bounded extents.

    `whole` is an ndarray or a `jax.Array` of `type`. `extents` are in the order of their axes, which are distinct. The
    whole is memory like any other's: of `x[mask]` a copy of `x`, of `x[i:j]` that of `x` itself. So all names of a bounded
    array see what is stored through one of them.
    """

    whole: Ref | Array
    type: ArrayType
    extents: tuple[Extent, ...]
    objects: tuple[Identity, ...] = field(default_factory=lambda: (Identity(),), metadata=NOTE)
    """The objects that it may be, which distinguish it from other arrays with the same elements."""
    which: int | Value = 0
    """The selector among these objects."""

    @property
    def form(self) -> Form:
        """NDARRAY or JAX."""
        return Form.NDARRAY if isinstance(self.whole, Ref) else Form.JAX

    @property
    def weak(self) -> bool:
        """JAX's weak type."""
        return isinstance(self.whole, Array) and self.whole.weak

    @property
    def axes(self) -> tuple[Extent | int, ...]:
        """The axes: bounded ones, and the extents of the others."""
        return axes_with(self.type.shape, self.extents)

    @property
    def outline(self) -> Hashable:
        """A key, equal for two names of one bounded array."""
        whole = (self.whole.cell, self.whole.path) if isinstance(self.whole, Ref) else self.whole.value
        extents = [(e.axis, e.mask, e.start, e.step, e.size) for e in self.extents]
        return self.objects, self.which, whole, *extents

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self.type.rank

    def anew(self, site: Hashable = None) -> Bounded:
        """Another view of the same elements, made at a place of the source."""
        return replace(self, objects=(Identity(site),), which=0)

    def same_as(self, other: Bounded) -> Bounded:
        """The same object as another array with the same elements."""
        return replace(self, objects=other.objects, which=other.which)

    def bound(self, extent: Extent) -> int:
        """The extent of the whole along `extent`, an upper bound of the size."""
        return self.type.shape[extent.axis]


def joined_objects(a: Bounded, b: Bounded, loop: Identity | None) -> tuple[Identity, ...]:
    """The objects that an array may be that is `a` on one path and `b` on the other, or before a loop and after a trip.

    Of those that trips of the loop have made it may be any.
    """
    new = [each if loop is None else each.after_trips(loop) for each in b.objects]
    return united(a.objects, new)
