"""The only place that makes operations.

The builder asks an operation's transfer function for its result types, so a program is typed as it is
built; a pure operation that was already applied to the same values where it is visible is not made twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..diagnostics.span import Span
from .ir import Op, Region, Value
from .op import HloOp
from .types import ArrayType

_Key = tuple[HloOp, tuple[Value, ...]]


class Builder:
    """Builds into a stack of open regions; `span` is the source of what is being built."""

    def __init__(self, body: Region) -> None:
        self._open: list[tuple[Region, dict[_Key, Op]]] = [(body, {})]
        self.span: Span | None = None

    @property
    def current(self) -> Region:
        """The innermost open region."""
        return self._open[-1][0]

    @property
    def depth(self) -> int:
        """How many regions are open."""
        return len(self._open)

    @contextmanager
    def region(self, region: Region) -> Iterator[Region]:
        """Builds into `region` for the time of the `with` block."""
        self._open.append((region, {}))
        try:
            yield region
        finally:
            self._open.pop()

    @contextmanager
    def isolated(self, body: Region) -> Iterator[Region]:
        """Builds a function of its own: nothing built outside is shared with it."""
        outer, self._open = self._open, [(body, {})]
        try:
            yield body
        finally:
            self._open = outer

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
        if shareable:
            key = (kind, operands)
            for _, known in self._open:
                found = known.get(key)
                if found is not None:
                    return found
        types: list[ArrayType] = [v.type for v in operands]
        inferred = kind.infer_regions(types, regions) if regions else kind.infer(*types)
        results = (inferred,) if isinstance(inferred, ArrayType) else tuple(inferred)
        op = Op(kind, operands, results, tuple(regions), self.span)
        region, known = self._open[-1]
        region.ops.append(op)
        if shareable:
            known[key] = op
        return op
