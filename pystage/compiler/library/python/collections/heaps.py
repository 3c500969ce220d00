"""`heapq`: plain programs over lists, which are staged.

In: a list that is a heap, and elements. Out: an element, and the list as CPython leaves it: the same elements are compared,
in the same order, and end up in the same places.
"""

from __future__ import annotations

import heapq
from typing import Any

from ....library.kernels.structures import items_in_list, with_elements
from ....values.lattice import LISTS, NONE, Abstract, Ref, RowsCell
from ....values.vector import Vector
from ...containers import vectors
from ...containers.unboxing import unboxed
from ...context import Context, Raw
from ...kernels.array_rows import has_arrays
from ...kernels.python_implementations import composed
from ...kernels.structures import abstract, cell_of, type_name
from ...registry import meaning
from ..containers import container_getitem, container_setitem
from ..iterables import sorted_list

# ---------------------------------------------------------------- elements at places that lie inside


def _at(heap: Any, place: Any) -> Any:
    """`heap[index]`."""
    return heap[place]


def _put(heap: Any, place: Any, item: Any) -> None:
    """`heap[index] = item`."""
    heap[place] = item


@meaning(_at)
def _item(ctx: Context, heap: Raw, place: Raw) -> Abstract:
    """An element, without a bounds check."""
    items = items_in_list(ctx, heap)
    if isinstance(items, Vector):
        return vectors.get(ctx, items, vectors.int_of(abstract(place)))
    found = container_getitem(ctx, heap, place)
    assert found is not None
    return found


@meaning(_put)
def _store(ctx: Context, heap: Raw, place: Raw, item: Raw) -> Abstract:
    """Stores an element, without a bounds check."""
    assert isinstance(heap, Ref)
    cell, new = ctx.settle(heap), abstract(item)
    rows = None
    if isinstance(cell, RowsCell):
        new = unboxed(ctx, new, cell.items.element)
        rows = vectors.holding(ctx, cell.items, new)
    if rows is None or has_arrays(rows.element):
        container_setitem(ctx, heap, place, item)
    else:
        stored = vectors.put(ctx, rows, vectors.int_of(abstract(place)), new)
        ctx.write(heap.cell, with_elements(cell, stored))
    return NONE


def _check_list(heap: Any, argument: str) -> None:
    """Raises TypeError for an argument that is no list."""


@meaning(_check_list)
def _is_list(ctx: Context, heap: Raw, argument: Raw) -> Abstract:
    """Raises TypeError for an argument that is no list."""
    if not isinstance(cell_of(ctx, heap), LISTS):
        name = ctx.known(argument, "the name of an argument")
        ctx.raise_(TypeError(f"{name} must be list, not {type_name(ctx, heap)}"))
    return NONE


def _totally_ordered(iterable: Any, key: Any, reverse: Any) -> list[Any]:
    """The elements in order, equal ones as they came; a heap leaves the order of other ties open."""
    return sorted(iterable, key=key, reverse=reverse)


@meaning(_totally_ordered)
def _sorted(ctx: Context, iterable: Raw, key: Raw, reverse: Raw) -> Abstract:
    return sorted_list(ctx, iterable, key, reverse, total=True)


# ---------------------------------------------------------------- programs


def _rise(heap: Any, top: Any, place: Any) -> None:
    """Moves an element up to below an element that is not greater, `top` at most (CPython's `_siftdown`)."""
    item = _at(heap, place)
    while place > top and item < _at(heap, (place - 1) >> 1):
        above = (place - 1) >> 1
        _put(heap, place, _at(heap, above))
        place = above
    _put(heap, place, item)


def _sink(heap: Any, top: Any) -> None:
    """Moves the element at `top` down to a leaf along the lesser children, and up again from there (CPython's `_siftup`)."""
    count = len(heap)
    item = _at(heap, top)
    place = top
    while place < count >> 1:
        child = 2 * place + 1
        if child + 1 < count and not _at(heap, child) < _at(heap, child + 1):
            child += 1
        _put(heap, place, _at(heap, child))
        place = child
    _put(heap, place, item)
    _rise(heap, top, place)


@composed(heapq.heappush)
def heappush(heap: Any, item: Any, /) -> None:
    """Adds an element."""
    _check_list(heap, "heappush() argument 1")
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


@composed(heapq.heappop)
def heappop(heap: Any, /) -> Any:
    """Removes the least element."""
    _check_list(heap, "heappop() argument")
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    if not heap:
        return last
    least = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return least


@composed(heapq.heapreplace)
def heapreplace(heap: Any, item: Any, /) -> Any:
    """Removes the least element, then adds one."""
    _check_list(heap, "heapreplace() argument 1")
    if not heap:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


@composed(heapq.heappushpop)
def heappushpop(heap: Any, item: Any, /) -> Any:
    """Adds an element, then removes the least."""
    _check_list(heap, "heappushpop() argument 1")
    if not heap or not heap[0] < item:
        return item
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


@composed(heapq.heapify)
def heapify(heap: Any, /) -> None:
    """Makes a heap of a list."""
    _check_list(heap, "heapify() argument")
    for top in range((len(heap) >> 1) - 1, -1, -1):
        _sink(heap, top)


@composed(heapq.nsmallest)
def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    """The least elements, in order; equal ones as they came."""
    return _totally_ordered(iterable, key, False)[: max(n, 0)]


@composed(heapq.nlargest)
def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    """The greatest elements, in order; equal ones as they came."""
    return _totally_ordered(iterable, key, True)[: max(n, 0)]
