"""Sequential stores at flat indices: `np.put` and `x.flat[indices] = v`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....diagnostics.codes_calls import NotServed
from ....hlo.ir import Value
from ....hlo.types import INT64
from ....values.bounded import Bounded
from ....values.lattice import Array, Ref
from ...context import Context, Raw
from .bounds_checks import check_inside, until_outside
from .fancy_indexing import Fancy, gather, scatter
from .stores import shape_of, store_through


def refuse_own_memory(ctx: Context, value: Raw, target: Ref, by: str) -> None:
    """Fails for the elements of an array that may share memory with `target`.

    A sequential store reads what it has stored before.
    """
    read = value.whole if isinstance(value, Bounded) else value
    if not isinstance(read, Ref) or not ctx.is_ndarray(read) or ctx.contents(read).type.size < 2:
        return
    cells = [{ref.cell for ref, _ in ctx.memory_of(each)} for each in (read, target)]
    if cells[0] & cells[1]:
        ctx.fail(
            NotServed(
                span=ctx.span,
                name=f"a store of an array into its own memory by {by}",
                why="what NumPy makes of it depends on more than the values",
                instead="store a copy: `y.copy()`",
            )
        )


def store_until_outside(
    ctx: Context,
    target: Ref,
    given: Array,
    front: Value,
    new: Value,
    outside: Callable[[Any], None],
    memory: str = "assignment destination",
) -> None:
    """Stores `new`, from its first element again where it ends, at indices of the flat array.

    `given` are the indices, `front` the same counted from the front. Where one is out of bounds, the program calls `outside`
    with it; what stands before that is stored. Nothing happens if `new` has no elements.
    """
    size = int(np.prod(shape_of(ctx, target)))
    positions = until_outside(ctx, ctx.reshape(front, (front.type.size,)), size)
    if new.type.size:
        store_repeated(ctx, target, positions, new, memory)
        check_inside(ctx, given, front, size, outside)


def store_repeated(ctx: Context, target: Ref, positions: Value, new: Value, memory: str) -> None:
    """Stores at indices of the flat array, skipping those out of bounds."""
    value = ctx.contents(target)
    flat = ctx.reshape(value, (value.type.size,))
    positions = ctx.reshape(positions, (positions.type.size,))
    (count,) = positions.type.shape
    new = ctx.reshape(new, (new.type.size,))
    if count == 0 or new.type.size == 0:
        return
    if new.type.size not in (1, count):
        repeated = ctx.constant(np.arange(count) % new.type.size, INT64)
        new = gather(ctx, new, Fancy((0,), (repeated,), (count,), 0, False))
    stored = scatter(ctx, flat, Fancy((0,), (positions,), (count,), 0, False), ctx.broadcast(new, (count,)))
    store_through(ctx, target, ctx.reshape(stored, value.type.shape), memory=memory)
