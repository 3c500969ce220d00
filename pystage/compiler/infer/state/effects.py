"""Side effects: which operations, functions and regions must run even when their results are unused."""

from __future__ import annotations

import operator
from dataclasses import field
from typing import ClassVar

from ....records import dataclass
from ...hlo.ir import Function, Region
from ...hlo.walk import callees
from ...speculation import Declarations, Grows

_purity = operator.attrgetter("kind.pure")


@dataclass(slots=True, eq=False)
class Effects:
    """The effects of a program. `functions` are those that have some: they are noted before a call of them is built.

    `draws` counts the places where it draws random numbers, in all that was inferred.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "functions": Grows("it is about functions, which do not change"),
            "draws": Grows("a summary that stays may draw"),
        }
    )

    functions: set[Function] = field(default_factory=set)
    draws: int = 0

    def are_in(self, region: Region) -> bool:
        """True if something in a region must run even when its results are unused."""
        if not all(map(_purity, region.walk())):
            return True
        functions = self.functions
        return bool(functions) and any(not functions.isdisjoint(callees(op)) for op in region.walk())
