"""PS4xx: a value must be a compile-time constant, and is not."""

from __future__ import annotations

from ...records import dataclass
from .codes_control import LENGTH
from .diagnostic import Diagnostic, Note


@dataclass(frozen=True, slots=True)
class Growth(Note):
    """That a list or a dict has another length after each trip of a loop, which is written out for this reason."""


@dataclass(frozen=True, slots=True)
class KnownInTrips(Note):
    """That something must be known in each trip of a loop, which is written out for this reason."""


@dataclass(frozen=True, kw_only=True)
class NotKnown(Diagnostic):
    """A shape, axis, index or the like depends on values that the program computes."""

    code = "PS401"
    title = "{what} must be known while compiling, and this value is known only when the program runs"
    label = "needed while compiling"
    help = "compute it from shapes, constants or integer arguments, not from the elements of arrays"

    what: str

    @property
    def advice(self) -> str:
        """What to do about this kind of value; it is no shape if it has a row of its own."""
        return _rewrite(self.what) or self.help


def _rewrite(what: str) -> str | None:
    """What to do about something that must be known."""
    return next((text for start, text in _REWRITES.items() if what.startswith(start)), None)


_REWRITES = {
    "the index of a": "choose with `if` and `elif`; of numbers, or arrays of one shape, make one array and index that",
    "the order of a set": "go over `sorted(s)`, or keep the elements in a dict, which has the order of insertion",
    "the key of a dict of sets": "keep pairs in one set, `s.add((key, element))`, or a list under each key",
    "the key of a dict of dicts": "use one dict with pairs as its keys, `d[key, inner] = x`",
    "the key of a dict": "make all keys numbers or tuples of numbers, all values of one type, or index an array instead",
    "what is looked up in": "compare with `==` in an `if`, or use an array indexed by a number",
    "the argument of bin": "count bits with `n.bit_count()`; take one with `n >> k & 1`",
    "the argument of hex": "take digits with `n >> 4 * k & 15`, or make the text of the number after the call",
    "the argument of oct": "take digits with `n >> 3 * k & 7`, or make the text of the number after the call",
    "the argument of chr": "return the number, and make the text of it after the call",
    "the argument of set": "sort with `np.sort` and compare neighbours, or mark numbers in an array of bools",
    "the name of an attribute": "choose with `if` and `elif`, or keep what is chosen from in one array",
    "a string": "return the numbers, and make the text of them after the call",
    "how often a sequence": "return the count, and repeat after the call; of numbers, make an array: `np.full(n, x)`",
    "the number of trips": "let a `for` statement keep a running result, or make one array of the elements: `np.array(xs)`",
    "the length of a list": "make an array of the list, `np.array(xs)`, or return it and do this after the call",
    "whether the loop assigns": "assign it before the loop too, which may run zero times",
    "whether two elements": "leave out what is NaN before, or compare number by number: `a[0] == b[0] and a[1] == b[1]`",
    "the axis": "choose with `if` and `elif`: `x.sum(axis=0) if axis == 0 else x.sum(axis=1)`",
    "the counts of repeat": "give one Python number for all, or index: `x[np.arange(n) // k]`",
}
"""By how `what` begins."""


@dataclass(frozen=True, kw_only=True)
class TooManyToUnroll(Diagnostic):
    """A loop that would have to be written out trip by trip, with too many trips."""

    code = "PS402"
    title = "this loop would have to be written out {trips} times, once for each trip; the limit is {limit}"
    label = "each trip needs its own code"
    help = "loop over an array or a range, and keep lists and tuples out of what changes in each trip"

    trips: int
    limit: int

    @property
    def advice(self) -> str:
        """What to do; of a list that grows, where to put what goes into it; of a value that must be known, as for that."""
        if any(isinstance(note, Growth) for note in self.notes):
            return LENGTH
        known = [_rewrite(note.text) for note in self.notes if isinstance(note, KnownInTrips)]
        return next((text for text in known if text), self.help)


@dataclass(frozen=True, kw_only=True)
class IntegerTooLarge(Diagnostic):
    """A Python integer that does not fit into 64 bits is used with numbers that the program computes."""

    code = "PS403"
    ever = False
    title = "the integer {value} does not fit into 64 bits"
    label = "used with values of the program here"
    help = "use a float, or keep the integer out of arithmetic with arrays and arguments"

    value: int


@dataclass(frozen=True, kw_only=True)
class ProgramTooLarge(Diagnostic):
    """A program so large that it would be compiled for longer than `pystage.config.program_limit` allows.

    Before XLA gets a program, the time that XLA would take is estimated from its operations, in seconds of a machine of
    2024; inference, too, ends where it takes too many steps. Mostly a loop is to blame that had to be written out, trip by
    trip: the error names it, and what made it so.
    """

    code = "PS404"
    title = "the program is too large: {size} (`pystage.config.program_limit` is {limit} s)"
    label = "{reason}"
    help = "{instead}"

    size: str
    limit: str
    reason: str
    instead: str
