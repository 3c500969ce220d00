"""NumPy objects that create arrays by indexing: `np.mgrid`, `np.ogrid`, `np.r_`, `np.c_`, `np.s_`.

In: such an object and its index. Out: arrays, or the index itself (`np.s_`, `np.index_exp`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....values.lattice import Abstract, Const, SliceObject, Tuple
from ...context import Context
from ...kernels.structures import lift


def grid_of(ctx: Context, maker: Abstract, index: Abstract) -> Abstract | None:
    """The arrays of `maker[index]`; None if the object is no maker."""
    if not isinstance(maker, Const):
        return None
    found = _MAKERS.get(id(maker.value))
    return None if found is None else found(ctx, index)


def _parts(index: Abstract) -> list[Abstract]:
    return list(index.items) if isinstance(index, Tuple) else [index]


def _known(ctx: Context, part: Abstract, what: str) -> Any:
    if isinstance(part, SliceObject):
        return slice(*[ctx.known(each, what) for each in (part.start, part.stop, part.step)])
    return ctx.known(part, what)


def _grid(real: Any, name: str) -> Callable[[Context, Abstract], Abstract]:
    """Grids of known indices: computed now, constants of the program."""

    def grid(ctx: Context, index: Abstract) -> Abstract:
        keys = [_known(ctx, part, f"a place of {name}") for part in _parts(index)]
        try:
            return lift(ctx, real[tuple(keys) if isinstance(index, Tuple) else keys[0]])
        except (TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
            ctx.raise_(error)

    return grid


def _pieces(ctx: Context, index: Abstract, name: str) -> list[Abstract]:
    """The joined pieces; slices are constant ranges."""
    found: list[Abstract] = []
    for part in _parts(index):
        if isinstance(part, SliceObject):
            found.append(lift(ctx, np.r_[_known(ctx, part, f"a place of {name}")]))
        elif isinstance(part, Const) and isinstance(part.value, str):
            ctx.fail(
                ArgumentNotStaged(span=ctx.span, function=name, argument=f"the directive {part.value!r}")
            )
        else:
            found.append(part)
    return found


def _rows(ctx: Context, index: Abstract) -> Abstract:
    pieces = [ctx.call(Const(np.atleast_1d), [p]) for p in _pieces(ctx, index, "np.r_")]
    return ctx.call(Const(np.concatenate), [Tuple(tuple(pieces))])


def _columns(ctx: Context, index: Abstract) -> Abstract:
    return ctx.call(Const(np.column_stack), [Tuple(tuple(_pieces(ctx, index, "np.c_")))])


def _same(ctx: Context, index: Abstract) -> Abstract:
    return index


def _as_tuple(ctx: Context, index: Abstract) -> Abstract:
    return index if isinstance(index, Tuple) else Tuple((index,))


_MAKERS: dict[int, Callable[[Context, Abstract], Abstract]] = {
    id(np.mgrid): _grid(np.mgrid, "np.mgrid"),
    id(np.ogrid): _grid(np.ogrid, "np.ogrid"),
    id(np.r_): _rows,
    id(np.c_): _columns,
    id(np.s_): _same,
    id(np.index_exp): _as_tuple,
}
