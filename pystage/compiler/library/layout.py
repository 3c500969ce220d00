"""How an ndarray lies in memory: whether NumPy's `reshape` of it is a view."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..hlo.ir import Value
from ..hlo.types import BOOL
from ..ops import Or
from ..values.lattice import Ref
from ..values.memory import stand_in
from ..values.state import Layout
from .context import Context


def _stand_in(ctx: Context, ref: Ref) -> np.ndarray:
    """An array without contents that lies in memory as `ref` does."""
    return stand_in(ctx.state.get(ref.cell).value.type, ref.path)


Truth = bool | Value
"""Whether something holds: known now, or a bool of the program, where it depends on the path taken."""


def _everywhere(ctx: Context, ref: Ref, holds: Callable[[Ref], bool]) -> Truth:
    """Whether something holds of the memory that `ref` is, which is asked of all that it may be."""
    answers = [(holds(origin), truth) for origin, truth in ctx.memory_of(ref)]
    if len({answer for answer, _ in answers}) == 1:
        return answers[0][0]
    result = ctx.constant(False, BOOL)
    for answer, truth in answers:
        if answer:
            here = ctx.constant(truth, BOOL) if isinstance(truth, bool) else truth
            result = ctx.op(Or(), result, here)
    return result


def is_contiguous(ctx: Context, ref: Ref, order: str = "C") -> Truth:
    """Whether the elements lie in row-major order (with F: column-major) without gaps."""

    def holds(origin: Ref) -> bool:
        contiguous = not origin.path and order == "C"
        if not contiguous:
            flags = _stand_in(ctx, origin).flags
            contiguous = bool(flags.c_contiguous if order == "C" else flags.f_contiguous)
        ctx.state.rely_on_layout([origin.cell], Layout.IF_STORED if contiguous else Layout.IF_ANY_STORED)
        return contiguous

    return _everywhere(ctx, ref, holds)


def keeps_order(ctx: Context, ref: Ref) -> bool:
    """True if the order in memory (K, A) certainly is the row-major one."""
    ctx.state.rely_on_layout([origin.cell for origin, _ in ctx.memory_of(ref)], Layout.ALWAYS)
    return is_contiguous(ctx, ref) is True


def reshapes_as_view(ctx: Context, ref: Ref, shape: tuple[int, ...], order: str = "C") -> Truth:
    """Whether `reshape` to `shape` is a view of the same memory."""

    def holds(origin: Ref) -> bool:
        array = _stand_in(ctx, origin)
        if array.size == 0 or array.shape == shape:
            return True
        in_order = array.reshape(shape, order="F" if order == "F" else "C")
        view = (not origin.path and order == "C") or bool(np.may_share_memory(array, in_order))
        ctx.state.rely_on_layout([origin.cell], Layout.IF_STORED if view else Layout.IF_ANY_STORED)
        return view

    return _everywhere(ctx, ref, holds)
