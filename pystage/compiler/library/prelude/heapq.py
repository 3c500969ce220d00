"""`heapq`: plain programs over lists, which are staged.

In: a list that is a heap, and elements. Out: an element, and the list as CPython leaves it: the same elements are compared,
in the same order, and end up in the same places.
"""

from __future__ import annotations

import heapq
from typing import Any

from ..kernels.python_implementations import composed
from .primitives import at, check_list, put, totally_ordered


def _rise(heap: Any, top: Any, place: Any) -> None:
    """Moves an element up to below an element that is not greater, `top` at most (CPython's `_siftdown`)."""
    item = at(heap, place)
    while place > top and item < at(heap, (place - 1) >> 1):
        above = (place - 1) >> 1
        put(heap, place, at(heap, above))
        place = above
    put(heap, place, item)


def _sink(heap: Any, top: Any) -> None:
    """Moves the element at `top` down to a leaf along the lesser children, and up again from there (CPython's `_siftup`)."""
    count = len(heap)
    item = at(heap, top)
    place = top
    while place < count >> 1:
        child = 2 * place + 1
        if child + 1 < count and not at(heap, child) < at(heap, child + 1):
            child += 1
        put(heap, place, at(heap, child))
        place = child
    put(heap, place, item)
    _rise(heap, top, place)


@composed(heapq.heappush)
def heappush(heap: Any, item: Any, /) -> None:
    """Adds an element."""
    check_list(heap, "heappush() argument 1")
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


@composed(heapq.heappop)
def heappop(heap: Any, /) -> Any:
    """Removes the least element."""
    check_list(heap, "heappop() argument")
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
    check_list(heap, "heapreplace() argument 1")
    if not heap:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


@composed(heapq.heappushpop)
def heappushpop(heap: Any, item: Any, /) -> Any:
    """Adds an element, then removes the least."""
    check_list(heap, "heappushpop() argument 1")
    if not heap or not heap[0] < item:
        return item
    least = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return least


@composed(heapq.heapify)
def heapify(heap: Any, /) -> None:
    """Makes a heap of a list."""
    check_list(heap, "heapify() argument")
    for top in range((len(heap) >> 1) - 1, -1, -1):
        _sink(heap, top)


@composed(heapq.nsmallest)
def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    """The least elements, in order; equal ones as they came."""
    return totally_ordered(iterable, key, False)[: max(n, 0)]


@composed(heapq.nlargest)
def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    """The greatest elements, in order; equal ones as they came."""
    return totally_ordered(iterable, key, True)[: max(n, 0)]
