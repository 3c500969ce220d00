"""The only place that makes operations.

The builder asks an operation's transfer function for its result types, so a program is typed as it is
built; a pure operation that was already applied to the same values where it is visible is not made twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics.span import Span
from .ir import Op, Region, Value
from .op import HloOp
from .types import ArrayType

_Key = tuple[HloOp, tuple[Value, ...]]
_Known = dict[_Key, list[Op]]
"""Where the operation that may be shared stands, once there is one: a place is found and kept with one hash."""


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


class Trial:
    """The time during which what is built is dropped if it ends in one exception: what `Builder.trial` gives."""

    __slots__ = ("_builder", "_exception")

    def __init__(self, builder: Builder, exception: type[BaseException]) -> None:
        self._builder = builder
        self._exception = exception

    def __enter__(self) -> None:
        self._builder.open.append((Region(), {}))

    def __exit__(self, cls: type[BaseException] | None, *exception: object) -> None:
        region, known = self._builder.open.pop()
        if cls is not None and issubclass(cls, self._exception):
            return
        outer, shared = self._builder.open[-1]
        outer.ops += region.ops
        shared.update({key: place for key, place in known.items() if place})


class Builder:
    """Builds into a stack of open regions; `span` is the source of what is being built."""

    def __init__(self, body: Region) -> None:
        self.open: list[tuple[Region, _Known]] = [(body, {})]
        """The open regions, each with the operations in it that may be shared."""
        self.span: Span | None = None
        self.made = 0
        """How many operations it has made, also those that were dropped."""

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

    def trial(self, exception: type[BaseException]) -> Trial:
        """Builds in the `with` block, and drops it if it raises `exception`."""
        return Trial(self, exception)

    def isolated(self, body: Region) -> Building:
        """Builds a function of its own: nothing built outside is shared with it."""
        return Building(self, body, [])

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
        operands = tuple(operands)
        shareable = kind.pure and pure and not regions
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
        types: list[ArrayType] = [v.type for v in operands]
        inferred = kind.infer_regions(types, regions) if regions else kind.infer(*types)
        results = (inferred,) if isinstance(inferred, ArrayType) else tuple(inferred)
        op = Op(kind, operands, results, tuple(regions), self.span)
        region.ops.append(op)
        self.made += 1
        if shareable:
            place.append(op)
        return op
