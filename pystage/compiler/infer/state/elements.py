"""Known positions of arrays that were read from lists and dicts of rows, for `aliases/element_stores.py`."""

from __future__ import annotations

from typing import ClassVar

from ....records import dataclass
from ...hlo.ir import Value
from ...hlo.types import ArrayType
from ...speculation import Declarations, Grows
from ...values.lattice import Abstract, ArrayCell, Ref, RowsCell, TableCell


@dataclass(frozen=True, slots=True)
class Element:
    """The position of an array in `holder`, read by `key`; valid while both hold these contents."""

    holder: Ref
    place: int | Value
    key: Abstract
    content: RowsCell | TableCell
    array: ArrayCell


class Elements:
    """By cell, the positions of arrays that were read from lists and dicts of rows."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "places": Grows("a place counts only while the cells hold what they held when it was noted"),
            "stored": Grows("at worst what has not changed is taken to be out of date"),
        }
    )

    def __init__(self) -> None:
        self.places: dict[int, Element] = {}
        self.stored: list[ArrayType] = []
        """The types of the elements that were stored into, one for each store."""
