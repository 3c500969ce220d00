"""Deques as abstract objects: the elements are a list of their own, as rows a ring (`RowsCell.start`)."""

from __future__ import annotations

import collections

from .lattice import Const, ObjectCell, Ref

ITEMS = "the elements"
CHANGES = "how often it has got longer or shorter"
BOUND = "maxlen"
"""The fields of a deque; the last one is an attribute that the program may read."""


def deque_cell(items: Ref, maxlen: int | None) -> ObjectCell:
    """A deque of these elements."""
    fields = {ITEMS: items, BOUND: Const(maxlen), CHANGES: Const(0)}
    return ObjectCell(collections.deque, fields)
