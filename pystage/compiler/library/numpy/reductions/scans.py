"""Scans: `cumsum`, `cumprod`, and their inverse `diff`.

A scan is one `reduce_window` whose window extends to the beginning; XLA rewrites it into blocks.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import BOOL, is_complex, is_floating
from ....ops import Add, Compare, Multiply, ReduceWindow, Select, Slice, Subtract, Xor
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...operands.libraries import Rules, twins
from ...operands.nested_sequences import array_argument
from ...operands.reduction_operands import neutral, wider
from ...rules.jax import axis_of, integer, is_none
from ..concatenation import joined
from ..indexing.stores import cast
from .sums import accumulator


def running(ctx: Context, combine: HloOp, value: Value, axis: int, jax: bool = False) -> Value:
    """Each element combined with all before it along `axis`."""
    shape = value.type.static_shape
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
    operand = rules.operand(ctx, a, name)
    value = operand.value
    if is_none(axis) or ctx.known(axis, f"the axis of {name}") is None:
        value, at = ctx.reshape(value, (value.type.size,)), 0
    else:
        value = value if operand.rank else ctx.reshape(value, (1,))
        at = axis_of(ctx, axis, max(operand.rank, 1), name)
    if skip_nan and (is_floating(operand.dtype) or is_complex(operand.dtype)):
        number = ctx.op(Compare("EQ"), value, value)
        unit = ctx.constant(neutral(combine, operand.dtype), operand.dtype)
        value = ctx.op(Select(), number, value, ctx.broadcast(unit, value.type.static_shape))
    default = accumulator(ctx, rules, operand.dtype, promote=False)
    wanted = default if is_none(dtype) else rules.dtype(ctx, dtype, name)
    wide = cast(ctx, value, wider(wanted))
    return rules.array(ctx, ctx.convert(running(ctx, combine, wide, at, rules.is_jax), wanted))


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
    operand = rules.operand(ctx, a, "diff")
    if not operand.rank:
        ctx.raise_(ValueError("diff requires input that is at least one dimensional"))
    times = integer(ctx, n, "n of diff")
    if times < 0:
        ctx.raise_(ValueError(f"order must be non-negative but got {times}"))
    if not times:
        return abstract(a)
    at = axis_of(ctx, axis, operand.rank, "diff")
    given = [end for end in (prepend, a, append) if not _is_absent(rules, end)]
    if len(given) > 1:
        parts = [array_argument(ctx, rules, part, "diff") for part in given]
        shape = tuple([1 if i == at else m for i, m in enumerate(operand.shape)])
        same_rank = [part if part.rank else part.of(ctx.broadcast(part.value, shape)) for part in parts]
        a = joined(ctx, rules, same_rank, axis_of(ctx, at, same_rank[0].rank, "concatenate"), None, "diff")
        operand = rules.operand(ctx, a, "diff")
    value = operand.value
    for _ in range(min(times, value.type.static_shape[at])):  # then nothing is left
        shape = value.type.static_shape
        ends = tuple([max(m - 1, 0) if i == at else m for i, m in enumerate(shape)])
        starts = tuple([min(1, m) if i == at else 0 for i, m in enumerate(shape)])
        ones = (1,) * len(shape)
        before = ctx.op(Slice((0,) * len(shape), ends, ones), value)
        after = ctx.op(Slice(starts, shape, ones), value)
        value = ctx.op(Xor() if value.type.dtype == BOOL else Subtract(), after, before)
    return rules.array(ctx, value, operand.weak)
