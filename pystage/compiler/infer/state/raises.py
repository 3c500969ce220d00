"""The raise sites of a program, its `try` bodies, and what they observe."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from ....records import dataclass
from ...hlo.ir import Region, Value
from ...speculation import Balanced, Declarations, Fixed, Grows, Nested
from ...values.capacity import AllocationSite, Capacity
from ...values.exceptions import PayloadKey
from ...values.lattice import Abstract
from ...values.sites import RaiseSites
from ...values.slots import Slot


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An exception that staged code has made, and the payload `keys` of its values."""

    exception: Abstract
    values: tuple[Value, ...]
    keys: tuple[PayloadKey, ...]


@dataclass(slots=True, eq=False)
class TryBody:
    """The body of a `try` that is being inferred: its handlers see the variables of `frame`, and these cells."""

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "frame": Fixed(),
            "cells": Grows("at worst a store too many depends on whether the program has raised"),
        }
    )

    frame: int
    cells: set[Slot]


@dataclass(slots=True, eq=False)
class Raises:
    """The exceptions of a program, and who observes its state where it raises.

    `sites` numbers the places that may raise; `instances` are, by such a number, the exceptions that staged code has made.
    `bodies` are those of `try` that are being inferred, outermost first. `exposed` are cells that something that the caller
    has refers to. `catching` are the bodies of functions with a `try` that may catch something at run time. `capacities` are
    those that the program was made for.
    """

    SPECULATION: ClassVar[Declarations] = Declarations(
        {
            "sites": Nested(),
            "instances": Grows("it is about raise sites, whose numbers are not used again"),
            "bodies": Balanced(),
            "exposed": Grows("at worst a store too many depends on whether the program has raised"),
            "catching": Grows("at worst a function is compiled as one that may catch something"),
            "capacities": Grows("at worst one is told of that the program does not have"),
        }
    )

    sites: RaiseSites = field(default_factory=RaiseSites)
    instances: dict[int, Instance] = field(default_factory=dict)
    bodies: list[TryBody] = field(default_factory=list)
    exposed: set[Slot] = field(default_factory=set)
    catching: set[Region] = field(default_factory=set)
    capacities: dict[AllocationSite, Capacity] = field(default_factory=dict)

    def note_capacity(self, capacity: Capacity) -> Capacity:
        """Records a capacity, of several for one allocation site the largest; gives it."""
        known = self.capacities.get(capacity.site)
        if known is None or (known.size, known.itemsize) < (capacity.size, capacity.itemsize):
            self.capacities[capacity.site] = capacity
        return capacity
