"""PS7xx: what can be wrong with a derivative, or with a function that is mapped."""

from __future__ import annotations

from dataclasses import dataclass

from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class NoDerivative(Diagnostic):
    """An operation on the way from the argument to the result that has no derivative rule."""

    code = "PS701"
    title = "{what} cannot be differentiated"
    label = "on the way from the argument to the result"
    help = (
        "compute this from values that do not depend on the argument, or put pystage.stop_gradient around it"
    )

    what: str


@dataclass(frozen=True, kw_only=True)
class NoSuchArgument(Diagnostic):
    """A derivative by an argument that the call does not have."""

    code = "PS702"
    title = "there is no argument {argument} to differentiate by: the call has {count}"
    label = "called here"
    help = "count positional arguments from 0, and pass the argument by position"

    argument: str
    count: int


@dataclass(frozen=True, kw_only=True)
class StoreInMapped(Diagnostic):
    """A mapped function that changes what was there before. Its lanes run all at once: no order is left."""

    code = "PS703"
    title = "a mapped function changes an array or an object that it did not make"
    label = "in the mapped function"
    help = "return the new values from the function, and store them after the call"
