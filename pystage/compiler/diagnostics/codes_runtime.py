"""PS8xx: errors of a call: its arguments, their memory, and its context."""

from __future__ import annotations

from ...records import dataclass
from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class UnsupportedArgument(Diagnostic):
    """An argument, or something inside one, that is neither an array, a number, a structure nor a constant."""

    code = "PS801"
    title = "`{path}` is a {kind}, which cannot enter a compiled program"
    label = "called with it"
    help = "pass arrays, numbers, strings, lists, tuples, dicts or plain objects; convert `{path}` before the call"

    path: str
    kind: str
    instead: str = ""

    @property
    def advice(self) -> str:
        """What to do; of a class that pystage knows, what to pass in its place."""
        return self.instead or self._fill(self.help)


@dataclass(frozen=True, kw_only=True)
class UnsupportedElements(Diagnostic):
    """An array whose elements XLA has no type for."""

    code = "PS802"
    ever = False
    title = "the array `{path}` has {problem}, which cannot be compiled"
    label = "called with it"
    help = "convert it before the call, as in `{path}.astype(np.float64)`"

    path: str
    problem: str

    @property
    def advice(self) -> str:
        """What to pass instead of these elements."""
        if "structured" in self.problem:
            return self._fill("pass one array for each field, as in `{path}['x']`")
        if any(kind in self.problem for kind in ("<U", "|S")):
            return "pass numbers that stand for the texts, or a list of Python strings"
        return super().advice


@dataclass(frozen=True, kw_only=True)
class ArgumentTooLarge(Diagnostic):
    """A Python integer that does not fit in 64 bits."""

    code = "PS803"
    ever = False
    title = "the integer `{path}` does not fit in 64 bits"
    label = "called with {value}"
    help = "pass it as a float, or keep what needs it outside the compiled function"

    path: str
    value: str


@dataclass(frozen=True, kw_only=True)
class CyclicArgument(Diagnostic):
    """A structure that contains itself."""

    code = "PS804"
    title = "`{path}` is the object that it is part of: a cyclic structure cannot enter a compiled program"
    label = "called with it"
    help = "pass the parts that the function needs, or replace the reference back by an index or a name"

    path: str


@dataclass(frozen=True, kw_only=True)
class NestedTooDeeply(Diagnostic):
    """A structure nested deeper than Python's own recursion goes."""

    code = "PS805"
    title = "`{path}` is nested deeper than {depth} levels"
    label = "called with it"
    help = "keep the elements in a list or in one array instead of a chain of objects"

    path: str
    depth: int


@dataclass(frozen=True, kw_only=True)
class OverlappingMemory(Diagnostic):
    """A program that stores into an array whose memory another array of the call shares, or several of its own elements."""

    code = "PS806"
    ever = True
    title = "`{stored}` shares memory with `{other}`, and the function stores into it"
    label = "called with this memory"
    help = "pass the array that owns the memory and slice it inside, or pass `{other}.copy()`"

    stored: str
    other: str

    @property
    def headline(self) -> str:
        """The title, or that it is one array with elements that share memory."""
        if self.other != self.stored:
            return super().headline
        return f"elements of `{self.stored}` lie at one place in memory, and the function stores into it"


@dataclass(frozen=True, kw_only=True)
class NotInOrder(Diagnostic):
    """A program that stores into, or hands back, what is a copy of an array that does not lie row by row in memory."""

    code = "PS814"
    title = "`{path}` does not lie row by row in memory, and what the function does depends on that"
    label = "called with it"
    help = "pass `np.ascontiguousarray({path})`; whether this, `reshape` and `ravel` copy depends on the order in memory"

    path: str


@dataclass(frozen=True, kw_only=True)
class SharedObject(Diagnostic):
    """One object of the caller's that a function reaches by two ways, of which one changes it or tells them apart."""

    code = "PS812"
    title = "one object stands at two places that `{function}` takes for different objects"
    label = "among these places: {places}"
    help = "let the function reach the object by one way only: as an argument, or as a global"

    function: str
    places: str


@dataclass(frozen=True, kw_only=True)
class MutationUnderTransformation(Diagnostic):
    """A function that changes its arguments or the environment, called inside `jax.jit`, `jax.grad` or `jax.vmap`."""

    code = "PS807"
    ever = False
    title = "`{function}` changes `{target}`, which a JAX transformation around the call would not see"
    label = "changed here"
    help = "return the new value instead of changing `{target}`, or call `{function}` outside of `jax.{transformation}`"

    function: str
    target: str
    transformation: str


@dataclass(frozen=True, kw_only=True)
class PrintElsewhere(Diagnostic):
    """A program that prints, compiled for where it cannot: to be exported, or for several devices."""

    code = "PS813"
    ever = False
    title = "`print` needs one program in the process that compiled it, and {where}"
    label = "printed here"
    help = "return what is to be printed, and print it after the call"

    where: str


@dataclass(frozen=True, kw_only=True)
class CapacityOutgrown(Diagnostic):
    """A list or an array that outgrows its capacity where no program with a larger one can be executed instead."""

    code = "PS815"
    title = "{where} has a capacity of {size} elements for {what}, and the run needs {needed}"
    label = "made here"
    help = (
        "call the function outside of it first, on the same values: it remembers the capacity that it needs"
    )

    what: str
    needed: int
    size: int
    where: str


@dataclass(frozen=True, kw_only=True)
class CannotExport(Diagnostic):
    """A program that another process could not run: it changes, or refers to, what is only in this one."""

    code = "PS817"
    ever = False
    title = "`{function}` cannot be exported: {why}"
    label = "exported"
    help = "make what the function reads or changes an argument; `jax.export.export` may take the function"

    function: str
    why: str


@dataclass(frozen=True, kw_only=True)
class OutOfMemory(Diagnostic):
    """A program that needs more memory than there is: an array of it is too large, or XLA cannot allocate what it needs."""

    code = "PS816"
    ever = False
    title = "{what} takes more memory than there is"
    label = "needed here"
    help = "work on parts of the array in a loop, and reduce each before the next is made"

    what: str


@dataclass(frozen=True, kw_only=True)
class ValueNotGiven(Diagnostic):
    """Only the type of an argument was given (in `lower`, or under `jax.jit`), and the program needs its value."""

    code = "PS809"
    title = "the value of `{path}` must be known for {reason}, but {given}"
    label = "needed here"
    help = "pass a Python number for `{path}`"

    path: str
    reason: str
    given: str

    @property
    def advice(self) -> str:
        """What to do; of a parameter, also on the command line."""
        text = self._fill(self.help)
        return f"{text}; on the command line, `--arg {self.path}=5`" if self.path.isidentifier() else text


@dataclass(frozen=True, kw_only=True)
class IntegerBeyond64Bits(Diagnostic):
    """A Python integer that leaves 64 bits while the program runs. Raised by the call."""

    code = "PS810"
    ever = False
    title = "`{operation}` does not fit in 64 bits, in which staged integers are computed"
    label = "computed here"
    help = "compute it in floating point, or modulo a number, or keep what needs it outside the compiled function"

    operation: str


@dataclass(frozen=True, kw_only=True)
class PowerIsComplex(Diagnostic):
    """A negative number to a fractional power, which Python makes a complex number. Raised by the call."""

    code = "PS811"
    title = "`({base}) ** {power}` is a complex number, and the program was compiled for real ones"
    label = "computed here"
    help = "make the base complex, as in `complex(x) ** y`, or use `np.power`, which gives NaN"

    base: str
    power: str
