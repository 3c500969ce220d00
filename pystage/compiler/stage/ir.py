"""Stage IR: a Python function as about thirty kinds of untyped instructions.

Three-address form: an instruction reads temporaries and writes one (`dst`). Temporaries are strings that
begin with `%` and are written once on every path (both arms of an `If` may write the one that joins
them). `Load` reads variables of the program, `Store` writes them. Control flow is structured: `If`, `While`, `For`, `Try`
and `With` contain blocks. `Break`, `Continue` and inner `Return`s exist only between `frontend/build.py` and
`frontend/jumps.py`, which removes them: after it a `Return` is the last instruction of a function's body.

Instructions that HLO IR has too (`If`, `While`, `Call`, `Constant`, …) have the same name there; modules that use both
import this one as `stage`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from ...records import dataclass
from ..diagnostics.span import Span

Temp = str
"""The name of a temporary, such as `%7`."""


def is_temp(name: str) -> bool:
    """True for the name of a temporary."""
    return name.startswith("%")


Block = list["Instr"]


class StorageClass(enum.Enum):
    """Where a variable lives."""

    LOCAL = "local"  # of this function alone
    CELL = "cell"  # shared with the functions nested in it (Python's cell and free variables)
    GLOBAL = "global"  # of the module, then of the builtins


@dataclass(slots=True, eq=False)
class Instr:
    """One instruction. `span` is the source it came from."""

    span: Span


@dataclass(slots=True, eq=False)
class Constant(Instr):
    """`dst = value`, a literal: None, bool, int, float, complex, str, bytes, Ellipsis, a tuple of such.

    `meaning` is what inference has made of it, which is the same each time.
    """

    dst: Temp
    value: object
    meaning: Any = None


@dataclass(slots=True, eq=False)
class Copy(Instr):
    """`dst = src`: in the arms of an `If`, gives the temporary that joins them (`a and b`, `x if c else y`)."""

    dst: Temp
    src: Temp


@dataclass(slots=True, eq=False)
class Load(Instr):
    """`dst = name`. `certain`: the compiler knows that it is assigned where this is reached (a flag says so).

    `free`: to Python it is a variable of a function around the one that reads it.
    """

    dst: Temp
    name: str
    scope: StorageClass
    certain: bool = False
    free: bool = False


@dataclass(slots=True, eq=False)
class Store(Instr):
    """`name = src`: rebinds the variable."""

    name: str
    src: Temp
    scope: StorageClass


@dataclass(slots=True, eq=False)
class Delete(Instr):
    """`del name`."""

    name: str
    scope: StorageClass


@dataclass(slots=True, eq=False)
class GetAttr(Instr):
    """`dst = obj.attr`."""

    dst: Temp
    obj: Temp
    attr: str


@dataclass(slots=True, eq=False)
class SetAttr(Instr):
    """`obj.attr = src`."""

    obj: Temp
    attr: str
    src: Temp


@dataclass(slots=True, eq=False)
class DelAttr(Instr):
    """`del obj.attr`."""

    obj: Temp
    attr: str


@dataclass(slots=True, eq=False)
class GetItem(Instr):
    """`dst = obj[index]`; several indices are one tuple."""

    dst: Temp
    obj: Temp
    index: Temp


@dataclass(slots=True, eq=False)
class SetItem(Instr):
    """`obj[index] = src`."""

    obj: Temp
    index: Temp
    src: Temp


@dataclass(slots=True, eq=False)
class DelItem(Instr):
    """`del obj[index]`."""

    obj: Temp
    index: Temp


class ArgKind(enum.Enum):
    """How an argument is passed."""

    POSITIONAL = "positional"
    STAR = "star"  # *value
    KEYWORD = "keyword"  # name=value
    DOUBLE_STAR = "double star"  # **value


@dataclass(slots=True, frozen=True)
class Arg:
    """One argument of a call."""

    kind: ArgKind
    value: Temp
    name: str = ""


@dataclass(slots=True, eq=False)
class Call(Instr):
    """`dst = func(*args)`, arguments in source order."""

    dst: Temp
    func: Temp
    args: tuple[Arg, ...]


@dataclass(slots=True, eq=False)
class Unary(Instr):
    """`dst = op operand`, op one of `-`, `+`, `~`, `not`, and `bool`, the truth of an operand in a test."""

    dst: Temp
    op: str
    operand: Temp


@dataclass(slots=True, eq=False)
class Binary(Instr):
    """`dst = left op right`, op one of `+ - * / // % ** @ & | ^ << >>`."""

    dst: Temp
    op: str
    left: Temp
    right: Temp


@dataclass(slots=True, eq=False)
class Inplace(Instr):
    """`dst = left op= right` without the rebinding: `dst` is what the target is then bound to (PEP 203)."""

    dst: Temp
    op: str
    left: Temp
    right: Temp


@dataclass(slots=True, eq=False)
class Compare(Instr):
    """`dst = left op right`, op one of `== != < <= > >= is, is not, in, not in`. Chains are desugared."""

    dst: Temp
    op: str
    left: Temp
    right: Temp


class Sequence(enum.Enum):
    """The kind of container that `Build` constructs."""

    TUPLE = "tuple"
    LIST = "list"
    SET = "set"


@dataclass(slots=True, frozen=True)
class Item:
    """One element of a display; `star`: its elements are spliced in."""

    value: Temp
    star: bool = False


def unpacked(iterable: Any, may_change: bool) -> Any:
    """What `*iterable` splices in where something is evaluated behind it, which `may_change` what there is to splice in."""
    return list(iterable) if may_change else iterable


@dataclass(slots=True, eq=False)
class Build(Instr):
    """`dst = (items)`, `[items]` or `{items}`; `is_ordered`: CPython makes the set by adding the items in order."""

    dst: Temp
    kind: Sequence
    items: tuple[Item, ...]
    is_ordered: bool = True


@dataclass(slots=True, eq=False)
class BuildDict(Instr):
    """`dst = {key: value, …}`; a key of None splices the mapping `value` in (`**value`)."""

    dst: Temp
    entries: tuple[tuple[Temp | None, Temp], ...]


@dataclass(slots=True, eq=False)
class BuildSlice(Instr):
    """`dst = slice(start, stop, step)`; None where the source leaves one out."""

    dst: Temp
    start: Temp | None
    stop: Temp | None
    step: Temp | None


@dataclass(slots=True, eq=False)
class Append(Instr):
    """Adds to the list, set or dict under construction of a comprehension; `key` for dicts."""

    target: Temp
    value: Temp
    key: Temp | None = None


@dataclass(slots=True, eq=False)
class Format(Instr):
    """`dst = f"{value!conversion:spec}"`; conversion is '', 'r', 's' or 'a'; spec a string temporary or None."""

    dst: Temp
    value: Temp
    conversion: str
    spec: Temp | None


@dataclass(slots=True, eq=False)
class JoinStrings(Instr):
    """`dst = "".join(parts)`: the parts of an f-string."""

    dst: Temp
    parts: tuple[Temp, ...]


@dataclass(slots=True, eq=False)
class Unpack(Instr):
    """`*dsts = src`: `star` is the position of the starred target, if any; it receives a list."""

    dsts: tuple[Temp, ...]
    src: Temp
    star: int | None


@dataclass(slots=True, eq=False)
class MakeFunction(Instr):
    """`dst = def …` or `lambda …`: closes over the cells of this frame that `function.free` names.

    `defaults` are the values of the last positional parameters; `kw_defaults` maps keyword-only ones.
    """

    dst: Temp
    function: Function
    defaults: tuple[Temp, ...]
    kw_defaults: tuple[tuple[str, Temp], ...]


@dataclass(slots=True, eq=False)
class Import(Instr):
    """`dst = import module` (`attr` empty: the module that the name binds) or `from module import attr`."""

    dst: Temp
    module: str
    attr: str
    level: int = 0


class Test(enum.Enum):
    """A structural test of `match` (PEP 634)."""

    SEQUENCE = "sequence"  # is it a sequence pattern subject of length `count` (`at_least`: or longer)?
    MAPPING = "mapping"  # is it a mapping that has all of `keys`?
    CLASS = "class"  # is it an instance of `args[0]`?


@dataclass(slots=True, eq=False)
class MatchTest(Instr):
    """`dst = does subject have the shape that a pattern asks for`, a bool."""

    dst: Temp
    test: Test
    subject: Temp
    args: tuple[Temp, ...] = ()
    count: int = 0
    at_least: bool = False


@dataclass(slots=True, eq=False)
class MatchArgs(Instr):
    """`dst = the attribute that positional sub-pattern `position` of class `cls` means` (`__match_args__`)."""

    dst: Temp
    subject: Temp
    cls: Temp
    position: int


@dataclass(slots=True, eq=False)
class If(Instr):
    """`if cond: then else: orelse`; `cond` is any value, its truth decides."""

    cond: Temp
    then: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class While(Instr):
    """`while True: test; if not cond: leave; body`. `test` computes the temporary `cond` anew each time."""

    test: Block
    cond: Temp
    body: Block


@dataclass(slots=True, eq=False)
class For(Instr):
    """`for target in iterable: body`. `target` is a temporary; the body stores it where the source says.

    `until`: a local flag variable; when the body has set it, the loop ends before the next element. `fused`: by the
    generator that the loop has gone over, the generator's body with that of the loop in it (`frontend/fusion.py`).
    """

    iterable: Temp
    target: Temp
    body: Block
    until: str | None = None
    fused: dict[Function, Function] = field(default_factory=dict, init=False)


@dataclass(slots=True, eq=False)
class LoopElse(Instr):
    """`for … else` and `while … else`, until jumps are removed: `frontend/jumps.py`, for a generator where it is fused."""

    loop: For | While
    orelse: Block


@dataclass(slots=True, eq=False)
class Yield(Instr):
    """`yield value`; `body` is that of the loop over the generator once it is fused, which finds the value in `target`.

    `guarded`: it stands in a `try` or a `with`, which would see what the body of the loop raises.
    """

    value: Temp
    guarded: bool = False
    target: Temp | None = None
    body: Block = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Return(Instr):
    """`return value`."""

    value: Temp


@dataclass(slots=True, eq=False)
class Break(Instr):
    """`break`; removed by `frontend/jumps.py`."""


@dataclass(slots=True, eq=False)
class Continue(Instr):
    """`continue`; removed by `frontend/jumps.py`."""


@dataclass(slots=True, eq=False)
class Raise(Instr):
    """`raise exc from cause`; `exc` None re-raises. An `assert` is an `If` around one."""

    exc: Temp | None
    cause: Temp | None = None


@dataclass(slots=True, eq=False)
class Handler:
    """`except kind as name: body`; `kind` is evaluated by `test`; None catches everything.

    What is caught is bound to the temporary `target`.
    """

    span: Span
    test: Block
    kind: Temp | None
    target: Temp
    body: Block


@dataclass(slots=True, eq=False)
class Try(Instr):
    """`try: body except …: … else: orelse finally: final`."""

    body: Block
    handlers: list[Handler]
    orelse: Block
    final: Block


@dataclass(slots=True, eq=False)
class With(Instr):
    """`with manager as …: body`: the body begins by storing the temporary `entered`, if the source binds it."""

    manager: Temp
    entered: Temp
    body: Block


@dataclass(slots=True, frozen=True)
class Parameters:
    """The parameters of a function, names in order; defaults stand in `MakeFunction` or on the real function."""

    positional_only: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    star: str | None = None
    keyword_only: tuple[str, ...] = ()
    double_star: str | None = None

    def names(self) -> Iterator[str]:
        """Every parameter, in the order of `code.co_varnames` of the same function."""
        yield from self.positional_only
        yield from self.positional
        yield from self.keyword_only
        if self.star is not None:
            yield self.star
        if self.double_star is not None:
            yield self.double_star


@dataclass(slots=True, eq=False)
class Function:
    """A Python function as stage IR.

    `cells` are its own variables that nested functions share; `free` those that it takes from the
    functions around it; both are read and written with `StorageClass.CELL`. All other own variables are `locals`.
    `is_generator`: it has a `yield`. Its body keeps its jumps then: only loops run it, fused with theirs, where its local
    variables have the `suffix`. `is_lambda` serves messages only.
    """

    name: str
    qualname: str
    params: Parameters
    body: Block
    span: Span
    locals: frozenset[str] = frozenset()
    cells: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    is_lambda: bool = False
    is_generator: bool = False
    suffix: str = ""
    nested: list[Function] = field(default_factory=list)
