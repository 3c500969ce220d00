"""A number that is of one kind on some paths and of another on others, where that would tell."""

from __future__ import annotations

from typing import NoReturn

from ..diagnostics.codes_types import PathDependentType
from ..values.lattice import Array
from .context import Context


def refuse_by_path(ctx: Context, operation: str, value: Array) -> NoReturn:
    """PS208 for an operation on a value of several `kinds`."""
    kinds = " or ".join(f"{form.value} {dtype}" for dtype, form in value.kinds)
    ctx.fail(PathDependentType(span=ctx.span, operation=operation, kinds=kinds))
