"""What inference notes of the exceptions that the program may raise."""

from __future__ import annotations

from dataclasses import dataclass

from ...hlo.ir import Value
from ...values.lattice import Abstract, PayloadKey, Slot


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An exception that staged code has made, and the values that it is made of, as the payload `keys`."""

    exception: Abstract
    values: tuple[Value, ...]
    keys: tuple[PayloadKey, ...]


@dataclass(slots=True, eq=False)
class Guard:
    """The body of a `try`, while it is inferred: its handlers see the variables of `frame`, and these cells."""

    frame: int
    cells: set[Slot]
