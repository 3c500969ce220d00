"""Memory layout of ndarrays: whether NumPy's `reshape` of an array is a view."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import limits
from ...diagnostics.codes_calls import NotServed
from ...hlo.ir import Op, Value
from ...hlo.types import BOOL
from ...ops import Gather, Or, Select, Transpose
from ...ops.elementwise.base import Elementwise
from ...values.lattice import Abstract, Ref
from ...values.memory import stand_in
from ...values.state import OrderSensitivity, References
from ...values.views import Permuted, Reshaped, View
from ..context import Context, Raw


def _stand_in(ctx: Context, ref: Ref) -> np.ndarray:
    """An array without contents that has the layout in memory of `ref`."""
    return stand_in(ctx.state.get(ref.cell).value.type, ref.path)


Truth = bool | Value
"""Whether something holds: known now, or a bool of the program, where it depends on the path taken."""


def _everywhere(ctx: Context, ref: Ref, holds: Callable[[Ref], bool]) -> Truth:
    """Whether a property holds of the memory of `ref`, asked for all that it may be."""
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
        ctx.state.rely_on_layout(
            [origin.cell], OrderSensitivity.IF_STORED if contiguous else OrderSensitivity.IF_ANY_STORED
        )
        _note_doubt(ctx, origin)
        return contiguous

    return _everywhere(ctx, ref, holds)


def note_given_back(ctx: Context, ref: Raw) -> None:
    """Records that an array is returned as it is, which is a copy where its elements are not in row-major order."""
    if isinstance(ref, Ref):
        ctx.state.rely_on_layout([origin.cell for origin, _ in ctx.memory_of(ref)], OrderSensitivity.IF_SEEN)


def note_compared(ctx: Context, *refs: Ref) -> None:
    """Records that references are compared by identity: what was returned as it is must be in row-major order."""
    state = ctx.state
    for ref in refs:
        if state.laid_out and ctx.is_ndarray(ref):
            cells = [origin.cell for origin, _ in ctx.memory_of(ref)]
            seen = [c for c in cells if c in state.laid_out and OrderSensitivity.IF_SEEN in state.laid_out[c]]
            state.rely_on_layout(seen, OrderSensitivity.ALWAYS)


def strides_of(ctx: Context, ref: Ref) -> set[tuple[int, ...]]:
    """The strides along each axis, in elements, in each memory that `ref` may be."""
    origins = [origin for origin, _ in ctx.memory_of(ref)]
    ctx.state.rely_on_layout([origin.cell for origin in origins], OrderSensitivity.IF_ANY_STORED)
    arrays = [_stand_in(ctx, origin) for origin in origins]
    return {tuple([n // array.itemsize for n in array.strides]) for array in arrays}


def keeps_order(ctx: Context, ref: Ref, order: str = "C") -> bool:
    """True if the order in memory (K, A) certainly is the row-major one (with F: the column-major one)."""
    note_order_matters(ctx, ref)
    origins = [origin for origin, _ in ctx.memory_of(ref)]
    return is_contiguous(ctx, ref, order) is True and not any(_may_be_rearranged(ctx, o) for o in origins)


def note_order_matters(ctx: Context, ref: Ref) -> None:
    """Records that the program depends on the order in memory, whatever it stores."""
    ctx.state.rely_on_layout([origin.cell for origin, _ in ctx.memory_of(ref)], OrderSensitivity.ALWAYS)


def reshapes_as_view(ctx: Context, ref: Ref, shape: tuple[int, ...], order: str) -> Truth:
    """Whether `reshape` to `shape` is a view of the same memory."""

    def holds(origin: Ref) -> bool:
        array = _stand_in(ctx, origin)
        if array.size == 0 or array.shape == shape:
            return True
        in_order = array.reshape(shape, order="F" if order == "F" else "C")
        view = (not origin.path and order == "C") or bool(np.may_share_memory(array, in_order))
        ctx.state.rely_on_layout(
            [origin.cell], OrderSensitivity.IF_STORED if view else OrderSensitivity.IF_ANY_STORED
        )
        _note_doubt(ctx, origin)
        return view

    return _everywhere(ctx, ref, holds)


# ---------------------------------------------------------------- new arrays


def _may_be_rearranged(ctx: Context, ref: Ref) -> bool:
    """True for a new array that NumPy may have stored in the order of operands that were transposed."""
    if ref.cell in ctx.state.row_major or ref.cell in ctx.state.rearranged:
        return ref.cell in ctx.state.rearranged
    value = ctx.state.get(ref.cell).value
    found = [value]
    for each in found:
        op = each.owner
        if not isinstance(op, Op) or len(found) > limits.LAYOUT_DEPTH:
            continue
        if isinstance(op.kind, Transpose) and each is not value and _rearranges(op):
            return True
        if isinstance(op.kind, Elementwise | Select):
            found += [v for v in op.operands if v.type.shape == value.type.shape and v not in found]
    return False


def is_computed_in_rows(ctx: Context, ref: Ref) -> bool:
    """False for a new array made of a transposed one, or by an index behind a slice: NumPy may lay it out by columns."""
    values = [ctx.state.get(origin.cell).value for origin, _ in ctx.memory_of(ref)]
    found = [value for value in values if value.type.rank > 1]
    for each in found:
        op = each.owner
        if not isinstance(op, Op):
            continue
        if len(found) > limits.LAYOUT_DEPTH or (isinstance(op.kind, Gather) and 0 in op.kind.offset_dims):
            return False
        if isinstance(op.kind, Transpose) and _rearranges(op):
            return False
        found += [v for v in op.operands if v.type.rank > 1 and v not in found]
    return True


def _rearranges(op: Op) -> bool:
    """True for a transposition that changes the order of axes of more than one element."""
    assert isinstance(op.kind, Transpose)
    extents = op.operands[0].type.shape
    moved = [axis for axis in op.kind.permutation if extents[axis] != 1]
    return moved != sorted(moved)


def _note_doubt(ctx: Context, ref: Ref) -> None:
    if len(ctx.state.get(ref.cell).value.type.shape) > 1 and _may_be_rearranged(ctx, ref):
        ctx.state.doubtful.setdefault(ref.cell, [])


def is_doubtful(ctx: Context, array: Raw) -> bool:
    """True for a new array that may not be in row-major order although that was assumed."""
    return isinstance(array, Ref) and array.cell in ctx.state.doubtful


def note_copy(ctx: Context, ref: Ref, made: Abstract) -> None:
    """Records that `made` is a copy of `ref`, or shares its memory where that is in another order."""
    copies = ctx.state.doubtful.get(ref.cell)
    if copies is not None and isinstance(made, Ref):
        copies.append(made.cell)
        ctx.state.doubtful.setdefault(made.cell, []).append(ref.cell)


def note_possible_copy(ctx: Context, ref: Ref, made: Abstract) -> None:
    """Records that `made` is a copy of `ref` or shares its memory, depending on sizes that only the run knows."""
    ctx.state.doubtful.setdefault(ref.cell, [])
    note_copy(ctx, ref, made)


def in_order(ctx: Context, made: Abstract, order: str | None) -> Abstract:
    """The new array `made` in the order in which NumPy stores it; with F, the transpose of a row-major one."""
    if order != "F" or not isinstance(made, Ref) or made.path:
        return made
    contents = ctx.contents(made)
    if contents.type.rank < 2:
        return made
    turned = tuple(reversed(range(contents.type.rank)))
    stored = ctx.ndarray(ctx.op(Transpose(turned), contents))
    ctx.state.row_major.add(stored.cell)
    return Ref(stored.cell, (Permuted(turned),))


def keep_order(ctx: Context, made: Abstract, given: Raw) -> None:
    """Records that NumPy stores the new array `made` in the order of `given`."""
    if not isinstance(made, Ref) or not isinstance(given, Ref) or not ctx.is_ndarray(given):
        return
    for origin, _ in ctx.memory_of(given):
        base = ctx.state.get(origin.cell).value.type
        if _may_be_rearranged(ctx, origin) or not _keeps_row_major(stand_in(base, origin.path)):
            ctx.state.rearranged.add(made.cell)


def _keeps_row_major(array: np.ndarray) -> bool:
    """True if a new array in the order of this one lies in row-major order."""
    return bool(np.empty_like(array).flags.c_contiguous)


def check_layout(ctx: Context, cell: int) -> None:
    """Raises PS606 for a store into an array that has names in two shapes, one of which NumPy may have copied."""
    copies = ctx.state.doubtful.get(cell)
    if copies is None:
        return
    shapes = {_reshapes(path) for path in ctx.state.paths_to(cell)}
    references = References(ctx.state)
    if len(shapes) > 1 or any(references.elsewhere(copy, cell) for copy in copies):
        name = "a store into an array that was reshaped, and is used in both shapes,"
        why = "the order of transposed operands in memory, or sizes that only the run knows, decide whether one is a copy"
        instead = "copy it before it is reshaped: `y = y.copy()`"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))


def _reshapes(path: tuple[View, ...]) -> bool:
    return any(isinstance(view, Reshaped) for view in path)
