"""PS2xx: types and shapes, where the plain run raises TypeError, ValueError or IndexError."""

from __future__ import annotations

import re

from ...records import dataclass
from .broadcasting import how_to_fit
from .diagnostic import Diagnostic


@dataclass(frozen=True, kw_only=True)
class ShapesDoNotBroadcast(Diagnostic):
    """Operands whose shapes NumPy's broadcasting does not bring together."""

    code = "PS201"
    plain = ValueError
    title = "operands of {operation} have shapes that do not broadcast: {shapes}"
    label = "these shapes do not fit"
    help = "make each axis equal or 1, counted from the last one; `y[:, None]` adds one to the right operand"

    operation: str
    shapes: str

    @property
    def advice(self) -> str:
        """What to do with these operands."""
        return how_to_fit(self.shapes, self.operation, self.span) or self.help


@dataclass(frozen=True, kw_only=True)
class NoSuchOperation(Diagnostic):
    """An operation that is not defined for operands of these types."""

    code = "PS202"
    plain = TypeError
    title = "{operation} is not defined for {types}"
    label = "no such operation"
    help = "convert an operand explicitly, as with `float(x)` or `x.astype(…)`"

    operation: str
    types: str

    @property
    def advice(self) -> str:
        """What to do; containers have no arithmetic, and bools another one."""
        if re.search(r"\blist|tuple\b", self.types):
            return "make an array of the list first, `np.array(xs)`, or write a comprehension: `[x + y for x in xs]`"
        if re.search(r"\bdict\b", self.types):
            return "write a comprehension over its items: `{k: v * y for k, v in d.items()}`"
        if re.search(r"\bstr|text\b", self.types):
            return (
                "write the number into the text, as in `f'{x}'`, or make a number of the text before the call"
            )
        if "bool" in self.types and self.operation.endswith(" -"):
            return "use `~` to negate bools and `^` to tell where they differ, or convert with `.astype(int)`"
        return self.help


@dataclass(frozen=True, kw_only=True)
class ArgumentNotStaged(Diagnostic):
    """An argument that the Python function has and that staging does not serve."""

    code = "PS203"
    ever = True
    title = "{function} cannot be staged with {argument}"
    label = "this argument is not served"
    help = "{instead}"

    function: str
    argument: str
    instead: str = "leave the argument out, or compute the same with other functions"


@dataclass(frozen=True, kw_only=True)
class NotNumeric(Diagnostic):
    """Something that is no number and no array, where one is needed."""

    code = "PS204"
    title = "{what} needs a number or an array, not {kind}"
    label = "not numeric"
    help = "pass a number or an array; `np.array([…])` and `jnp.array([…])` make one of a list of numbers"

    what: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class BadAxis(Diagnostic):
    """An axis that the array does not have, or that is named twice."""

    code = "PS205"
    plain = ValueError
    title = "{function}: axis {axis} does not fit an array of {rank} axes"
    label = "no such axis"
    help = "axes count from 0, or from -1 backwards, and each may be named once"

    function: str
    axis: str
    rank: int


@dataclass(frozen=True, kw_only=True)
class ShapeMismatch(Diagnostic):
    """Shapes that do not fit for another reason than broadcasting."""

    code = "PS206"
    plain = ValueError
    title = "{text}"
    label = "the shapes do not fit"
    help = "reshape, transpose or slice an operand first, so that the shapes fit"

    text: str


@dataclass(frozen=True, kw_only=True)
class PathDependentType(Diagnostic):
    """An operation on a value whose kind depends on the path taken, with results of different types."""

    code = "PS208"
    ever = True
    title = "the type of {operation} depends on the path taken: {kinds}"
    label = "one path gives another type than the other"
    help = "convert the value to one type on every path, as with `float(x)` or `x.astype(…)`"

    operation: str
    kinds: str


