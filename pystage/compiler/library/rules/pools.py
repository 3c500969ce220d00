"""Contents of pools (`PoolCell`): their templates, and the arrays that have one row for each object.

In: contents of objects as rows hold them: numbers, tuples of them, contents of arrays (`Form.NDARRAY`) and references to
objects of pools (`Pooled`), but no other references. A *template* of contents is one object with a placeholder for each
array; the element of the vector of a pool is the same with one axis more in front of each. Objects have a template in
common where they are instances of one class with the same attributes, dicts with the same keys in the same order, or
lists: of one length, item by item, else vectors with a capacity of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ...hlo.types import INT64
from ...values.identity import SOME_OBJECT
from ...values.lattice import (
    LISTS,
    Abstract,
    Cell,
    Contents,
    DictCell,
    Items,
    ListCell,
    ObjectCell,
    PoolCell,
    RowsCell,
)
from ...values.vector import Sharing, Vector, capacity_of
from ...values.walk import children, counterparts, inner, rebuild, with_children
from .templates import (
    joined,
    placeholder,
    row_template,
    template_of,
    template_of_both,
    template_of_items,
    vector_template,
)

K = TypeVar("K")


# ---------------------------------------------------------------- templates


def class_of_contents(contents: Cell) -> type:
    """The class of an object with these contents."""
    if isinstance(contents, ObjectCell):
        return contents.cls
    return dict if isinstance(contents, DictCell) else list


def template_of_contents(contents: Contents) -> Contents | None:
    """The template of the contents of one object; None where a part has none."""
    if isinstance(contents, RowsCell):
        template = rebuild(contents.items, lambda v: placeholder(v.type.dtype, v.type.shape))
        return RowsCell(replace(template, length=placeholder(INT64), objects=(SOME_OBJECT,)))
    parts = [template_of(part) for part in children(contents)]
    return None if None in parts else with_children(contents, parts)


def template_of_pool(pool: PoolCell) -> Contents | None:
    """The template of the objects of a pool; None before there is any."""
    return None if pool.objects is None else row_template(pool.objects.element)


def joined_contents(a: Contents, b: Contents, loop: bool = False) -> Contents | None:
    """The common template of the contents of objects; None where there is none."""
    if _have_the_same_parts(a, b):
        parts = [
            joined(x, y, loop, ragged=True) for x, y in zip(children(a), counterparts(a, b), strict=True)
        ]
        if None not in parts:
            return with_children(a, parts)
    if isinstance(a, LISTS) and isinstance(b, LISTS):
        items = _joined_items(a.items, b.items, loop)
        return None if items is None else RowsCell(items)
    return None


def _have_the_same_parts(a: Contents, b: Contents) -> bool:
    """True for instances of a class with the same attributes, dicts with the same keys in order, lists of one length."""
    match a, b:
        case ObjectCell(), ObjectCell():
            return a.cls is b.cls and a.fields.keys() == b.fields.keys()
        case DictCell(), DictCell():
            return list(a.entries) == list(b.entries)
        case ListCell(), ListCell():
            return len(a.items) == len(b.items)
    return False


def _joined_items(a: Items, b: Items, loop: bool) -> Vector[Abstract] | None:
    """The template of the elements of lists of any length."""
    element = template_of_both(a, b, loop)
    if element is None:
        return None
    vectors = [x for x in (a, b) if isinstance(x, Vector)]
    sites = [x.site for x in vectors if x.site is not None]
    shared = max([x.shared for x in vectors], default=Sharing.NOT)
    return vector_template(element, max(capacity_of(a), capacity_of(b)), sites[0] if sites else None, shared)


def parts_of(contents: Cell) -> list[Abstract]:
    """The parts of the contents of an object."""
    return [contents.items.element] if isinstance(contents, RowsCell) else inner(contents)


# ---------------------------------------------------------------- parts of objects


Unbox = Callable[[Sequence[Abstract], Abstract | None], list[Abstract]]
"""The rows for values at one position of many objects, and those of the objects in the pool."""


def unboxed_contents(given: Sequence[Contents], like: Contents | None, unbox: Unbox) -> list[Contents]:
    """Contents of objects of one kind, with `unbox` applied to their parts."""
    first = given[0]
    match first:
        case ObjectCell():
            objects = [x.fields for x in given if isinstance(x, ObjectCell)]
            columns = _unboxed_columns(objects, like.fields if isinstance(like, ObjectCell) else {}, unbox)
            return [ObjectCell(first.cls, fields) for fields in columns]
        case DictCell():
            dicts = [x.entries for x in given if isinstance(x, DictCell)]
            columns = _unboxed_columns(dicts, like.entries if isinstance(like, DictCell) else {}, unbox)
            return [DictCell(entries) for entries in columns]
    known = [x for x in given if isinstance(x, ListCell)]
    lengths = {len(x.items) for x in (*known, like) if isinstance(x, ListCell)}
    if len(lengths) == 1 and not isinstance(like, RowsCell):
        by_place = [dict(enumerate(x.items)) for x in known]
        by_item = _unboxed_columns(
            by_place, dict(enumerate(like.items)) if isinstance(like, ListCell) else {}, unbox
        )
        made = iter([ListCell(tuple(items.values())) for items in by_item])
    else:
        element = None
        if isinstance(like, LISTS):
            element = template_of_items(like.items)
        flat = iter(unbox([item for x in known for item in x.items], element))
        made = iter([ListCell(tuple([next(flat) for _ in x.items])) for x in known])
    return [next(made) if isinstance(x, ListCell) else x for x in given]


def _unboxed_columns(
    given: Sequence[Mapping[K, Abstract]], like: Mapping[K, Abstract], unbox: Unbox
) -> list[dict[K, Abstract]]:
    columns = {
        key: unbox([parts[key] for parts in given], like.get(key)) for key in (given[0] if given else ())
    }
    return [{key: column[i] for key, column in columns.items()} for i in range(len(given))]
