"""PS650 to PS669: calls into JAX, and the carry of JAX's control flow."""

from __future__ import annotations

from ...records import dataclass
from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class UserFunctionToJax(Diagnostic):
    """A function of the program handed to a function of JAX that pystage gives to JAX as a whole."""

    code = "PS650"
    ever = True
    title = "{function} cannot be staged with `{argument}`, a function of the program"
    label = "JAX would trace this function"
    help = "write the call out as a loop, or use jax.lax.cond, while_loop, fori_loop, scan or map"

    function: str
    argument: str

    @property
    def advice(self) -> str:
        """What to do; a callback runs in Python, where the caller is."""
        if self.function.endswith("callback"):
            return "call the Python function before or after the staged one, or write it so that it is staged itself"
        return self.help


@dataclass(frozen=True, kw_only=True)
class RefusedByJax(Diagnostic):
    """A call that JAX itself refuses; plain Python raises the same error."""

    code = "PS651"
    title = "JAX refuses this call: {reason}"
    label = "refused by JAX"
    help = "mend the call; JAX refuses it without staging too"

    reason: str


@dataclass(frozen=True, kw_only=True)
class StructureDiffers(Diagnostic):
    """Results of JAX's control flow that must have one structure and have two."""

    code = "PS653"
    title = "{function}: {first} and {second} have different structures: {structures}"
    label = "the structures must be equal"
    help = "return tuples, lists and dicts of the same kinds, lengths and keys; each `*` stands for an array or a number"

    function: str
    first: str
    second: str
    structures: str


@dataclass(frozen=True, kw_only=True)
class TypeDiffers(Diagnostic):
    """An array or a number that JAX's control flow asks to have one type, and that has two."""

    code = "PS654"
    title = "{function}: {leaf} is {first} in {where} and {second} in {other}"
    label = "the types must be equal"
    help = "convert one of them, as with `x.astype(…)`, or start from a value of the right type"

    function: str
    leaf: str
    first: str
    where: str
    second: str
    other: str


@dataclass(frozen=True, kw_only=True)
class BadControlFlow(Diagnostic):
    """An argument or a result of JAX's control flow that breaks its rules."""

    code = "PS655"
    title = "{text}"
    label = "JAX raises an error here"
    help = "mend the call as the message says; JAX refuses it without staging too"

    text: str


@dataclass(frozen=True, kw_only=True)
class NotTraceable(Diagnostic):
    """A function of JAX that needs the elements of an array to know the shape of what it gives."""

    code = "PS656"
    ever = False
    title = "{function} needs the value of an array while compiling"
    label = "its elements are known only at run time"
    help = "give `size=…` where the function takes it, or a Python number; or move the call out of the staged function"

    function: str


@dataclass(frozen=True, kw_only=True)
class NotForJax(Diagnostic):
    """A call that JAX traces, and that changes its argument, or gives an object that keeps arrays."""

    code = "PS657"
    title = "{function} {what}"
    label = "JAX would trace this call, and nobody would see that"
    help = "call it outside of the staged function, or write out what it computes"

    function: str
    what: str
