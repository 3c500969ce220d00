"""`TreeNode`: the base of abstract values, cells, views, aliases and templates.

The children of a node are the nodes, program values and numbers of cells in its fields, alone or in tuples and dicts; the
annotations of the fields declare them, and `walk.py` reads these once per class. All other fields are data of the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field
from typing import Annotated, Any, ClassVar

CELL = "a cell of the heap"
CellNumber = Annotated[int, CELL]
"""The number of a heap cell: a child of the node that has it."""

NOTE: Mapping[str, Any] = {"note": True}
"""Metadata of a field for reasons and history: it is no child, and nodes are equal without it."""

WEAK: Mapping[str, Any] = {"weak": True}
"""Metadata of a field whose children are named, but not referred to: no program reaches them through it."""


class TreeNode:
    """A dataclass whose children `walk.py` knows."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
