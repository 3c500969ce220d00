"""Arrays of bounded extent: the bound of an axis is known now, the number of its elements is computed by the program.

Such an array is a whole, whose extents are known, and for each bounded axis the places of the whole that belong to it
(`Extent`). Elementwise work is done on the whole; what combines along an axis leaves out what does not belong to it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
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


def joined_most(a: Extent, b: Extent) -> int | None:
    """The most elements that one extent or the other has."""
    return None if a.most is None or b.most is None else max(a.most, b.most)


def extent_of(progression: Progression, axis: int, bounds: tuple[Array, ...] = ()) -> Extent:
    """The extent of a progression along `axis`."""
    return Extent(axis, start=progression.start, step=progression.step, size=progression.count, bounds=bounds)


class Identity:
    """Which object an array is, by where and when it was made: no two are made at one time.

    One object; of a loop, any of those that its trips have made at one place of the source, an allocation site; or any of
    several, its `parts`. The site may be unknown. What a loop over a list takes of it is one of its elements, `elements`,
    and in each trip of `taker` another one.
    """

    __slots__ = (
        "_first",
        "_last",
        "_loop",
        "_sites",
        "_unions",
        "elements",
        "of_loop",
        "parts",
        "site",
        "taker",
    )

    def __init__(
        self,
        site: Hashable = None,
        of_loop: bool = False,
        elements: tuple[Identity, ...] = (),
        taker: Identity | None = None,
    ) -> None:
        self.site = site
        self.of_loop = of_loop
        self.parts: tuple[Identity, ...] = ()
        self.elements = elements
        self.taker = taker
        self._loop = self
        self._sites: dict[Hashable, Identity] = {}
        self._unions: dict[tuple[Identity, ...], Identity] = {}
        self._first = next(_TIMES)
        self._last = math.inf if of_loop else self._first

    @classmethod
    def any_of(cls, objects: Iterable[Identity]) -> Identity:
        """One of these, nobody knows which."""
        parts = dict.fromkeys([part for each in objects for part in each.parts or (each,)])
        first, *others = parts
        if not others and first.of_loop:
            return first
        known = first._unions.get(tuple(others))
        if known is None:
            known = first._unions[tuple(others)] = cls(of_loop=True)
            known.parts = tuple(parts)
        return known

    def at(self, site: Hashable, elements: tuple[Identity, ...] = ()) -> Identity:
        """Of those that the trips of a loop make, or take of a list, the ones of that place."""
        found = self._sites.get((site, elements))
        if found is None:
            found = self._sites[site, elements] = Identity(site, True, elements)
            found._loop = self
        return found

    def end(self) -> None:
        """The loop is over: what is made from now on is none of its objects."""
        self._last = next(_TIMES)

    def may_be(self, other: Identity) -> bool:
        """False if the two are certainly different objects.

        While a loop is inferred, what its trips have made is of the trips before.
        """
        if self.parts:
            return any(part.may_be(other) for part in self.parts)
        if other.parts:
            return other.may_be(self)
        if self is other:
            return True
        if self.elements or other.elements:
            if self._is_taken_beside(other) or other._is_taken_beside(self):
                return False
            return any(a.may_be(b) for a in self.elements or (self,) for b in other.elements or (other,))
        if self.site != other.site and self.site is not None and other.site is not None:
            return False
        one, two = self._loop, other._loop
        if math.inf in (one._last, two._last):
            return False
        return one._first <= two._last and two._first <= one._last

    def _is_taken_beside(self, other: Identity) -> bool:
        """True for what a trip takes, and what the trips before it have taken there."""
        return self.taker is other._loop and bool(other.elements) and self.site == other.site

    def covers(self, other: Identity) -> bool:
        """True for what a loop has made, or one of several, if the other is among them."""
        if other.parts:
            return all(map(self.covers, other.parts))
        if self.parts:
            return any(part is other or part.covers(other) for part in self.parts)
        return self.of_loop and self.site == other.site and self._loop._first <= other._loop._first

    def after_trips(self, loop: Identity) -> Identity:
        """What stands for it after any number of trips of a loop, of which one has left it."""
        if self.parts:
            parts = [part.after_trips(loop) for part in self.parts]
            return self if parts == [*self.parts] else Identity.any_of(parts)
        if self._loop._last < loop._first or self._loop is loop:
            return self
        return loop.at(self.site, tuple([each.after_trips(loop) for each in self.elements]))


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

    def anew(self, site: Hashable = None) -> Bounded:
        """Another view of the same elements, made at a place of the source."""
        return replace(self, objects=(Identity(site),), which=0)

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
    new = [each if loop is None else each.after_trips(loop) for each in b.objects]
    return tuple(dict.fromkeys([*a.objects, *new]))
