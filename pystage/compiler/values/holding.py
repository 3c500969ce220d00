"""What lists, dicts and objects hold, and new ones of the same kind that hold something else."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from .lattice import Abstract, Cell, DictCell, ListCell, ObjectCell


def held(cell: object) -> tuple[list[Hashable], list[Abstract]] | None:
    """The indices, keys or attributes of a container and what it holds at them; None for what is none."""
    match cell:
        case ListCell(items=items):
            return list(range(len(items))), list(items)
        case DictCell(entries=entries):
            return list(entries), list(entries.values())
        case ObjectCell(fields=fields):
            return list(fields), list(fields.values())
    return None


def holding(cell: Cell, items: Sequence[Abstract]) -> Cell:
    """A container of its own, of the kind of `cell`, with these in the places of what that holds."""
    match cell:
        case ListCell():
            return ListCell(tuple(items))
        case DictCell(entries=entries):
            return DictCell(dict(zip(entries, items, strict=True)))
        case ObjectCell(cls=cls, fields=fields):
            return ObjectCell(cls, dict(zip(fields, items, strict=True)))
    raise TypeError(f"{cell!r} holds nothing")
