"""How much what grows may hold in one program, and how a program ends that needs more.

In: what a meaning asks for (`Context.capacity`) and what it turns out to need (`Context.needs_capacity`). Out: `OutOfRoom`,
by which a run says so. The runtime then makes a program in which that place has `Capacity.grown`, and calls it again.
"""

from __future__ import annotations

import threading

from ..diagnostics.span import Span
from ..hlo.immutable import immutable_value

_SMALL = 1 << 15
_LARGE = 1 << 24


@immutable_value
class Place:
    """What grows: the instruction that makes it, and `what` it is, which tells apart several that one instruction makes."""

    span: Span | None
    what: str

    def __str__(self) -> str:
        where = f", {self.span.file}:{self.span.line}" if self.span is not None else ""
        return f"{self.what}{where}"


@immutable_value
class Capacity:
    """How many elements, of `itemsize` bytes each, what grows at `place` has room for in one program."""

    place: Place
    size: int
    itemsize: int

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        return self.size * self.itemsize

    def grown(self, needed: int, room: int) -> int:
        """How many elements the next program has room for, of at most `room`: what is needed, and at least twice as many.

        What is small grows by more, so that a million numbers take three further programs: to 32 KiB, then sixteenfold.
        """
        wanted = max(2 * self.bytes, min(16 * self.bytes, _LARGE), _SMALL)
        return max(needed, min(wanted // self.itemsize, room))


class OutOfRoom(BaseException):
    """A run ended as what grows at the place of `capacity` needs room for `needed` elements."""

    def __init__(self, capacity: Capacity, needed: int) -> None:
        super().__init__(
            f"there is room for {capacity.size} elements in {capacity.place}, and the run needs {needed}"
        )
        self.capacity = capacity
        self.needed = int(needed)


class Earlier(threading.local):
    """What runs of the call that this thread is at have done that outgrew a capacity: how often they have `printed`."""

    printed = 0


EARLIER = Earlier()
"""That of each thread; programs that print and may run again read it as an input."""


class After:
    """What is read in the `with` block is for a run after others of the same call, which had printed so often."""

    __slots__ = ("_printed",)

    def __init__(self, printed: int) -> None:
        self._printed = printed

    def __enter__(self) -> None:
        EARLIER.printed = self._printed

    def __exit__(self, *_: object) -> None:
        EARLIER.printed = 0
