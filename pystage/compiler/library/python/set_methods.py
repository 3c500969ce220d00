"""Methods of sets, on their cells. Elements are constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...diagnostics.codes_types import NoSuchOperation
from ...values.lattice import NONE, Abstract, Const, SetCell
from ..context import Context, Raw
from ..kernels.structures import abstract, cell_of, lift, new_set, type_name

_CHANGING = (
    "add",
    "discard",
    "remove",
    "clear",
    "pop",
    "update",
    "intersection_update",
    "difference_update",
    "symmetric_difference_update",
)
_ASKING = (
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "issubset",
    "issuperset",
    "isdisjoint",
    "copy",
)


def _method(name: str) -> Callable[..., Abstract]:
    """The method of that name: run now on a real set of the known elements."""
    single = name in ("add", "discard", "remove")

    def method(ctx: Context, self: Raw, /, *args: Raw) -> Abstract:
        cell = cell_of(ctx, self)
        if not isinstance(cell, SetCell):
            kind = type_name(ctx, self)
            ctx.fail(NoSuchOperation(span=ctx.span, operation=f"set.{name}", types=kind))
        known = [_known(ctx, name, a, single) for a in args]
        elements = set(cell.items)
        try:
            result = getattr(elements, name)(*known)
        except (KeyError, TypeError) as error:
            ctx.raise_(error)
        if name in _CHANGING:
            ctx.write(self.cell, replace(ctx.settle(self), items=frozenset(elements)))
            return NONE if result is None else Const(result)
        return new_set(ctx, result) if isinstance(result, set) else lift(ctx, result)

    method.__name__ = name
    method.__doc__ = f"`set.{name}`."
    return method


def _known(ctx: Context, name: str, value: Raw, single: bool) -> Any:
    what = f"the argument of set.{name}"
    if single:
        return ctx.known(value, what)
    items = ctx.iterate(abstract(value))
    return ctx.known(value, what) if items is None else [ctx.known(i, what) for i in items]


METHODS: dict[str, Callable[..., Abstract]] = {name: _method(name) for name in (*_CHANGING, *_ASKING)}
"""The methods of sets."""
