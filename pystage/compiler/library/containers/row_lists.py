"""Lists of computed length: what Python's operations on them do beside changing a vector (`containers/vectors.py`).

In: a reference to a list, or its elements. Out: new elements, an element, a truth. The exceptions of CPython, the order of
lists, and the rules for elements that are arrays or objects stand here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace

from ...diagnostics.codes_constant import NotKnown
from ...ops import (
    Compare,
    Minimum,
)
from ...values.identity import SOME_OBJECT, united
from ...values.lattice import (
    FALSE,
    TRUE,
    Abstract,
    Array,
    Const,
    Items,
    IteratorCell,
    ListCell,
    Pooled,
    Ref,
    Tuple,
)
from ...values.vector import Sharing, Vector, capacity_of
from ..context import Context
from ..kernels.array_rows import has_arrays, with_shared
from ..kernels.structures import list_items, with_elements
from ..rules import templates
from ..rules.rows import (
    as_vector,
    copied_objects,
)
from . import vectors
from .unboxing import (
    element_of,
    frozen,
    has_views,
    objects_of,
    put_in,
    unboxed,
)

# ---------------------------------------------------------------- exceptions


def item_outside() -> None:
    """Raises what `l[i]` raises."""
    operator.getitem([], 0)


def tuple_item_outside() -> None:
    """Raises what `t[i]` raises."""
    operator.getitem((), 0)


def store_outside() -> None:
    """Raises what `l[i] = x` and `del l[i]` raise."""
    operator.setitem([], 0, None)


def pop_outside() -> None:
    """Raises what `l.pop(i)` raises."""
    operator.methodcaller("pop", 1)([None])


def pop_empty() -> None:
    """Raises what `l.pop()` of an empty list raises."""
    operator.methodcaller("pop")([])


def remove_missing() -> None:
    """Raises what `l.remove(x)` raises."""
    operator.methodcaller("remove", None)([])


def index_missing(value: object) -> None:
    """Raises what `l.index(x)` raises."""
    operator.methodcaller("index", value)([])


def tuple_missing(value: object) -> None:
    """Raises what `t.index(x)` raises."""
    operator.methodcaller("index", value)(())


def popped(
    ctx: Context, vector: Vector[Abstract], index: Abstract, among: vectors.Selected
) -> tuple[Abstract, Vector[Abstract]]:
    """The result of `l.pop(index)`, and the list afterwards (`vectors.get`)."""
    vectors.check(ctx, vectors.compared(ctx, "EQ", vector.length, 0), IndexError(), pop_empty)
    if isinstance(index, Const) and index.value == -1:
        return vectors.pop(ctx, vector, False, among)
    place = vectors.front(ctx, vector, index, pop_outside)
    return vectors.get(ctx, vector, place, among), vectors.delete(ctx, vector, place)


# ---------------------------------------------------------------- comparisons


def _comparable(
    ctx: Context, left: Items, right: Items, what: str
) -> tuple[Vector[Abstract], Vector[Abstract]] | None:
    """Both lists as rows of one template, None without a common one; PS401 where NaN or arrays decide `what`."""
    template = templates.template_of_both(left, right, ragged=True)
    if template is None:
        return None
    first, second = [
        as_vector(ctx.b, x, template, capacity_of(x) if isinstance(x, Vector) else max(len(x), 1))
        for x in (left, right)
    ]
    for cell in (first, second):
        vectors.refuse_arrays(ctx, cell)
        vectors.refuse_nan_rows(ctx, cell, what)
    return first, second


def equal(ctx: Context, left: Items, right: Items, same: vectors.Equal) -> Abstract | None:
    """`left == right`: as many elements, and each equal to the other; None where they have no template in common."""
    both = _comparable(ctx, left, right, "whether two lists with NaN are equal")
    if both is None:
        return None
    first, second = both
    lengths = vectors.truth_of(vectors.compared(ctx, "EQ", first.length, second.length))

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return same(each, vectors.get(ctx, second, vectors.int_of(position)))

    def elements() -> Abstract:
        return vectors.fold(ctx, first, TRUE, step, goes_on=lambda found: found)

    return ctx.branch(lengths, elements, lambda: FALSE)


def ordered(
    ctx: Context,
    op: str,
    left: Items,
    right: Items,
    same: vectors.Equal,
    order: Callable[[Abstract, Abstract], Abstract],
) -> Abstract | None:
    """`left op right`: that of the first elements that differ, else of the lengths; None without a template in common."""
    both = _comparable(ctx, left, right, "the order of two lists or tuples with NaN")
    if both is None:
        return None
    first, second = both
    lengths = vectors.int_value(ctx, first.length), vectors.int_value(ctx, second.length)
    shorter = replace(first, length=ctx.op(Minimum(), *lengths))

    def step(found: Abstract, position: Abstract, each: Abstract) -> Abstract:
        return ctx.branch(
            same(each, vectors.get(ctx, second, vectors.int_of(position))), lambda: found, lambda: position
        )

    def goes_on(found: Abstract) -> Abstract:
        return vectors.truth_of(vectors.compared(ctx, "LT", vectors.int_of(found), 0))

    place = vectors.fold(ctx, shorter, Const(-1), step, goes_on=goes_on)

    def elements() -> Abstract:
        at = vectors.int_of(place)
        return order(vectors.get(ctx, first, at), vectors.get(ctx, second, at))

    by_length = vectors.truth_of(ctx.op(Compare(_DIRECTIONS[op]), *lengths))
    return ctx.branch(vectors.is_place_found(ctx, place), elements, lambda: by_length)


_DIRECTIONS = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}

# ---------------------------------------------------------------- elements that are arrays or objects


def collected(
    ctx: Context, count: Abstract, element: Callable[[Abstract], Abstract]
) -> Vector[Abstract] | None:
    """The elements at the first `count` positions; None where they have no template in common."""
    made = Ref(ctx.state.new_cell(ListCell(())))
    end = vectors.int_of(count)

    def condition(position: Abstract) -> Abstract:
        return vectors.truth_of(vectors.compared(ctx, "LT", vectors.int_of(position), end))

    def body(position: Abstract) -> Abstract:
        append(ctx, made, element(position))
        return vectors.following(ctx, position)

    if isinstance(count, Const):
        ctx.while_loop(condition, body, Const(0), trip_count=count.value)
        found = vectors.holding(ctx, ctx.cell(made).items)
        return None if found is None else replace(found, length=count.value)
    most = ctx.range_of(count)[1] if isinstance(count, Array) else math.inf
    ctx.while_loop(condition, body, Const(0), most=None if math.isinf(most) else int(most))
    return vectors.holding(ctx, ctx.cell(made).items)


def extended(ctx: Context, ref: Ref, other: Abstract) -> Vector[Abstract] | None:
    """A list extended by the elements of another one; None where neither is a vector, or without a template."""
    items: Items = ctx.settle(ref).items
    content = ctx.cell(other) if isinstance(other, Ref) else None
    more: Items | None = content.items if isinstance(content, ListCell) else ctx.gathered(other)
    if more is None and isinstance(items, Vector):
        iterated = ctx.iterate(other)
        more = None if iterated is None else tuple(iterated)
    if more is None or not (isinstance(items, Vector) or isinstance(more, Vector)):
        return None
    if isinstance(more, Vector):
        if unite(ctx, items, more):
            items = ctx.settle(ref).items
            gathered = ctx.gathered(other)
            assert gathered is not None
            more = gathered
        longer = vectors.concatenate(ctx, with_members(ctx, items, more), more)
        if longer is None and isinstance(content, IteratorCell):  # which has given its elements
            ctx.fail(NotKnown(span=ctx.span, what="the number of elements of an iterator"))
        return longer
    held = with_members(ctx, more, items)
    items = ctx.settle(ref).items
    longer = vectors.concatenate(ctx, items, held)
    if longer is None or not has_arrays(longer.element):
        return longer
    for item in more:
        longer = with_shared(longer, frozen(ctx, item, longer.element, element_of(items)))
    return longer


def with_members(ctx: Context, items: Items, other: Items) -> Items:
    """The elements as a vector holds them, the objects in the pools of another list's objects."""
    if isinstance(items, Vector):
        return items
    like = element_of(other)
    return tuple([unboxed(ctx, item, like, views=True) for item in items])


