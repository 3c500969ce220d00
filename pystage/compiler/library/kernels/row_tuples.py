"""Tuples of computed length (`RowsTuple`).

In: the elements of a list, or tuples. Out: a tuple, what two of them have in common. What wants the elements one by one
asks for their number, as it does of a list (`list_items`).
"""

from __future__ import annotations

from ...values.lattice import Abstract, Items, RowsTuple, Tuple
from ...values.vector import Vector
from ..context import Context
from ..rules import templates
from ..rules.rows import from_first
from .structures import list_items, list_length, vector_of


def of_items(ctx: Context, items: Items) -> Abstract:
    """The tuple of the elements of a list; of arrays or objects, their number must be known."""
    if isinstance(items, tuple) or isinstance(items.length, int) or ctx.can_be_known(list_length(items)):
        return Tuple(list_items(ctx, items))
    if not templates.can_be_in_tuples(items.element):
        return Tuple(list_items(ctx, items))
    return RowsTuple(from_first(ctx.b, items))


def items_of_tuples(*values: Abstract) -> list[Items] | None:
    """The elements of tuples of which at least one is of computed length; None for anything else."""
    if not any(isinstance(value, RowsTuple) for value in values):
        return None
    found = [templates.items_of_tuple(value) for value in values]
    return None if None in found else [each for each in found if each is not None]


def rows_of_numbers(ctx: Context, value: Abstract) -> Vector[Abstract] | None:
    """The elements of a tuple or list of computed length, of numbers; None for anything else, and where it can be known."""
    rows = vector_of(ctx, value)
    if rows is None or isinstance(rows.length, int) or ctx.can_be_known(list_length(rows)):
        return None
    return from_first(ctx.b, rows) if templates.can_be_in_tuples(rows.element) else None


def unpack(got: int, count: int) -> None:
    """Raises what unpacking so many values into `count` names raises."""
    if got < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {got})")
    raise ValueError(f"too many values to unpack (expected {count})")


def unpack_with_rest(got: int, count: int) -> None:
    """Raises what unpacking so many values into `count` names and a starred one raises."""
    raise ValueError(f"not enough values to unpack (expected at least {count}, got {got})")
