"""What taking back a speculation does to each field of what inference changes.

A class whose objects hold state of an inference declares all of its fields in `SPECULATION`, each as one of these
and, where that is not plain, the reason. `infer/state/speculate.py` carries the declarations out; a test refuses a field
that has none.
"""

from __future__ import annotations

from ..records import dataclass


@dataclass(frozen=True, slots=True)
class Declared:
    """How a field fares; `why` says the reason."""

    why: str = ""


class Forked(Declared):
    """Set back to the value that it had. What is assigned is never changed in place."""

    __slots__ = ()


class Current(Declared):
    """Set back like `Forked`, and what was assigned is itself set back as its own class declares."""

    __slots__ = ()


class Journaled(Declared):
    """Undone by the object that has the field, in `begin`, `commit` and `roll_back`."""

    __slots__ = ()


class Grows(Declared):
    """Kept. It only grows, and nothing that it says is untrue, or has a meaning, once what led to it is taken back."""

    __slots__ = ()


class Balanced(Declared):
    """Changed by `with` and `try` blocks alone, which put back what was there however they end."""

    __slots__ = ()


class Fixed(Declared):
    """Set while inference is set up, and never afterwards."""

    __slots__ = ()


class Nested(Declared):
    """An object that declares its own fields."""

    __slots__ = ()


class Declarations(dict[str, Declared]):
    """How the fields of a class fare, by name."""

    def __init__(self, fields: dict[str, Declared]) -> None:
        super().__init__(fields)
        self.forked = self._of(Forked)
        self.current = self._of(Current)
        self.journaled = self._of(Journaled)
        self.parts = self._of(Nested)

    def _of(self, kind: type[Declared]) -> tuple[str, ...]:
        return tuple([name for name, declared in self.items() if isinstance(declared, kind)])
