"""`Vector`: n elements, where only the run knows n.

List, tuple, deque, dict, set and pool of objects hold one each, and add rules of their own. Operations on vectors stand in
`library/containers/vectors.py`, conversions in `library/rules/rows.py`.
"""

from __future__ import annotations

import enum
from dataclasses import field
from typing import Any, Generic, TypeVar

from ..hlo.immutable import immutable
from ..hlo.ir import Value
from .capacity import AllocationSite
from .identity import SOME_OBJECT, Identity
from .node import NOTE, TreeNode

E = TypeVar("E", bound=TreeNode)


class Sharing(enum.IntEnum):
    """Whether arrays among the elements of a vector may be one object with others."""

    NOT = 0
    ELSEWHERE = 1
    """No two of the elements, but what is in another list or dict may be one of them."""
    TWICE = 2


@immutable
class Vector(TreeNode, Generic[E]):
    """Elements of one structure, as arrays: `element` is their template, with an array of `capacity` rows for each number.

    The first `length` rows are the elements; those behind mean nothing. `site`: the allocation site whose capacity this is,
    of which a run may need more (`Context.needs_capacity`); None for what gets longer as often as that is written, and its
    capacity with it. `start`: the row that comes first; behind the last row comes row 0. `shared`: whether elements that
    are arrays may be one object with others; `objects` are those that they may be, where there are copies of them.
    """

    element: E
    capacity: int
    length: int | Value
    site: AllocationSite | None = None
    start: int | Value = 0
    shared: Sharing = Sharing.NOT
    objects: tuple[Identity, ...] = field(default=(SOME_OBJECT,), metadata=NOTE)


def length_of(items: tuple[Any, ...] | Vector[Any]) -> int | Value:
    """The number of elements, which are known one by one, or a vector."""
    return items.length if isinstance(items, Vector) else len(items)


def capacity_of(items: tuple[Any, ...] | Vector[Any]) -> int:
    """The greatest number of elements."""
    return items.capacity if isinstance(items, Vector) else len(items)