def unite(ctx: Context, first: Items, second: Items) -> bool:
    """Makes one pool of those of the objects in two lists; gives whether the contents of the lists changed."""
    if not isinstance(first, Vector) or not isinstance(second, Vector):
        return False
    return _unite(ctx, first.element, second.element)


def _unite(ctx: Context, a: Abstract, b: Abstract) -> bool:
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        united = [_unite(ctx, x, y) for x, y in zip(a.items, b.items)]
        return any(united)
    if not isinstance(a, Pooled) or not isinstance(b, Pooled) or a.pool == b.pool:
        return False
    return ctx.united(a.pool, b.pool)


def append(ctx: Context, ref: Ref, new: Abstract) -> None:
    """`l.append(new)`."""
    cell = ctx.settle_ring(ref)
    if isinstance(cell, ListCell):
        ctx.write(ref.cell, replace(cell, items=(*cell.items, new)))
        return
    held = unboxed(ctx, new, cell.items.element, views=True)
    cell = ctx.settle_ring(ref)
    rows = vectors.holding(ctx, cell.items, held)
    if rows is None:  # its elements are known one by one, or it is refused
        ctx.write(ref.cell, with_elements(cell, (*list_items(ctx, cell.items), new)))
        return
    longer = vectors.push(ctx, rows, held)
    was_copied = has_views(cell.items) and not has_views(longer)  # now it holds contents, not places
    objects = (SOME_OBJECT,) if was_copied else copied_objects(cell.items)
    level = put_in(ctx, new, longer.element, element_of(cell.items), objects)
    objects = united(objects, objects_of(ctx, new))
    ctx.write(ref.cell, with_elements(cell, with_shared(longer, level is not Sharing.NOT, level, objects)))
