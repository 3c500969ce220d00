"""PS3xx: control flow whose values or effects have no common meaning over its paths."""

from __future__ import annotations

from dataclasses import dataclass

from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class NoCommonType(Diagnostic):
    """A variable holds different kinds of value depending on the path taken."""

    code = "PS301"
    title = "{what} is {first} on one path and {second} on another"
    label = "which of them it is depends on values that are known only at run time"
    help = "give it the same kind of value (type, dtype, shape) on every path"

    what: str
    first: str
    second: str


@dataclass(frozen=True, kw_only=True)
class NotAssigned(Diagnostic):
    """A variable is read where no path has assigned it."""

    code = "PS302"
    title = "the variable {name!r} is read before anything is assigned to it"
    label = "not assigned here"
    help = "assign {name!r} before this line; the plain run raises UnboundLocalError or NameError here"

    name: str


@dataclass(frozen=True, kw_only=True)
class MaybeNotAssigned(Diagnostic):
    """A variable is read where only some paths have assigned it."""

    code = "PS303"
    title = "the variable {name!r} may not be assigned here"
    label = "only some of the paths that lead here assign it"
    help = "assign {name!r} before the branch or the loop (a loop may run zero times)"

    name: str


@dataclass(frozen=True, kw_only=True)
class RaiseAtRunTime(Diagnostic):
    """An exception that is raised only if a run-time condition holds."""

    code = "PS304"
    title = "`{exception}` is raised under a condition that is known only at run time"
    label = "whether this raises depends on values of the program"
    help = "check the condition before the call of the staged function, or return it and raise in the caller"

    exception: str


@dataclass(frozen=True, kw_only=True)
class NeverSettles(Diagnostic):
    """A loop whose carried values change their types or structure in every iteration."""

    code = "PS305"
    title = "the loop does not settle: {what}"
    label = "carried from one iteration to the next"
    help = "make each variable keep its type, dtype, shape and length through the loop"

    what: str


@dataclass(frozen=True, kw_only=True)
class AmbiguousTruth(Diagnostic):
    """A condition that only some of the paths that lead to it give a value, such as an attribute."""

    code = "PS306"
    title = "the condition is {what} on some of the paths that lead here"
    label = "its truth is needed here"
    help = "assign it on every path before this line; an attribute, in `__init__`"

    what: str


@dataclass(frozen=True, kw_only=True)
class NotIterable(Diagnostic):
    """A value that a loop cannot go over in staged code."""

    code = "PS307"
    title = "a staged loop cannot go over {what}"
    label = "iterated here"
    help = "loop over a range, an array, a list, a tuple or a dict, or zip, enumerate or reversed of these"

    what: str


@dataclass(frozen=True, kw_only=True)
class HandlerAtRunTime(Diagnostic):
    """A context manager or exception handler whose behaviour is not known while compiling."""

    code = "PS308"
    title = "{what} cannot be staged"
    label = "used here"
    help = "move it out of the staged function, around the call"

    what: str
