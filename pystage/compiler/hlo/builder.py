"""The builder, the only code that creates operations.

It asks an operation's transfer function for the result types, so that a program is typed as it is built; it reuses a
visible pure operation of the same kind on the same operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..diagnostics.span import Span
from ..speculation import Declarations, Forked, Grows, Journaled
from .ir import Op, Region, Value, type_of
from .op import HloOp
from .types import ArrayType

_Key = tuple[HloOp, tuple[Value, ...]]
_Known = dict[_Key, list[Op]]
"""A mutable entry of the table of shared operations: looked up and inserted with one hash."""


class Building:
    """The time during which a builder builds into a region, and sees what is in those that are open."""

    __slots__ = ("_builder", "_open", "_outer", "_region")

    def __init__(self, builder: Builder, region: Region, open: list[tuple[Region, _Known]]) -> None:
        self._builder = builder
        self._region = region
        self._open = open

    def __enter__(self) -> Region:
        self._outer, self._builder.open = self._builder.open, self._open
        self._open.append((self._region, {}))
        return self._region

    def __exit__(self, *exception: object) -> None:
        self._open.pop()
        self._builder.open = self._outer


Mark = tuple[Region, int, int]
"""Of the region at hand, how many operations it has, and how many of them may be shared."""


class Builder:
    """Builds into a stack of open regions; `span` is the source of what is being built."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "open": Journaled(
                "regions are opened by `with` blocks; those that stay open get their operations taken away"
            ),
            "span": Forked(),
            "made": Grows("work that was done for nothing is done"),
        }
    )

    def __init__(self, body: Region) -> None:
        self.open: list[tuple[Region, _Known]] = [(body, {})]
        """The open regions, each with the operations in it that may be shared."""
        self.span: Span | None = None
        self.made = 0
        """How many operations were requested, including those that were shared and those that were dropped."""

    @property
    def current(self) -> Region:
        """The innermost open region."""
        return self.open[-1][0]

    @property
    def depth(self) -> int:
        """How many regions are open."""
        return len(self.open)

    def region(self, region: Region) -> Building:
        """Builds into `region` for the time of the `with` block."""
        return Building(self, region, self.open)

    def isolated(self, body: Region) -> Building:
        """Builds a function of its own: nothing built outside is shared with it."""
        return Building(self, body, [])

    def begin(self) -> Mark:
        """A speculation begins, into the region at hand."""
        region, known = self.open[-1]
        return region, len(region.ops), len(known)

    def commit(self, mark: Mark) -> None:
        """Keeps the operations of the speculation."""

    def roll_back(self, mark: Mark) -> None:
        """Drops the operations of the speculation, and no longer shares them."""
        (region, known), (marked, ops, shared) = self.open[-1], mark
        assert region is marked
        del region.ops[ops:]
        while len(known) > shared:
            known.popitem()

    def op(self, kind: HloOp, *operands: Value) -> Value:
        """Applies `kind`, which has one result and no regions, and returns the result."""
        return self.apply(kind, operands).results[0]

    def ops(self, kind: HloOp, *operands: Value) -> tuple[Value, ...]:
        """Applies `kind`, which has no regions, and returns all results."""
        return self.apply(kind, operands).results

    def apply(
        self, kind: HloOp, operands: Sequence[Value], regions: Sequence[Region] = (), pure: bool = True
    ) -> Op:
        """Applies `kind` to values and regions; `ShapeError` where its transfer function refuses them.

        `pure`: False if what `kind` calls must run each time.
        """
        self.made += 1
        operands = tuple(operands)
        shareable = kind.shareable and pure and not regions
        region, known = self.open[-1]
        if shareable:
            key = (kind, operands)
            for outer in range(len(self.open) - 1):
                found = self.open[outer][1].get(key)
                if found:
                    return found[0]
            place = known.setdefault(key, [])
            if place:
                return place[0]
        types: list[ArrayType] = list(map(type_of, operands))
        inferred = kind.infer_regions(types, regions) if regions else kind.infer(*types)
        results = (inferred,) if isinstance(inferred, ArrayType) else tuple(inferred)
        op = Op(kind, operands, results, tuple(regions), self.span)
        region.ops.append(op)
        if shareable:
            place.append(op)
        return op
