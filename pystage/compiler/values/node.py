"""What has structure: abstract values, cells, the views and sources in them, and templates.

The children of a node are those of its fields that hold nodes, program values or numbers of cells, alone or in tuples and
dicts; their annotations say so, and `walk.py` reads them there, once for each class. All other fields are data of the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field
from typing import Annotated, Any, ClassVar

CELL = "a cell of the heap"
CellNumber = Annotated[int, CELL]
"""The number of a heap cell: a child of the node that has it."""

NOTE: Mapping[str, Any] = {"note": True}
"""Metadata of a field that says why, or what was: no child, and nothing by which two nodes differ."""

WEAK: Mapping[str, Any] = {"weak": True}
"""Metadata of a field whose children are named, but not referred to: no program reaches them through it."""


class TreeNode:
    """A dataclass of which `walk.py` knows the children."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
