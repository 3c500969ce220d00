"""`collections.deque`: methods as programs over the list of its elements, which only the deque refers to.

What adds and takes elements at the ends, and reads and stores them, is in `python/deques.py`.
"""

from __future__ import annotations

from collections import deque
from operator import index as as_index
from typing import Any

from ..kernels.python_implementations import composed
from .primitives import elements, note_change, snapshot


@composed(deque.extend)
def extend(self: Any, iterable: Any, /) -> None:
    """Adds elements at the right end."""
    for element in snapshot(iterable):
        self.append(element)


@composed(deque.extendleft)
def extendleft(self: Any, iterable: Any, /) -> None:
    """Adds elements at the left end, one after another."""
    for element in snapshot(iterable):
        self.appendleft(element)


@composed(deque.rotate)
def rotate(self: Any, n: Any = 1, /) -> None:
    """Moves elements from the right end to the left one."""
    n = as_index(n)
    count = len(self)
    if count > 0:
        n = n % count
        if 2 * n <= count:
            for _ in range(n):
                self.appendleft(self.pop())
        else:
            for _ in range(count - n):
                self.append(self.popleft())


@composed(deque.clear)
def clear(self: Any, /) -> None:
    """Removes all elements."""
    elements(self).clear()
    note_change(self)


@composed(deque.count)
def count(self: Any, x: Any, /) -> Any:
    """The number of elements equal to `x`."""
    return elements(self).count(x)


@composed(deque.reverse)
def reverse(self: Any, /) -> None:
    """Reverses the elements in place."""
    elements(self).reverse()


@composed(deque.index)
def index(self: Any, x: Any, /) -> Any:
    """The place of the first element equal to `x`."""
    if x not in elements(self):
        raise ValueError(f"{x!r} is not in deque")
    return elements(self).index(x)


@composed(deque.remove)
def remove(self: Any, value: Any, /) -> None:
    """Removes the first element equal to `value`."""
    del self[index(self, value)]


@composed(deque.insert)
def insert(self: Any, index: Any, x: Any, /) -> None:
    """Puts an element in before a place."""
    if self.maxlen is not None and len(self) >= self.maxlen:
        raise IndexError("deque already at its maximum size")
    elements(self).insert(index, x)
    note_change(self)


@composed(deque.__contains__)
def contains(self: Any, value: Any, /) -> Any:
    """`value in self`."""
    return value in elements(self)


@composed(deque.__eq__)
def equal(self: Any, other: Any, /) -> Any:
    """`self == other`."""
    return elements(self) == elements(other) if isinstance(other, deque) else NotImplemented


@composed(deque.__ne__)
def unequal(self: Any, other: Any, /) -> Any:
    """`self != other`."""
    return elements(self) != elements(other) if isinstance(other, deque) else NotImplemented


@composed(deque.__add__)
def add(self: Any, other: Any, /) -> Any:
    """`self + other`."""
    if not isinstance(other, deque):
        raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
    made = self.copy()
    made.extend(other)
    return made


@composed(deque.__iadd__)
def add_in_place(self: Any, other: Any, /) -> Any:
    """`self += other`."""
    self.extend(other)
    return self
