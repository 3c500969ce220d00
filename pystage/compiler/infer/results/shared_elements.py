"""Checks for arrays that would reach the caller as several objects where the plain run may have one (PS504).

In: what a program hands back, and what objects of the caller's hold at its end. A list of rows holds copies of arrays, or
the places of views, and tells which objects they may be (`values/identity.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...diagnostics.codes_mutation import CannotReturn
from ...diagnostics.diagnostic import DiagnosticError
from ...library.kernels.array_rows import has_arrays, has_copies
from ...library.rules.pools import parts_of
from ...values.bounded import Bounded
from ...values.identity import SOME_OBJECT, Identity, may_be_one
from ...values.lattice import (
    Abstract,
    ArrayCell,
    ErrorCell,
    Frozen,
    PoolCell,
    Ref,
    RowsCell,
    Sharing,
    TableCell,
)
from ...values.node import TreeNode
from ...values.state import ERROR, Content
from ...values.walk import nodes
from ..core.engine import Engine


def check_elements(
    engine: Engine, value: Abstract, changed: Sequence[Content], visible: Iterable[int]
) -> None:
    """PS504 for an array that may be an element of a list or a dict, twice or beside that.

    `value` is handed back; `changed`: what objects of the caller's hold at the end; `visible`: the cells that both reach.
    """
    slots = engine.state.slots
    error = slots[ERROR]
    assert isinstance(error, ErrorCell)
    reached = [slots.get(cell) for cell in visible]
    contents = [*changed, *[v.content for v in error.versions], *reached]
    lists = [c.entries if isinstance(c, TableCell) else c for c in contents]
    rows = [c for c in lists if isinstance(c, RowsCell | PoolCell) and any(map(has_arrays, _elements(c)))]
    cells = [
        slots.get(cell) for cell in {**dict.fromkeys(visible), **dict.fromkeys(engine.externals.initial)}
    ]
    frozen = [cell for cell in cells if isinstance(cell, ArrayCell) and cell.frozen is not Frozen.NOT]
    copied = [c for c in rows if _sharing(c) is not Sharing.NOT]
    copies = [c for c in rows if any(map(has_copies, _elements(c)))]
    pairs: list[tuple[_Holder, _Holder]] = [
        *[(a, b) for a in copied for b in rows],
        *[(a, b) for a in copies for b in frozen],
        *[(a, b) for a in frozen if a.frozen is Frozen.COPY for b in frozen],
    ]
    twice = any(_sharing(c) is Sharing.TWICE for c in copied)
    twice |= any(a is not b and may_be_one(_objects(a), _objects(b)) for a, b in pairs)
    if twice or _may_be_one_view([value, *changed, *reached]):
        kind = "dict" if any(isinstance(content, TableCell) for content in contents) else "list"
        what = f"an array that may be an element of a {kind}, twice or beside that {kind},"
        raise DiagnosticError(CannotReturn(span=engine.b.span, what=what))


_Holder = RowsCell | PoolCell | ArrayCell


def _elements(rows: RowsCell | PoolCell) -> list[Abstract]:
    """The templates of the elements of a list, or of the parts of the objects of a pool."""
    if isinstance(rows, RowsCell):
        return [rows.element]
    return [] if rows.contents is None else parts_of(rows.contents)


def _sharing(rows: RowsCell | PoolCell) -> Sharing:
    """Whether arrays in a list or in the objects of a pool may be one object with others."""
    if isinstance(rows, RowsCell):
        return rows.shared
    return Sharing.TWICE if rows.shared else Sharing.NOT


def _objects(x: _Holder) -> tuple[Identity, ...]:
    """The objects that copied arrays may be."""
    return (SOME_OBJECT,) if isinstance(x, PoolCell) else x.objects


def _may_be_one_view(contents: Sequence[Any]) -> bool:
    """True if a view that is an element of a list may be an element of another, or an array beside them."""
    found = {id(n): n for content in contents if isinstance(content, TreeNode) for n in nodes(content)}
    lists = [n for n in found.values() if isinstance(n, RowsCell)]
    listed = {id(n) for each in lists for n in nodes(each.element)}
    views = [n for n in found.values() if isinstance(n, Bounded) and isinstance(n.whole, Ref)]
    return any(
        (id(a) in listed or id(b) in listed) and may_be_one(a.objects, b.objects)
        for i, a in enumerate(views)
        for b in views[:i]
    )
