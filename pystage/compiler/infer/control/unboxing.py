"""Unboxing: lists and dicts of arrays become rows before a join where their lengths or keys differ.

In: the two sides of a join, and slots that differ. Out: of a list, or the entries of a dict, with arrays in it, which has
another length on either side, each side holds the rows (`Vector`) with copies of the arrays, into which no store goes
any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from ...hlo.types import INT64, ArrayType
from ...library.containers.unboxing import (
    has_views,
    is_element,
    is_own_array,
    is_view_of,
    objects_of,
    put_in,
    unboxed,
    with_contents,
)
from ...library.kernels.array_rows import has_arrays, with_shared
from ...library.kernels.structures import with_elements
from ...library.numpy.indexing.bounded import narrowed
from ...library.rules.rows import as_vector
from ...library.rules.tables import cell_as, stored_entries
from ...library.rules.templates import common_template, joined, template_of_both, template_of_items
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent
from ...values.identity import Identity, united
from ...values.lattice import (
    LISTS,
    Abstract,
    AnyList,
    Array,
    ArrayCell,
    DictCell,
    Items,
    ListCell,
    MemberCell,
    Pooled,
    Ref,
    RowsCell,
    Stamp,
    TableCell,
    Tuple,
)
from ...values.slots import Slot
from ...values.state import MISSING, Lookup
from ...values.vector import Sharing, Vector
from ...values.views import Flipped, Window, path_type
from ...values.walk import cells_of
from ..core.engine import Engine
from ..state.phi import Placeholder


def differing(engine: Engine, a: Lookup, b: Lookup, slots: Iterable[Slot]) -> dict[int, bool]:
    """The lists and dicts of arrays among `slots` that differ in length or keys, and that can be rows.

    For each whether the rows can be the places of views.
    """
    found: dict[int, bool] = {}
    for slot in slots:
        contents = [x(slot) if isinstance(slot, int) else None for x in (a, b)]
        first, second = map(_items_of, contents)
        if first is None or second is None or _are_joined_one_by_one(*contents):
            continue
        views = _can_be_rows(engine, a, first, b, second)
        if views is not None:
            found[cast(int, slot)] = views
    return found


def _items_of(content: object) -> Items | None:
    """The elements of a list, or the entries of a dict."""
    if isinstance(content, DictCell | TableCell):
        return stored_entries(content)
    return content.items if isinstance(content, LISTS) else None


def _are_joined_one_by_one(a: object, b: object) -> bool:
    """True for lists of one length and for dicts with the same keys in the same order."""
    if isinstance(a, DictCell) and isinstance(b, DictCell):
        return list(a.entries) == list(b.entries)
    return isinstance(a, ListCell) and isinstance(b, ListCell) and len(a.items) == len(b.items)


def _can_be_rows(engine: Engine, a: Lookup, first: Items, b: Lookup, second: Items) -> bool | None:
    """Whether both sides can be rows of the positions of views, or else of contents; None where they stay as they are."""
    viewed = has_views(first) or has_views(second)
    if not viewed and template_of_both(first, second, ragged=True) is not None:
        return None
    sides = [(x, items) for x, items in ((a, first), (b, second)) if items != ()]
    for views in (True, False):
        outlines = [_outline_of_items(engine, find, items, views) for find, items in sides]
        templates = [template_of_items(each, ragged=True) for each in outlines]
        template = templates[0] if len(templates) == 1 else joined(templates[0], templates[1], ragged=True)
        if template is None or not has_arrays(template):
            continue
        if has_views(template):
            if any(find(cell) is MISSING for cell in cells_of(template) for find in (a, b)):
                continue
            if all(isinstance(items, Vector) for _, items in sides):
                return None
        return views
    return None


def is_to_unbox(content: object, views: bool) -> bool:
    """True for a list or dict of arrays or views that is not yet in the form that `unbox` gives."""
    if isinstance(content, RowsCell):
        return has_views(content) and not views
    return isinstance(content, ListCell) and bool(content.items)


def unbox(engine: Engine, slots: Mapping[int, bool]) -> None:
    """The lists and dicts as rows, of positions of views where possible; an empty one stays as it is."""
    state = engine.state
    for slot, views in slots.items():
        cell = state.get(slot)
        items = _items_of(cell)
        if isinstance(cell, RowsCell) and not views:
            state.set(slot, with_elements(cell, with_contents(engine, cell.items)))
        if not isinstance(items, tuple) or not items:
            continue
        held = tuple([unboxed(engine, item, views=views) for item in items])
        template = common_template(held, ragged=True)
        if template is None:
            continue
        state.note_alternatives(template)
        made = as_vector(engine.b, held, template, len(held))
        level = Sharing.NOT
        objects: tuple[Identity, ...] = ()
        for item in items:
            level = max(level, put_in(engine, item, made.element, None, objects))
            objects = united(objects, objects_of(engine, item))
        made = with_shared(made, level is not Sharing.NOT, level, objects)
        if isinstance(cell, DictCell):
            state.set(slot, cell_as(cell, made))
        else:
            state.set(slot, with_elements(cast(AnyList, cell), made))


def _outline_of_items(engine: Engine, find: Lookup, items: Items, views: bool) -> Items:
    """The elements as a vector would hold them, as far as its template goes."""
    if isinstance(items, tuple):
        return tuple([_outline(engine, find, item, views) for item in items])
    if views or not has_views(items):
        return items
    return replace(items, element=_outline(engine, find, items.element, False))


def _outline(engine: Engine, find: Lookup, item: Abstract, views: bool) -> Abstract:
    if isinstance(item, Tuple):
        return Tuple(tuple([_outline(engine, find, part, views) for part in item.items]), item.cls)
    if isinstance(item, Bounded) and isinstance(item.whole, Ref):
        return (_outline_of_view(engine, find, item) if views else None) or _outline_of_contents(item)
    content = find(item.cell) if isinstance(item, Ref) else None
    if isinstance(content, MemberCell):
        return Pooled(content.pool, content.place)
    if not isinstance(item, Ref) or not isinstance(content, ArrayCell) or not is_element(content, item):
        return item
    stale = any(alias.stamp is Stamp.OUT_OF_DATE for alias in content.aliases)
    return item if stale else Array(Placeholder(path_type(content.value.type, item.path)), Form.NDARRAY)


def _outline_of_contents(item: Bounded) -> Bounded:
    """A view, or rows of views, with placeholders for the contents."""
    sizes = {e.axis: e.most or item.type.shape[e.axis] for e in item.extents}
    shape = tuple([sizes.get(axis, n) for axis, n in enumerate(item.type.shape)])
    rows = next((e.size.type.shape for e in item.extents if e.size is not None), ())
    whole = Placeholder(ArrayType(item.type.dtype, (*rows, *shape)))
    extents = tuple([Extent(e.axis, size=Placeholder(ArrayType(INT64, rows))) for e in item.extents])
    return Bounded(Array(whole, Form.NDARRAY), ArrayType(item.type.dtype, shape), extents)


def _outline_of_view(engine: Engine, find: Lookup, item: Bounded) -> Bounded | None:
    """A view by its position in its memory, as `unboxed` has it; None for what it copies."""
    assert isinstance(item.whole, Ref)
    content, path = find(item.whole.cell), item.whole.path
    if not isinstance(content, ArrayCell) or is_own_array(engine, item):
        return None
    extents = {e.axis: e for e in item.extents}
    while path and isinstance(view := path[-1], Window | Flipped):
        type = path_type(content.value.type, path[:-1])
        apart = view.axes if isinstance(view, Flipped) else narrowed(view, type.shape)
        if not {*apart} <= extents.keys():
            break
        path = path[:-1]
        for axis in apart:
            step, most = extents[axis].step, extents[axis].most
            if isinstance(view, Window):
                extents[axis] = replace(extents[axis], most=min(view.sizes[axis], most or view.sizes[axis]))
            else:
                extents[axis] = replace(extents[axis], step=-step if isinstance(step, int) else step)
    whole = Ref(item.whole.cell, path)
    type = path_type(content.value.type, path)
    made = replace(item, whole=whole, type=type, extents=tuple(extents.values()), which=0)
    return made if is_view_of(content, made) else None
