"""Arrays of bounded extent: the bound of an axis is known now, the number of its elements is computed by the program.

Such an array is a whole, whose extents are known, and for each bounded axis the places of the whole that belong to it
(`Extent`). Elementwise work is done on the whole; what combines along an axis leaves out what does not belong to it.
"""

from __future__ import annotations

import itertools
import math
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
    """`count` places of an axis: `start`, `start + step`, …; only the program knows where and how many.

    The step may be known; it is never 0.
    """

    start: Value
    step: int | Value
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
    stored there, or computed of all elements. `bounds`: the numbers that decide about a slice. `capacity`: the bound, where
    a run may need more.
    """

    axis: int
    mask: Value | None = None
    start: Value | None = None
    step: int | Value = 1
    size: Value | None = None
    capacity: Capacity | None = None
    bounds: tuple[Array, ...] = field(default=(), metadata=NOTE)

    @property
    def progression(self) -> Progression | None:
        """The places in order; None for those of a mask."""
        if self.start is None or self.size is None:
            return None
        return Progression(self.start, self.step, self.size)

    def is_like(self, other: Extent) -> bool:
        """True for an extent that differs from another in numbers of the program at most, of which a step may be known."""
        if (self.axis, self.capacity) != (other.axis, other.capacity) or self.mask is not other.mask:
            return False
        pairs = (self.start, other.start), (self.size, other.size)
        return all((a is None) == (b is None) for a, b in pairs)

    def moved(self, by: int) -> Extent:
        """The same places of an array that has so many more axes before."""
        return replace(self, axis=self.axis + by)


def extent_of(progression: Progression, axis: int, bounds: tuple[Array, ...] = ()) -> Extent:
    """The extent of a progression along `axis`."""
    return Extent(axis, start=progression.start, step=progression.step, size=progression.count, bounds=bounds)


class Identity:
    """Which object an array is, by when it was made: no two are made at one time.

    One object, or, with an end, any of those that a loop has made from its begin to its end.
    """

    __slots__ = ("_first", "_last", "of_loop")

    def __init__(self, of_loop: bool = False) -> None:
        self.of_loop = of_loop
        self._first = next(_TIMES)
        self._last = math.inf if of_loop else self._first

    def end(self) -> None:
        """The loop is over: what is made from now on is none of its objects."""
        self._last = next(_TIMES)

    def may_be(self, other: Identity) -> bool:
        """False if the two are certainly different objects."""
        return self._first <= other._last and other._first <= self._last

    def is_from_before(self, loop: Identity) -> bool:
        """True for what was made before a loop began."""
        return self._last < loop._first


_TIMES = itertools.count()


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
    objects: tuple[Identity, ...] = field(default_factory=lambda: (Identity(),), metadata=NOTE)
    """The objects that it may be, which tell it from other arrays with the same elements."""
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
        return replace(self, objects=(Identity(),), which=0)

    def same_as(self, other: Bounded) -> Bounded:
        """The same object as another array, with the same elements."""
        return replace(self, objects=other.objects, which=other.which)

    def bound(self, extent: Extent) -> int:
        """How many elements the whole has along `extent`: at most as many belong to it."""
        return self.type.static_shape[extent.axis]


def joined_objects(a: Bounded, b: Bounded, loop: Identity | None) -> tuple[Identity, ...]:
    """The objects that an array may be which is `a` on one path and `b` on the other, or before a loop and after a trip.

    Of those that trips of the loop have made it may be any.
    """
    new = [each if loop is None or each.is_from_before(loop) else loop for each in b.objects]
    return tuple(dict.fromkeys([*a.objects, *new]))
