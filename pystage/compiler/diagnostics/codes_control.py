"""PS3xx: control flow whose paths have values or effects that do not join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from ...records import dataclass
from .diagnostic import Diagnostic, Note
from .span import Span

LENGTH = (
    "make an array that is long enough from the start (`out = np.zeros(n)`), store into it (`out[count] = x`), count "
    "how many of its places are used, and return both: `out[:count]` is for after the call"
)
"""What to do about a list whose length depends on values that are known only at run time."""


SET = "use an array of bools that is indexed by a number instead: `seen = np.zeros(n, bool)`, and `seen[key] = True`"
"""What to do about a set whose elements depend on values that are known only at run time."""


def _are(kind: str, *texts: str) -> bool:
    """True if all the texts speak of one kind of container: `a list of length 1`."""
    return all(text.startswith(f"a {kind} ") for text in texts)


@dataclass(frozen=True, kw_only=True)
class NoCommonType(Diagnostic):
    """A variable holds different kinds of value depending on the path taken."""

    code = "PS301"
    ever = True
    title = "{what} is {first} on one path and {second} on another"
    label = "which of them it is here depends on values that are known only at run time"
    help = "give it the same kind of value (type, dtype, shape) on every path"

    what: str
    first: str
    second: str

    blame: Callable[[], tuple[Note, ...]] = field(default=tuple, compare=False, repr=False)
    """Finds the notes that say where each path assigned it."""

    @property
    def is_about_length(self) -> bool:
        """True if it is a list of two lengths."""
        return _are("list", self.first, self.second)

    @property
    def caret_label(self) -> str:
        """What the path decides; of a list, its length."""
        if self.is_about_length:
            return "how long it is here depends on values that are known only at run time"
        return self.label

    @property
    def advice(self) -> str:
        """What to do; containers of two lengths are made alike, or replaced by arrays."""
        if _are("dict", self.first, self.second):
            return "give it the same keys on every path, with None or a number where there is nothing to say"
        if _are("set", self.first, self.second):
            return SET
        if _are("list", self.first, self.second):
            return LENGTH
        if _are("tuple", self.first, self.second):
            return "give it the same length on every path, filled up with zeros or None"
        return self.help

    def used(self, span: Span | None) -> NoCommonType:
        notes = tuple([note for note in self.blame() if note.span != span])
        return replace(self, span=span, notes=(*self.notes, *notes), blame=tuple)


@dataclass(frozen=True, kw_only=True)
class RaiseAtRunTime(Diagnostic):
    """An exception that is raised only if a run-time condition holds, and that cannot leave the program."""

    code = "PS304"
    ever = True
    title = "`{exception}` cannot be raised at run time: {why}"
    label = "whether this raises depends on values of the program"
    help = "raise it with numbers, strings or arrays, or return the condition and raise in the caller"

    exception: str
    why: str


@dataclass(frozen=True, kw_only=True)
class NeverSettles(Diagnostic):
    """A loop in which a variable is another kind of value after each iteration than before it."""

    code = "PS305"
    ever = True
    title = "{what} is {first} before an iteration of this loop and {second} after it"
    label = "an iteration changes what kind of value it is"
    help = "give it one kind of value (type, dtype, shape, length) before the loop and in every iteration"

    what: str
    first: str
    second: str

    blame: Callable[[], tuple[Note, ...]] = field(default=tuple, compare=False, repr=False)
    """Finds the notes that say where it is assigned before the loop and in it."""

    @property
    def headline(self) -> str:
        """What changes; of two things that read alike, that they are two."""
        if self._is_text_that_grows:
            return f"{self.what} is another text after each iteration of this loop"
        if self.first != self.second:
            return super().headline
        thing = self.first.removeprefix("a ").removeprefix("an ")
        return f"{self.what} is one {thing} before an iteration of this loop and another after it"

    @property
    def is_about_length(self) -> bool:
        """True if it is a container of two lengths."""
        return _are("list", self.first, self.second) or _are("tuple", self.first, self.second)

    @property
    def _is_text_that_grows(self) -> bool:
        return self.first[:1] in "'\"" and (self.second[:1] in "'\"" or self.second == "a text")

    @property
    def caret_label(self) -> str:
        """What an iteration changes; of a list, its length."""
        if self.is_about_length:
            return "each iteration changes its length, and how many there are is known only at run time"
        if self._is_text_that_grows:
            return "how many iterations there are is known only at run time"
        return self.label

    @property
    def advice(self) -> str:
        """What to do; for what grows, where to put it."""
        if self.first == self.second == "a text":
            return "let a number stand for each text, and choose the text by it after the loop"
        if "ndarray of shape" in self.first and "ndarray of shape" in self.second:
            return (
                "make the array as large as it may become before the loop, and count how much of it is used"
            )
        if self.is_about_length:
            return LENGTH
        if _are("set", self.first, self.second):
            return SET
        if _are("dict", self.first, self.second):
            return (
                "give it all of its keys before the loop, or use an array that is indexed by a number instead: "
                "`found[key] = value`"
            )
        if self._is_text_that_grows:
            return "keep the numbers in an array, and make the text of them after the loop"
        return self.help

    def used(self, span: Span | None) -> NeverSettles:
        blamed = self.blame()
        if span not in (self.span, *[note.span for note in blamed]):
            blamed = (*blamed, Note("it is needed here", span, "it is needed here"))
        return replace(self, notes=(*self.notes, *blamed), blame=tuple)


@dataclass(frozen=True, kw_only=True)
class NotIterable(Diagnostic):
    """A value that a loop cannot go over in staged code."""

    code = "PS307"
    ever = True
    title = "a staged loop cannot go over {what}"
    label = "iterated here"
    help = "loop over a range, an array, a list, a tuple or a dict, or zip, enumerate or reversed of these"

    what: str

    @property
    def advice(self) -> str:
        """What to do; elements that a mask selects are iterated with those that it does not."""
        if self.what.startswith("a selection"):
            return (
                "loop over the whole array and let an `if` skip the others: `for i in range(len(x)):`, "
                "`if mask[i]:`; put what each gives into an array of the same length"
            )
        return self.help


@dataclass(frozen=True, kw_only=True)
class HandlerAtRunTime(Diagnostic):
    """A context manager or exception handler whose behaviour is not known while compiling."""

    code = "PS308"
    ever = True
    title = "{what} cannot be staged"
    label = "used here"
    help = "move it out of the staged function, around the call"

    what: str
