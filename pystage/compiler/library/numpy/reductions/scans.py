"""Scans: `cumsum`, `cumprod`, and their inverse `diff`.

A scan is one `reduce_window` whose window extends to the beginning; XLA rewrites it into blocks.
"""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import BOOL, is_complex, is_floating
from ....ops import Add, Compare, Multiply, ReduceWindow, Select
from ....values.bounded import Bounded
from ....values.lattice import NONE, Abstract, Const, SliceObject, Tuple
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...operands.bounded_arguments import filled_up, lines_of, placed_argument
from ...operands.libraries import ArrayArgument, Rules, twins
from ...operands.reduction_operands import neutral, wider
from ...python.operators import binary
from ...rules.jax import axis_of, integer, is_none
from ..concatenation import Arrays, joined
from ..indexing.bounded_operands import result_with
from ..indexing.stores import cast
from ..subscripts.subscripts import array_getitem
from .sums import accumulator


def running(ctx: Context, combine: HloOp, value: Value, axis: int, jax: bool = False) -> Value:
    """Each element combined with all before it along `axis`."""
    shape = value.type.shape
    if value.type.size == 0:
        return value
    ones = (1,) * len(shape)
    window = tuple([n if i == axis else 1 for i, n in enumerate(shape)])
    padding = tuple([(n - 1, 0) if i == axis else (0, 0) for i, n in enumerate(shape)])
    first = neutral(combine, value.type.dtype)
    if isinstance(combine, Add) and not jax:  # NumPy's begin with the first element, and 0.0 + -0.0 is 0.0
        first = complex(-0.0, -0.0) if is_complex(value.type.dtype) else -0.0
    unit = ctx.constant(first, value.type.dtype)
    return ctx.op(ReduceWindow(combine, window, ones, padding, ones, ones), value, unit)


def _scan(
    name: str, combine: HloOp, ctx: Context, rules: Rules, a: Raw, axis: Raw, dtype: Raw, skip_nan: bool
) -> Abstract:
    lines = lines_of(ctx, rules, a, axis, name)
    given = lines.given
    value = filled_up(ctx, given, neutral(combine, given.dtype))
    if skip_nan and (is_floating(given.dtype) or is_complex(given.dtype)):
        number = ctx.op(Compare("EQ"), value, value)
        unit = ctx.constant(neutral(combine, given.dtype), given.dtype)
        value = ctx.op(Select(), number, value, ctx.broadcast(unit, value.type.shape))
    default = accumulator(ctx, rules, given.dtype, promote=False)
    wanted = default if is_none(dtype) else rules.dtype(ctx, dtype, name)
    wide = cast(ctx, value, wider(wanted))
    found = ctx.convert(running(ctx, combine, wide, lines.axis, rules.is_jax), wanted)
    return result_with(ctx, rules.array(ctx, found), given.axes)


def _declare_scan(name: str, combine: HloOp, what: str, **options: bool) -> None:
    """Declares the running sum or product of that name."""

    def call(
        ctx: Context, rules: Rules, a: Raw, axis: Raw = None, dtype: Raw = None, out: Raw = None
    ) -> Abstract:
        return _scan(name, combine, ctx, rules, a, axis, dtype, name.startswith("nan"))

    call.__name__, call.__doc__ = name, what
    twins(getattr(np, name), getattr(jnp, name), accumulates=True, **options)(call)


_declare_scan("cumsum", Add(), "Running sums along `axis`, or of the flat array.")
_declare_scan("cumprod", Multiply(), "Running products along `axis`, or of the flat array.")
_declare_scan("nancumsum", Add(), "Running sums that take NaN as 0.", delegates=False)
_declare_scan("nancumprod", Multiply(), "Running products that take NaN as 1.", delegates=False)


def _is_absent(rules: Rules, end: Raw) -> bool:
    """True for an end of `np.diff` that is not given."""
    value = end.value if isinstance(end, Const) else end
    return value is np._NoValue or (rules.is_jax and value is None)


@twins(np.diff, jnp.diff, delegates=False)
def diff(
    ctx: Context,
    rules: Rules,
    a: Raw,
    n: Raw = 1,
    axis: Raw = -1,
    prepend: Raw = np._NoValue,
    append: Raw = np._NoValue,
) -> Abstract:
    """Differences of neighbours along `axis`, `n` times, of an array with others before and behind it."""
    operand = placed_argument(ctx, rules, a, "diff")
    if not operand.rank:
        ctx.raise_(ValueError("diff requires input that is at least one dimensional"))
    times = integer(ctx, n, "n of diff")
    if times < 0:
        ctx.raise_(ValueError(f"order must be non-negative but got {times}"))
    if not times:
        return abstract(a)
    at = axis_of(ctx, axis, operand.rank, "diff")
    given = [end for end in (prepend, a, append) if not _is_absent(rules, end)]
    made: Abstract
    if len(given) > 1:
        parts = [placed_argument(ctx, rules, part, "diff") for part in given]
        one = ArrayArgument(operand.value, extents=tuple([e for e in operand.extents if e.axis != at]))
        shape = tuple([1 if i == at else m for i, m in enumerate(operand.shape)])
        same_rank = [
            part if part.rank else replace(one, value=ctx.broadcast(part.value, shape), weak=part.weak)
            for part in parts
        ]
        along = axis_of(ctx, at, same_rank[0].rank, "concatenate")
        made = joined(ctx, rules, Arrays(same_rank), along, None, "diff")
    else:
        made = a if isinstance(a, Bounded) else rules.array(ctx, operand.value, operand.weak)
    whole = placed_argument(ctx, rules, made, "diff")
    operation, full = "!=" if whole.dtype == BOOL else "-", SliceObject(NONE, NONE, NONE)
    for _ in range(min(times, whole.shape[at])):  # then nothing is left
        ends = SliceObject(Const(1), NONE, NONE), SliceObject(NONE, Const(-1), NONE)
        after, before = [array_getitem(ctx, made, Tuple((*[full] * at, end))) for end in ends]
        made = binary(ctx, operation, after, before)
    return made
