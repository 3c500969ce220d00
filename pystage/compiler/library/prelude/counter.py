"""`collections.Counter`: what its source calls in C, and what stages better than its source.

A counter is a dict whose `__missing__` gives 0 (`dict_methods.item`). Its methods and operators are staged from their
source.
"""

from __future__ import annotations

import collections
from typing import Any

from ..kernels.python_implementations import composed
from .primitives import rolled


@composed(collections._count_elements)  # type: ignore[attr-defined]
def count_elements(mapping: Any, iterable: Any) -> None:
    """Adds 1 to the counts of elements."""
    for element in rolled(iterable):
        mapping[element] = mapping.get(element, 0) + 1


@composed(collections.Counter.__eq__)
def equal(self: Any, other: Any) -> Any:
    """`self == other`."""
    if not isinstance(other, collections.Counter):
        return NotImplemented
    return all(self[e] == other[e] for e in self) and all(self[e] == other[e] for e in other)


@composed(collections.Counter.__le__)
def included(self: Any, other: Any) -> Any:
    """`self <= other`."""
    if not isinstance(other, collections.Counter):
        return NotImplemented
    return all(self[e] <= other[e] for e in self) and all(self[e] <= other[e] for e in other)


@composed(collections.Counter.__ge__)
def includes(self: Any, other: Any) -> Any:
    """`self >= other`."""
    if not isinstance(other, collections.Counter):
        return NotImplemented
    return all(self[e] >= other[e] for e in self) and all(self[e] >= other[e] for e in other)
