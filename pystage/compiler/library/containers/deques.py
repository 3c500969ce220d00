"""Deques: sequences whose vector is a ring (`Vector.start`), to which elements are added at both ends."""

from __future__ import annotations

import collections
from typing import cast

from ...values.lattice import ObjectCell
from ..context import Context, Raw
from ..kernels.structures import cell_of


def is_deque(ctx: Context, value: Raw) -> bool:
    """True for a deque."""
    cell = cell_of(ctx, value)
    return isinstance(cell, ObjectCell) and cell.cls is collections.deque


def maxlen_of(ctx: Context, ref: Raw) -> int | None:
    """The maximal length of a deque."""
    return cast("int | None", ctx.known(cell_of(ctx, ref).fields["maxlen"], "the maxlen of a deque"))