@dataclass(frozen=True, kw_only=True)
class NoCast(Diagnostic):
    """A result that NumPy does not convert into the type of the array that it is stored into."""

    code = "PS209"
    plain = TypeError
    title = "{operation} gives {source}, which does not go into an array of {target} without losing values"
    label = "the array keeps its element type"
    help = (
        "make the array {source} where it is made (`dtype=np.{source}`, or `.astype(np.{source})`), or let a new array "
        "take its place, as in `a = a + x` for `a += x`"
    )

    operation: str
    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class IdentityNotKnown(Diagnostic):
    """`is` between values of which a program cannot say whether they are one object.

    `immutable`: they are numbers or tuples, which a program hands back as new objects.
    """

    code = "PS210"
    ever = False
    title = "whether {what} are the same object is not known while compiling"
    label = "numbers and arrays that a program computes are values, not objects"
    help = "compare the values with `==` (`np.array_equal` for arrays); `is None` works as it is"

    what: str
    immutable: bool = False


@dataclass(frozen=True, kw_only=True)
class DTypeNotStaged(Diagnostic):
    """An element type that XLA does not have."""

    code = "PS211"
    ever = False
    title = "{what} needs the element type {dtype}, which XLA does not have"
    label = "this element type is not staged"
    help = "staged are bool, the integers of 8 to 64 bits, float16/32/64, bfloat16 and complex64/128"

    what: str
    dtype: str

    @property
    def advice(self) -> str:
        """What to use instead of this element type."""
        return next((text for start, text in _INSTEAD.items() if self.dtype.startswith(start)), self.help)


_INSTEAD = {
    "datetime64": "count days or seconds in an int64 array",
    "timedelta64": "count days or seconds in an int64 array",
    "object": "keep the objects in a list, and numbers in arrays",
    "<U": "keep texts in a list of Python strings, or as numbers that stand for them",
    "|S": "keep texts in a list of Python strings, or as numbers that stand for them",
    "[": "use one array for each field, as in a dict or a NamedTuple",
    "float128": "use float64, the longest float that XLA has",
    "complex256": "use complex128, the longest complex number that XLA has",
}
"""By how the name of the element type begins."""


@dataclass(frozen=True, kw_only=True)
class SizeDependsOnValues(Diagnostic):
    """A result whose number of elements depends on the values of an array."""

    code = "PS220"
    ever = True
    title = "the size of {what} depends on values that the program computes"
    label = "its shape is not known while compiling"
    help = "{rewrite}"

    what: str
    rewrite: str


@dataclass(frozen=True, kw_only=True)
class MaskedUse(Diagnostic):
    """A function is called that takes no array of which only the run knows the size: `x[mask]`, `x[i:j]`, or a size that is
    computed of values."""

    code = "PS221"
    ever = True
    title = "{what} needs a number of elements that only the run knows"
    label = "not possible without their number"
    help = (
        "most functions take such arrays; in the place of one that does not, put an array of known length, as "
        "`np.where(mask, x, 0)` for sums; the length of a slice is known where shapes or integer arguments give its bounds"
    )

    what: str

    @property
    def advice(self) -> str:
        """What to do; one element of what a mask selects has a place in the whole array."""
        if self.what.startswith("one element"):
            return (
                "take it from the whole array: where `mask.any()` holds, `x[np.argmax(mask)]` is the first element "
                "that `mask` selects"
            )
        return self.help


@dataclass(frozen=True, kw_only=True)
class ResultNotAsAnnotated(Diagnostic):
    """The result of a function has another shape or element type than its annotation (`pystage check`)."""

    code = "PS222"
    title = "{what} is {found}, and the annotation says {said}"
    label = "annotated here"
    help = "mend the annotation, or what the function returns"

    what: str
    found: str
    said: str


@dataclass(frozen=True, kw_only=True)
class CertainlyRaises(Diagnostic):
    """A line that raises whenever it runs, because of the shapes and types of the arguments (`pystage check`)."""

    code = "PS223"
    title = "this raises {exception}: {message}"
    label = "here"
    help = "plain Python raises here too: mend what the exception says"

    exception: str
    message: str
