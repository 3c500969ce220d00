"""PS6xx: calls, attributes and classes."""

from __future__ import annotations

from ...records import dataclass
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

    @property
    def advice(self) -> str:
        """What to do; bytes and what an array says of its memory have no place in a program."""
        if self.attribute == "__getitem__":
            return "write the operation in a function: `lambda i: xs[i]` in place of `xs.__getitem__`"
        return _ATTRIBUTES.get(self.attribute, self.help) if "array" in self.what else self.help


_BYTES = (
    "return the array and make the bytes of it after the call; to compare arrays use `np.array_equal(a, b)`, and as a key "
    "a number made of the elements"
)
_SAVE = "return the array, and save it after the call"
_MEMORY = (
    "an array of a compiled program has no place in memory: ask the array itself, before or after the call"
)
_ATTRIBUTES = {
    "tobytes": _BYTES,
    "dumps": _BYTES,
    "tofile": _SAVE,
    "dump": _SAVE,
    "base": "an array of a compiled program does not tell whose view it is: keep both arrays in variables",
    "byteswap": "swap the bytes before the call",
    "ctypes": _MEMORY,
    "data": _MEMORY,
    "strides": "compute steps from the shape: in C order the last axis has stride `x.itemsize`",
    "flags": "ask, or make the array read-only, before or after the call",
    "setflags": "make the array read-only before or after the call",
    "getfield": "take the part of each element before the call, and pass it in",
    "setfield": "take the part of each element before the call, and pass it in",
    "resize": "make a new array: `np.resize(x, shape)`, or store into one of the larger size",
    "to_device": "move the array before or after the call",
}
"""What to do instead of using these attributes of arrays."""


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
