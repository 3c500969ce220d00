"""Norms of bounded arrays: of all elements, and of vectors along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....values.bounded import Bounded
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...kernels.python_implementations import run_program
from ...rules.jax import is_none
from ..indexing.bounded import refuse
from ..linalg import norms  # noqa: F401  (declares the meaning of what is served here)
from .size_rules import for_bounded


@for_bounded(np.linalg.norm)
def norm(ctx: Context, x: Raw, ord: Raw = None, axis: Raw = None, keepdims: Raw = False) -> Abstract:
    """As `np.linalg.norm`; the norms of matrices need their size."""
    of_two = isinstance(x, Bounded) and x.rank == 2
    order = None if is_none(ord) else ctx.known(ord, "the order of norm")
    if of_two and is_none(axis) and order == "fro":
        order = None
    of_all = is_none(axis) and (order is None or (isinstance(x, Bounded) and x.rank == 1))
    if not of_all and (is_none(axis) or not isinstance(ctx.known(axis, "the axis of norm"), int)):
        refuse(ctx, "the norm of a matrix", x)
    return run_program(ctx, _norm, (x, Const(order), axis, keepdims), {})


def _norm(x: Any, order: Any, axis: Any, keepdims: Any) -> Any:
    sizes = np.abs(x if x.dtype.kind in "fc" else x.astype(float))
    if order is None or order == 2:
        return np.sqrt(np.sum(sizes * sizes, axis=axis, keepdims=keepdims))
    if order == np.inf:
        return np.max(sizes, axis=axis, keepdims=keepdims, initial=0)
    if order == -np.inf:
        return np.min(sizes, axis=axis, keepdims=keepdims)
    if order == 0:
        return np.sum((x != 0).astype(sizes.dtype), axis=axis, keepdims=keepdims)
    if order == 1:
        return np.sum(sizes, axis=axis, keepdims=keepdims)
    return np.sum(sizes**order, axis=axis, keepdims=keepdims) ** (1 / order)
