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
from ...values.identity import may_be_one
from ...values.lattice import (
    Abstract,
    ArrayCell,
    Cell,
    ErrorCell,
    Frozen,
    PoolCell,
    Ref,
    RowsCell,
    TableCell,
)
from ...values.node import TreeNode
from ...values.state import ERROR, Content
from ...values.vector import Sharing, Vector
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
    vectors = [vector for vector in map(_vector_of, contents) if vector is not None]
    rows = [vector for vector in vectors if any(map(has_arrays, _elements(vector)))]
    cells = [
        slots.get(cell) for cell in {**dict.fromkeys(visible), **dict.fromkeys(engine.externals.initial)}
    ]
    frozen = [cell for cell in cells if isinstance(cell, ArrayCell) and cell.frozen is not Frozen.NOT]
    copied = [c for c in rows if c.shared is not Sharing.NOT]
    copies = [c for c in rows if any(map(has_copies, _elements(c)))]
    pairs: list[tuple[Vector[Any] | ArrayCell, Vector[Any] | ArrayCell]] = [
        *[(a, b) for a in copied for b in rows],
        *[(a, b) for a in copies for b in frozen],
        *[(a, b) for a in frozen if a.frozen is Frozen.COPY for b in frozen],
    ]
    twice = any(c.shared is Sharing.TWICE for c in copied)
    twice |= any(a is not b and may_be_one(a.objects, b.objects) for a, b in pairs)
    if twice or _may_be_one_view([value, *changed, *reached]):
        kind = "dict" if any(isinstance(content, TableCell) for content in contents) else "list"
        what = f"an array that may be an element of a {kind}, twice or beside that {kind},"
        raise DiagnosticError(CannotReturn(span=engine.b.span, what=what))


def _vector_of(content: Content | None) -> Vector[Any] | None:
    """The elements of a list, the entries of a dict, or the objects of a pool."""
    match content:
        case RowsCell(vector) | TableCell(entries=vector):
            return vector
        case PoolCell(objects):
            return objects
    return None


def _elements(vector: Vector[Any]) -> list[Abstract]:
    """The template of an element, or those of the parts of an object."""
    return parts_of(vector.element) if isinstance(vector.element, Cell) else [vector.element]


def _may_be_one_view(contents: Sequence[Any]) -> bool:
    """True if a view that is an element of a list may be an element of another, or an array beside them."""
    found = {id(n): n for content in contents if isinstance(content, TreeNode) for n in nodes(content)}
    vectors = [n for n in found.values() if isinstance(n, Vector)]
    listed = {id(n) for each in vectors for n in nodes(each.element)}
    views = [n for n in found.values() if isinstance(n, Bounded) and isinstance(n.whole, Ref)]
    return any(
        (id(a) in listed or id(b) in listed) and may_be_one(a.objects, b.objects)
        for i, a in enumerate(views)
        for b in views[:i]
    )
