"""Iterables whose elements are taken in turn, and `map` and `zip` of suspended generators (`prelude/builtins.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...stage.ir import unpacked
from ...values.bounded import Bounded
from ...values.lattice import (
    Abstract,
    Const,
    Enumerate,
    IteratorCell,
    Mapped,
    Ref,
    Reversed,
    RowsCell,
    RowsTuple,
    Suspended,
    TableCell,
    Tuple,
    Zip,
)
from ..context import Context, Raw
from ..kernels.python_implementations import run_program
from ..kernels.structures import abstract, cell_of
from ..numpy.indexing.stores import shape_of
from ..prelude import builtins
from ..registry import meaning
from ..rules.classes import class_of, not_iterable


def is_suspended(ctx: Context, value: Raw) -> bool:
    """True for a suspended generator."""
    cell = cell_of(ctx, value)
    return isinstance(cell, IteratorCell) and isinstance(cell.source, Suspended)


def is_of_steps(ctx: Context, value: Raw) -> bool:
    """True for an iterable that is iterated over element by element: a generator, or a computed number of elements."""
    match value:
        case Enumerate(inner) | Reversed(inner):
            return is_of_steps(ctx, inner)
        case Zip(inners) | Mapped(_, inners):
            return any(is_of_steps(ctx, each) for each in inners)
        case Bounded() | RowsTuple():
            return True
    cell = cell_of(ctx, value)
    if isinstance(cell, IteratorCell):
        return isinstance(cell.source, Suspended) or is_of_steps(ctx, cell.source)
    return isinstance(cell, TableCell) or (
        isinstance(cell, RowsCell) and not isinstance(cell.items.length, int)
    )


@meaning(unpacked)
def _unpacked(ctx: Context, iterable: Raw, may_change: Raw) -> Abstract:
    """Runs a generator to its end, and copies what may change; other values unchanged."""
    value: Abstract = abstract(iterable)
    if is_suspended(ctx, value):
        return run_program(ctx, builtins.as_list, [value])
    name = not_iterable(ctx, value)
    if name is not None:
        ctx.raise_(TypeError(f"Value after * must be an iterable, not {name}"))
    is_immutable = isinstance(value, Tuple | RowsTuple)
    if is_immutable or not ctx.known(may_change, "whether it may change"):
        return value
    return ctx.call(Const(list), [value])


def mapped(ctx: Context, function: Abstract, iterables: Sequence[Abstract]) -> Abstract | None:
    """`map(function, *iterables)`, one of which is a generator; None for others."""
    if len(iterables) == 1 and is_suspended(ctx, iterables[0]):
        return run_program(ctx, builtins.mapped, [function, iterables[0]])
    rows = beside(ctx, iterables)
    return None if rows is None else run_program(ctx, builtins.all_mapped, [function, rows])


def beside(ctx: Context, iterables: Sequence[Abstract]) -> Abstract | None:
    """`zip(*iterables)` of one generator and sequences; None for others."""
    places = [place for place, each in enumerate(iterables) if is_suspended(ctx, each)]
    if len(places) != 1:
        return None
    (place,) = places
    before, after = iterables[:place], iterables[place + 1 :]
    if not all(_is_sequence(ctx, each) for each in (*before, *after)):
        return None
    given = [Tuple(tuple(before)), iterables[place], Tuple(tuple(after))]
    return run_program(ctx, builtins.beside, given)


def _is_sequence(ctx: Context, value: Abstract) -> bool:
    """True for a value with a length and indices."""
    if ctx.is_ndarray(value) and not isinstance(value, Bounded) and not shape_of(ctx, cast(Ref, value)):
        ctx.raise_(TypeError("iteration over a 0-d array"))
    kinds = class_of(ctx, value)
    return all(issubclass(kind, list | tuple | range | str | np.ndarray) for kind in kinds)
