"""PS6xx: calls, attributes and classes."""

from __future__ import annotations

from dataclasses import dataclass

from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class UnknownCallable(Diagnostic):
    """A call to something whose meaning pystage does not know and whose source it cannot stage."""

    code = "PS601"
    title = "the call to {name} cannot be staged: {why}"
    label = "called here"
    help = "{instead}"

    name: str
    why: str
    instead: str = "call it before or after the staged function, or write it with NumPy or `jax.numpy`"

    @property
    def has_advice(self) -> bool:
        """True if the help is made for this call."""
        return self.instead != type(self).instead


@dataclass(frozen=True, kw_only=True)
class EndlessRecursion(Diagnostic):
    """A function that calls itself in a way that is not finite while compiling."""

    code = "PS602"
    ever = True
    title = "the recursion of {name} does not end while compiling"
    label = "calls itself again here"
    help = (
        "write it as a loop; recursion is staged only where sizes and constants end it within {limit} levels"
    )

    name: str
    limit: int
    calls: int = 1
    """In how many places the function calls itself."""

    @property
    def advice(self) -> str:
        """What to do; a function that calls itself more than once leaves work behind, which a loop must keep."""
        if self.calls < 2:
            return self._fill(self.help)
        return self._fill(
            "write it as a loop, from the smallest case up, or over an array of what is still to be done, from which "
            "each step takes the last entry and to which it adds the parts; recursion is staged only where sizes and "
            "constants end it within {limit} levels"
        )


@dataclass(frozen=True, kw_only=True)
class NoSuchAttribute(Diagnostic):
    """An attribute that staged code cannot read."""

    code = "PS603"
    ever = True
    title = "the attribute {attribute!r} of {what} is not staged"
    label = "read here"
    help = "read it before the staged call and pass the value in, or compute it from other attributes"

    what: str
    attribute: str


@dataclass(frozen=True, kw_only=True)
class WrongArguments(Diagnostic):
    """A call whose arguments a library function does not take in staged code."""

    code = "PS604"
    ever = True
    title = "{name} is not staged with these arguments: {why}"
    label = "called here"
    help = "{instead}"

    name: str
    why: str
    instead: str = "leave the argument out, or call the function outside of the staged function"


@dataclass(frozen=True, kw_only=True)
class UnsupportedClass(Diagnostic):
    """A class whose instances staged code cannot make or take apart."""

    code = "PS605"
    ever = True
    title = "the class {name} cannot be staged: {why}"
    label = "used here"
    help = "{instead}"

    name: str
    why: str
    instead: str = "use a plain class, a dataclass or a NamedTuple"


@dataclass(frozen=True, kw_only=True)
class InternalError(Diagnostic):
    """A mistake in pystage itself."""

    code = "PS699"
    title = "internal error of pystage: {text}"
    label = "while staging this"
    help = "please report it with this program; fallback='python' runs the function without staging"

    text: str


@dataclass(frozen=True, kw_only=True)
class NotServed(Diagnostic):
    """A function of a library that has no meaning in one compiled program, and what does the same there."""

    code = "PS606"
    title = "{name} cannot be staged: {why}"
    label = "used here"
    help = "{instead}"

    name: str
    why: str
    instead: str
