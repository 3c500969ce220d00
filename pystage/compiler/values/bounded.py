"""Arrays of bounded extent: the bound of an axis is known now, the number of its elements is computed by the program.

Such an array is a whole, whose extents are known, and for each bounded axis the places of the whole that belong to it
(`Extent`). Elementwise work is done on the whole; what combines along an axis leaves out what does not belong to it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from ..hlo.ir import Value
from ..hlo.types import ArrayType
from .boundary import Form
from .capacity import Capacity
from .lattice import Abstract, Array, Ref
from .node import NOTE, TreeNode


@dataclass(frozen=True, slots=True)
class Progression:
    """`count` places of an axis: `start`, `start + step`, …; only the program knows where and how many."""

    start: Value
    step: int
    count: Value


@dataclass(frozen=True, slots=True)
class Compressed:
    """The elements that `mask`, a vector, selects of `whole` along `axis`; `size` of them."""

    whole: Value
    mask: Value
    axis: int
    size: Value


@dataclass(frozen=True, slots=True, eq=False)
class Extent(TreeNode):
    """The places of a whole that belong to a bounded axis.

    They are `start`, `start + step`, …, as many as `size`; or those at which `mask`, a vector, is true, while something is
    stored there, or computed of all elements. `ordered` is False for the mask of a slice of which not even the direction is
    known. `bounds`: the numbers that decide about a slice. `capacity`: the bound, where a run may need more.
    """

    axis: int
    mask: Value | None = None
    start: Value | None = None
    step: int = 1
    size: Value | None = None
    ordered: bool = True
    capacity: Capacity | None = None
    bounds: tuple[Array, ...] = field(default=(), metadata=NOTE)

    @property
    def progression(self) -> Progression | None:
        """The places in order, where the step is known."""
        if self.start is None or self.size is None:
            return None
        return Progression(self.start, self.step, self.size)

    def moved(self, by: int) -> Extent:
        """The same places of an array that has so many more axes before."""
        return replace(self, axis=self.axis + by)


def extent_of(progression: Progression, axis: int, bounds: tuple[Array, ...] = ()) -> Extent:
    """The extent of a progression along `axis`."""
    return Extent(axis, start=progression.start, step=progression.step, size=progression.count, bounds=bounds)


class Selection(Abstract):
    """Something between an array and its elements: a bounded array, `x.at`, `x.at[i]`. The array doors serve it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Bounded(Selection):
    """An array some of whose extents are bounded.

    `whole` is an ndarray or a `jax.Array` of `type`. `extents` are in the order of their axes, which are distinct. The
    whole is memory like any other's: of `x[mask]` a copy of `x`, of `x[i:j]` that of `x` itself. So all names of a bounded
    array see what is stored through one of them.
    """

    whole: Ref | Array
    type: ArrayType
    extents: tuple[Extent, ...]
    objects: tuple[Hashable, ...] = field(default_factory=lambda: (object(),), metadata=NOTE)
    """What tells it from other arrays with the same elements: of each object that it may be, something of its own."""
    which: int | Value = 0
    """Which of the objects it is."""

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
        """The axes: bounded ones, and how many elements the others have."""
        found: list[Extent | int] = list(self.type.static_shape)
        for extent in self.extents:
            found[extent.axis] = extent
        return tuple(found)

    @property
    def outline(self) -> Hashable:
        """Equal for two names of one bounded array."""
        whole = (self.whole.cell, self.whole.path) if isinstance(self.whole, Ref) else self.whole.value
        extents = [(e.axis, e.mask, e.start, e.step, e.size) for e in self.extents]
        return self.objects, self.which, whole, *extents

    @property
    def rank(self) -> int:
        """The number of axes."""
        return self.type.rank

    def anew(self) -> Bounded:
        """Another view of the same elements."""
        return replace(self, objects=(object(),), which=0)

    def same_as(self, other: Bounded) -> Bounded:
        """The same object as another array, with the same elements."""
        return replace(self, objects=other.objects, which=other.which)

    def bound(self, extent: Extent) -> int:
        """How many elements the whole has along `extent`: at most as many belong to it."""
        return self.type.static_shape[extent.axis]


SOME = "some object"
"""Among the objects that a bounded array may be: any that a trip of a loop may have left in its place."""


def joined_objects(a: Bounded, b: Bounded, loop: bool) -> tuple[Hashable, ...]:
    """The objects that an array may be which is `a` on one path and `b` on the other, or before a loop and after a trip."""
    new = [each for each in b.objects if each not in a.objects]
    if loop and new:
        new = [SOME] * (SOME not in a.objects)
    return (*a.objects, *new)
