"""Capacities: how many elements of growing values a specialisation has memory for, and how a run ends that needs more.

In: what a meaning asks for (`Context.capacity`) and what it turns out to need (`Context.needs_capacity`). Out: the exception
`CapacityExceeded`, by which a run says so. The runtime then makes a specialisation in which the allocation site has
`Capacity.grown`, and executes the call again.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from .. import limits
from ..diagnostics.span import Span
from ..hlo.immutable import immutable_value


def first_size(least: int, itemsize: int, expected: int) -> int:
    """The initial capacity: at least `least`, and as many elements as are expected.

    What is expected counts rounded up to a power of two, and as far as it is not much; a few count longer.
    """
    size = max(itemsize, 1)
    most = max(limits.FIRST_BYTES_BY_INPUTS // size, min(_FEW, _MOST_OF_FEW // size))
    return max(least, min(_power_of_two(expected), most))


def counted_size(least: int, itemsize: int, count: int) -> int:
    """The initial capacity for so many elements in the call at hand: at least `least`, and that alone for very many."""
    size = _power_of_two(count)
    return max(least, size if size * itemsize <= limits.COUNTED_ROW_BYTES else 0)


def expected_size(extent: int) -> int:
    """The expected number of elements of what grows with inputs of extents up to `extent`."""
    return max(extent, min(_SOME * extent, _MANY))


_FEW = 8
_MOST_OF_FEW = 1 << 20
_SOME = 64
_MANY = 1 << 10


def _power_of_two(count: int) -> int:
    """The smallest power of two that is not less."""
    return 1 << (max(count, 1) - 1).bit_length()


@immutable_value
class AllocationSite:
    """The instruction that allocates a growing value; `what` distinguishes several of one instruction.

    `called`: the line of the user's that first led to it, where it is in a library.
    """

    span: Span | None
    what: str
    called: Span | None = field(default=None, compare=False)

    @property
    def function(self) -> tuple[str, str] | None:
        """The file and the name of the function whose instruction it is."""
        return None if self.span is None else (self.span.file, self.span.function)

    def __str__(self) -> str:
        span = self.called or self.span
        return self.what if span is None else f"{self.what}, {span.at}"


@immutable_value
class Capacity:
    """The number of elements, of `itemsize` bytes each, that one specialisation has memory for at an allocation site.

    `extent`: how many the largest input has along an axis; what grows often has as many, or the given `share` of them, as
    each of many lists.
    """

    site: AllocationSite
    size: int
    itemsize: int
    extent: int = 0
    share: float = 1

    @property
    def expected(self) -> int:
        """How many elements it is expected to need."""
        return math.ceil(self.share * self.extent)

    @property
    def is_inner(self) -> bool:
        """True for what each of many lists has."""
        return 0 < self.share < 1

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return self.size * self.itemsize

    def grown(self, needed: int, limit: int) -> int:
        """The size in the next specialisation, at most `limit`: what is needed, and at least four times the size.

        What is very large doubles. What is small grows faster, to 32 KiB and then sixteenfold or to what is expected, so
        that a million numbers take three further programs.
        """
        expected = _power_of_two(self.expected) * self.itemsize
        wanted = max(
            2 * self.bytes,
            min(4 * self.bytes, limits.FOURFOLD_CAPACITY_BYTES),
            min(max(16 * self.bytes, expected), limits.LARGE_CAPACITY_BYTES),
            limits.SMALL_CAPACITY_BYTES,
        )
        return max(needed, min(wanted // self.itemsize, limit))

    @property
    def with_reserve(self) -> int:
        """The next size where one of another function did not suffice: what is expected, up to `RESERVED_BYTES`."""
        if self.bytes <= limits.SEQUENTIAL_BYTES:
            return self.size
        expected = max(_power_of_two(self.expected) * self.itemsize, limits.SMALL_CAPACITY_BYTES)
        return max(self.size, min(expected, limits.RESERVED_BYTES) // self.itemsize)


class CapacityExceeded(BaseException):
    """A run ended because it needs `needed` elements, more than the capacity."""

    def __init__(self, capacity: Capacity, needed: int) -> None:
        super().__init__(f"a capacity of {capacity.size} for {capacity.site}, and the run needs {needed}")
        self.capacity = capacity
        self.needed = int(needed)


def next_capacities(
    exceeded: CapacityExceeded, capacities: Sequence[Capacity], limit: int
) -> dict[AllocationSite, int] | None:
    """The capacities of the next specialisation that change, within `limit` bytes in all; None if that is too little.

    An element of each of many lists takes what it takes in all of them, which the capacity of their site says.
    Where one element too many was added, others of the same function and size grow along, as what one loop appends to;
    so do others of the same kind and size, as slices, once one of the kind has grown: each would take a program of its own.
    In other functions, to which the run did not come, the rest gets a reserve.
    """
    sites: dict[AllocationSite, Capacity] = {}
    for each in sorted((exceeded.capacity, *capacities), key=_itemsize):
        known = sites.get(each.site)
        if known is not None:
            share = min(known.share, each.share)
            each = replace(each, extent=max(known.extent, each.extent), share=share)
        sites[each.site] = each
    capacity = sites.pop(exceeded.capacity.site)
    left = limit - sum(c.bytes for c in capacities if c.site != capacity.site)
    if exceeded.needed > left // capacity.itemsize:
        return None
    found = {capacity.site: capacity.grown(exceeded.needed, left // capacity.itemsize)}
    left -= found[capacity.site] * capacity.itemsize
    has_grown = any(c.site.what == capacity.site.what and c.size > capacity.size for c in sites.values())
    one_too_many = exceeded.needed == capacity.size + 1
    for other in sites.values():
        is_beside = (
            one_too_many
            and other.site.function == capacity.site.function
            and other.is_inner == capacity.is_inner
        )
        is_of_the_kind = has_grown and other.site.what == capacity.site.what
        most = (left + other.bytes) // other.itemsize
        size = other.size
        if (is_beside or is_of_the_kind) and other.size == capacity.size:
            size = other.grown(other.size, most)
        elif other.site.function != capacity.site.function:
            size = min(other.with_reserve, most)
        if size > other.size:
            found[other.site] = size
            left -= (size - other.size) * other.itemsize
    return found


def _itemsize(capacity: Capacity) -> int:
    return capacity.itemsize


class Reexecution(threading.local):
    """The state of a call that is executed again: how many writes earlier runs have made already."""

    skipped_writes = 0


REEXECUTION = Reexecution()
"""The state of each thread; a program that prints and may be executed again reads it as a hidden input."""


@contextmanager
def reexecution(skipped_writes: int) -> Iterator[None]:
    """A `with` block in which hidden inputs are those of a run that skips so many writes."""
    REEXECUTION.skipped_writes = skipped_writes
    try:
        yield
    finally:
        REEXECUTION.skipped_writes = 0
