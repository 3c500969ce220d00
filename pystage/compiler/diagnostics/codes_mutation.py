"""PS5xx: mutation and aliasing."""

from __future__ import annotations

from ...records import dataclass
from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class UncertainAlias(Diagnostic):
    """A store through a name that stands for one object on one path and for another on another path."""

    code = "PS501"
    ever = True
    title = "this changes an object that, depending on the path taken, is one of several"
    label = "changes {what}, and which one is known only at run time"
    help = "change it inside each branch; or copy it first (`x = x.copy()`) if no original should change"

    what: str


@dataclass(frozen=True, kw_only=True)
class CannotStore(Diagnostic):
    """A store into something that staged code cannot change."""

    code = "PS503"
    title = "staged code cannot store into {what}"
    label = "stored here"
    help = "build a new value instead, or keep the store outside the staged function"

    what: str

    @property
    def advice(self) -> str:
        """What to do; some attributes of arrays, and elements of lists, have a method that gives a new array instead."""
        return next((text for start, text in _NEW.items() if self.what.startswith(start)), self.help)


_NEW = {
    "an array that may be": "append a copy (`xs.append(x.copy())`) if no other name should see the store; else store by "
    "the name that the array had before",
    "the attribute 'shape' of": "make a new array: `x = x.reshape(shape)`",
    "the attribute 'dtype' of": "make a new array: `x = x.astype(dtype)`, or `x.view(dtype)` for the same bytes",
}
"""By how `what` begins."""


@dataclass(frozen=True, kw_only=True)
class CannotReturn(Diagnostic):
    """A result that has no Python object outside the program."""

    code = "PS504"
    title = "{what} cannot be handed back from a staged function"
    label = "returned, or stored where the caller sees it"
    help = "return arrays, numbers, and lists, tuples, dicts or objects of these"

    what: str

    @property
    def advice(self) -> str:
        """What to return instead."""
        return next((text for start, text in _INSTEAD.items() if self.what.startswith(start)), self.help)


_INSTEAD = {
    "an array that may be an element of a dict": "store copies (`d[key] = x.copy()`)",
    "an array that may be an element": "append copies (`xs.append(x.copy())`), or return the array of them (`np.array(xs)`)",
    "an array that may share memory": "return copies (`x.copy()`)",
    "a view that may be the same object": "return copies (`x.copy()`)",
    "a selection": "return the array and the mask or the bounds, and select after the call; or return what it sums up to",
    "a method": "return the object, and take its method after the call",
    "an iterator": "return a list: `list(…)` of it",
    "the function": "call it here and return what it gives, or return what it needs to be made after the call",
}
"""By how `what` begins."""


@dataclass(frozen=True, kw_only=True)
class CannotDelete(Diagnostic):
    """A variable of a module or of an enclosing function that staged code deletes."""

    code = "PS505"
    ever = True
    title = "staged code cannot delete {what}, which outlives the call"
    label = "deleted here"
    help = "assign None to it instead, or delete it after the call"

    what: str
