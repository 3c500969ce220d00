"""HLO IR: functions, regions, operations and values.

A `Value` has one definition: an operation, or a region of which it is a parameter. A region may use the values of the
regions around it. `builder.Builder` builds programs: a region and its operations are mutable until a `Function` is made
of them, and immutable afterwards. A transformation makes a new function.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..diagnostics.span import Span
from .op import HloOp
from .types import ArrayType, check_holdable

_regions_of = operator.attrgetter("regions")
type_of = operator.attrgetter("type")
"""The type of a value."""


class Value:
    """A typed SSA value. `owner` is the operation, or the region whose parameter it is.

    Raises `TooLarge` for a type that XLA cannot hold.
    """

    __slots__ = ("index", "owner", "type")

    def __init__(self, type: ArrayType, owner: Op | Region, index: int) -> None:
        if type.shape:
            check_holdable(type)
        self.type = type
        self.owner = owner
        self.index = index

    def __repr__(self) -> str:
        return f"<{self.type}>"


class Op:
    """An operation applied to values: `results = kind(operands) { regions }`."""

    __slots__ = ("kind", "operands", "regions", "results", "span")

    def __init__(
        self,
        kind: HloOp,
        operands: tuple[Value, ...],
        types: tuple[ArrayType, ...],
        regions: tuple[Region, ...],
        span: Span | None,
    ) -> None:
        self.kind = kind
        self.operands = operands
        self.regions = regions
        self.span = span
        if len(types) == 1:
            self.results: tuple[Value, ...] = (Value(types[0], self, 0),)
        else:
            self.results = tuple([Value(t, self, i) for i, t in enumerate(types)])


class Region:
    """A list of operations with parameters and results: the body of a function, a branch, a loop."""

    __slots__ = ("ops", "params", "results")

    def __init__(self, types: tuple[ArrayType, ...] = ()) -> None:
        self.params: list[Value] = [Value(t, self, i) for i, t in enumerate(types)]
        self.ops: list[Op] = []
        self.results: tuple[Value, ...] = ()

    def add_param(self, type: ArrayType) -> Value:
        """Adds a parameter."""
        value = Value(type, self, len(self.params))
        self.params.append(value)
        return value

    def walk(self) -> Iterable[Op]:
        """Every operation, those of inner regions included, each before what its regions hold."""
        return self._nested() if any(map(_regions_of, self.ops)) else self.ops

    def _nested(self) -> Iterator[Op]:
        for op in self.ops:
            yield op
            for region in op.regions:
                yield from region.walk()


class _FinishedOp(Op):
    """An operation of a function: it refuses to be changed."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` of an operation that belongs to a function")


class _FinishedRegion(Region):
    """A region of a function: it refuses to be changed. Its operations and parameters are tuples."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` of a region that belongs to a function")


def _finish(region: Region) -> None:
    """Makes a region, with all that it holds, immutable."""
    if type(region) is _FinishedRegion:
        return
    ops = region.ops = tuple(region.ops)  # type: ignore[assignment]
    region.params = tuple(region.params)  # type: ignore[assignment]
    region.__class__ = _FinishedRegion
    for op in ops:
        if op.__class__ is Op:
            op.__class__ = _FinishedOp
        for inner in op.regions:
            _finish(inner)


class BodyContents(NamedTuple):
    """What a body holds, with its inner regions: the classes of its operations, the functions that they call, and how many
    operations these are together, those of a function as often as it is called."""

    kinds: set[type[HloOp]]
    callees: tuple[Function, ...]
    size: int


class Function:
    """A function: a region that uses no outer values, a name, and where it was defined. Its body is immutable.

    `fence`: its calls stay calls down to the machine code, so that XLA fuses nothing across them. `catches`: it goes
    on after what it or a callee raises, or for inactive elements of a batch, so that some of its values may be unused.
    `kernel`: XLA:CPU compiles it into one machine function, instead of one for each operation. `contents` is found when
    it is first asked for (`walk.py`).
    """

    __slots__ = ("body", "catches", "contents", "fence", "kernel", "name", "span")

    def __init__(
        self,
        name: str,
        body: Region,
        span: Span | None = None,
        fence: bool = False,
        catches: bool = False,
        kernel: bool = False,
    ) -> None:
        _finish(body)
        self.name = name
        self.body = body
        self.span = span
        self.fence = fence
        self.catches = catches
        self.kernel = kernel
        self.contents: BodyContents | None = None

    def rewritten(self, body: Region, suffix: str = "") -> Function:
        """The function with another body and a suffixed name, as a pass rewrites it."""
        return Function(self.name + suffix, body, self.span, self.fence, self.catches)

    @property
    def param_types(self) -> tuple[ArrayType, ...]:
        """Types of the parameters."""
        return tuple(map(type_of, self.body.params))

    @property
    def result_types(self) -> tuple[ArrayType, ...]:
        """Types of the results."""
        return tuple(map(type_of, self.body.results))
