"""Reductions by comparison: extrema and their indices, truth, counts.

As in NumPy, NaN wins over every number in `max` and `argmax`; `argmax` returns the first of equal elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged, NoSuchOperation
from ....hlo.ir import Region, Value
from ....hlo.op import HloOp
from ....hlo.types import BOOL, INT32, INT64, ArrayType, is_complex, is_floating
from ....ops import And, Compare, Iota, Or, Real, ReduceWith, Select, StopGradient, Subtract
from ....ops.operands import COMPLEXES, FLOATS
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.lattice import Abstract
from ...context import Context, Raw
from ...kernels.arithmetic import compare, extremum
from ...operands.bounded_arguments import lines_of, size_along, value_of_size
from ...operands.libraries import Rules, twins
from ...operands.reduction_operands import (
    EXTREMA,
    ReductionOperand,
    counted,
    neutral,
    not_zero,
    reduce,
    reduced,
    reduced_shape,
    source,
    total,
    without_nan,
)
from ...rules.jax import is_none
from ..indexing.bounded import count, is_known_false, where_of
from ..indexing.bounded_operands import result_with
from ..indexing.size_checks import Axis
from .sums import initial_value

_COUNT_IS_PYTHON = isinstance(np.count_nonzero(np.zeros(1)), int)
_LONG = {"max": "maximum", "min": "minimum"}


def _extremum(
    name: str,
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw,
    keepdims: Raw,
    initial: Raw,
    where: Raw,
) -> Abstract:
    """max and min."""
    of = source(ctx, rules, a, axis, keepdims, name, where)
    if is_none(initial):
        check_identity(ctx, of, a, name if rules.is_jax else _LONG[name])
    return reduced(ctx, rules, of, _extremum_of(name, ctx, rules, of, initial))


def _extremum_of(name: str, ctx: Context, rules: Rules, of: ReductionOperand, initial: Raw = None) -> Value:
    """The greatest or the least element."""
    if rules.is_jax and is_complex(of.dtype) and not is_none(initial):
        types = f"{of.dtype} with `initial`"
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"jnp.{name}", types=types))
    start = initial_value(ctx, rules, initial, of.dtype, name)
    if is_complex(of.dtype):
        found = ctx.reshape(extremum_and_index(ctx, name, of.value, of.axes, of.where)[0], of.shape)
        return found if start is None else ctx.op(EXTREMA[name], ctx.broadcast(start, of.shape), found)
    return reduce(ctx, EXTREMA[name], of, start)


def check_identity(ctx: Context, of: ReductionOperand, a: Raw, operation: str) -> None:
    """The same, also where a mask selects the elements, of which there may be none."""
    check_elements(ctx, of, a, operation)
    if of.where is not None and not isinstance(a, Bounded):
        text = f"reduction operation '{operation}' does not have an identity"
        ctx.raise_(ValueError(f"{text}, so to use a where mask one has to specify 'initial'"))


def check_elements(ctx: Context, of: ReductionOperand, a: Raw, operation: str) -> None:
    """Makes the program raise ValueError for an extremum of no elements, perhaps of an empty selection."""
    if 0 in of.shape:
        return
    text = f"zero-size array to reduction operation {operation} which has no identity"
    if of.count == 0:
        ctx.raise_(ValueError(text))
    if isinstance(a, Bounded):
        zero = ctx.constant(0, INT64)
        none: Value | None = None
        for extent in a.extents:
            empty = ctx.op(Compare("EQ"), count(ctx, a, extent).value, zero)
            if extent.axis in of.axes:
                none = empty if none is None else ctx.op(Or(), none, empty)
        for extent in a.extents if none is not None else ():
            if extent.axis not in of.axes:
                some = ctx.op(Compare("NE"), count(ctx, a, extent).value, zero)
                none = ctx.op(And(), none, some)  # type: ignore[arg-type]
        if none is not None and not is_known_false(none):
            ctx.check(none, ValueError(text), _raise, [text])


def _raise(text: str) -> NoReturn:
    raise ValueError(text)


def _nan_extremum(
    name: str,
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw,
    keepdims: Raw,
    initial: Raw,
    where: Raw,
) -> Abstract:
    """The extremum of what is not NaN; NaN where there is nothing else."""
    of = source(ctx, rules, a, axis, keepdims, name, where)
    numbers = without_nan(ctx, of)
    if is_none(initial):
        check_identity(ctx, of, a, name if rules.is_jax else f"f{name[3:]}")
    best = _extremum_of(name[3:], ctx, rules, numbers)
    if is_floating(of.dtype) or is_complex(of.dtype):
        none = ctx.op(
            Compare("EQ"), counted(ctx, numbers, INT64), ctx.broadcast(ctx.constant(0, INT64), of.shape)
        )
        nan = ctx.broadcast(ctx.constant(np.nan, of.dtype), of.shape)
        best = ctx.op(Select(), none, nan, best)
    start = initial_value(ctx, rules, initial, of.dtype, name)
    if start is not None:
        if not rules.is_jax and not ctx.is_ndarray(a):
            argument = "initial for what is no ndarray"
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"np.{name}", argument=argument))
        best = extremum(EXTREMA[name[3:]])(ctx, Form.NDARRAY, best, ctx.broadcast(start, of.shape))
    return reduced(ctx, rules, of, best)


def _declare_extremum(name: str, found: Callable[..., Abstract], what: str, **options: bool) -> None:
    """Declares the extremum of that name, and NumPy's other name of it."""

    def call(
        ctx: Context,
        rules: Rules,
        a: Raw,
        axis: Raw = None,
        out: Raw = None,
        keepdims: Raw = False,
        initial: Raw = None,
        where: Raw = True,
    ) -> Abstract:
        return found(name, ctx, rules, a, axis, keepdims, initial, where)

    call.__name__, call.__doc__ = name, what
    twins(getattr(np, name), getattr(jnp, name), **options)(call)
    if hasattr(np, f"a{name}"):
        twins(getattr(np, f"a{name}"), None, **options)(call)


_declare_extremum("max", _extremum, "The greatest element; ValueError where there is none.", fold=True)
_declare_extremum("min", _extremum, "The least element; ValueError where there is none.", fold=True)
_declare_extremum("nanmax", _nan_extremum, "The greatest element that is not NaN.", delegates=False)
_declare_extremum("nanmin", _nan_extremum, "The least element that is not NaN.", delegates=False)


@twins(np.ptp, jnp.ptp, delegates=False, fold=True)
def ptp(
    ctx: Context, rules: Rules, a: Raw, axis: Raw = None, out: Raw = None, keepdims: Raw = False
) -> Abstract:
    """The distance between the greatest and the least element."""
    of = source(ctx, rules, a, axis, keepdims, "ptp")
    if of.dtype == BOOL:
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"{rules.name}.ptp", types="bool"))
    check_elements(ctx, of, a, "max" if rules.is_jax else "maximum")
    ends = [_extremum_of(name, ctx, rules, of) for name in ("max", "min")]
    return reduced(ctx, rules, of, ctx.op(Subtract(), *ends))


# ---------------------------------------------------------------- truth and counts


def _truth(ctx: Context, rules: Rules, of: ReductionOperand) -> Value:
    """Which elements are true; of complex numbers JAX uses the real part only."""
    value = of.value
    if rules.is_jax and is_complex(of.dtype):
        value = ctx.op(Real(), value)
    return not_zero(ctx, value)


def _declare_quantifier(name: str, combine: HloOp, what: str) -> None:
    """Declares `any` or `all`."""

    def call(
        ctx: Context,
        rules: Rules,
        a: Raw,
        axis: Raw = None,
        out: Raw = None,
        keepdims: Raw = False,
        *,
        where: Raw = True,
    ) -> Abstract:
        of = source(ctx, rules, a, axis, keepdims, name, where)
        return reduced(ctx, rules, of, reduce(ctx, combine, of.of(_truth(ctx, rules, of))))

    call.__name__, call.__doc__ = name, what
    twins(getattr(np, name), getattr(jnp, name), fold=True)(call)


_declare_quantifier("any", Or(), "Whether some element is true.")
_declare_quantifier("all", And(), "Whether all elements are true.")


@twins(np.count_nonzero, jnp.count_nonzero, delegates=False, fold=True)
def count_nonzero(ctx: Context, rules: Rules, a: Raw, axis: Raw = None, keepdims: Raw = False) -> Abstract:
    """How many elements are not zero; without `axis`, NumPy before 2.4 gives a Python int."""
    of = source(ctx, rules, a, axis, keepdims, "count_nonzero")
    dtype = rules.index_dtype(ctx)
    count = total(ctx, of.of(ctx.convert(not_zero(ctx, of.value), dtype)))
    if _COUNT_IS_PYTHON and is_none(axis) and not rules.is_jax and not of.shape:
        return ctx.python(count, (0, of.value.type.size))
    return reduced(ctx, rules, of, count)


# ---------------------------------------------------------------- indices


def _better(ctx: Context, name: str, region: Region) -> tuple[Value, Value]:
    """The one of two (value, index) pairs that `argmax` or `argmin` keeps.

    The value of real numbers does not wait for the indices: in this form LLVM vectorises the loop.
    """
    best, best_at, new, new_at = region.params
    ahead = compare("GT" if name == "max" else "LT")(ctx, Form.NDARRAY, best, new)
    equal = ctx.op(Compare("EQ"), best, new)
    if is_floating(best.type.dtype) or is_complex(best.type.dtype):
        nan, new_nan = ctx.op(Compare("NE"), best, best), ctx.op(Compare("NE"), new, new)
        if is_complex(best.type.dtype):  # ordered by its real part, also where the other one is NaN
            ahead = ctx.op(And(), ahead, ctx.op(Compare("EQ"), new, new))
        ahead = ctx.op(Or(), ahead, nan)
        equal = ctx.op(Or(), equal, ctx.op(And(), nan, new_nan))
    stays = ctx.op(Select(), equal, ctx.op(Compare("LE"), best_at, new_at), ahead)
    kept = stays if is_complex(best.type.dtype) else ahead
    return ctx.op(Select(), kept, best, new), ctx.op(Select(), stays, best_at, new_at)


def extremum_and_index(
    ctx: Context, name: str, value: Value, axes: tuple[int, ...], where: Value | None = None
) -> tuple[Value, Value]:
    """The extremum (`max` or `min`) of the elements that count, and its index along one axis, as int64.

    Along several axes or none the index has no meaning. Complex numbers are ordered by their real parts first.
    """
    dtype, shape = value.type.dtype, value.type.shape
    narrow = INT32 if max(shape, default=0) <= np.iinfo(np.int32).max else INT64
    scalar, index = ArrayType(dtype), ArrayType(narrow)
    region = Region((scalar, index, scalar, index))
    with ctx.b.region(region):
        region.results = _better(ctx, name, region)
    worst: Any = neutral(EXTREMA[name], dtype)
    worst = complex(worst, worst) if is_complex(dtype) else worst
    if where is not None:
        value = ctx.op(Select(), where, value, ctx.broadcast(ctx.constant(worst, dtype), shape))
    if not axes:
        return value, ctx.broadcast(ctx.constant(0, INT64), shape)
    positions = ctx.op(Iota(ArrayType(narrow, shape), axes[0]))
    last = ctx.constant(max(shape[axes[0]] - 1, 0), narrow)  # wins over nothing, and is inside
    operands = [value, positions, ctx.constant(worst, dtype), last]
    best, place = ctx.b.apply(ReduceWith(axes), operands, [region]).results
    return best, ctx.convert(place, INT64)


def index_of_extremum(ctx: Context, name: str, value: Value, axis: int, where: Value | None = None) -> Value:
    """The index along `axis` of the extremum of `argmax` or `argmin`, as int64; it has no derivative."""
    fixed = ctx.op(StopGradient(), value) if value.type.dtype in FLOATS | COMPLEXES else value
    return extremum_and_index(ctx, name[3:], fixed, (axis,), where)[1]


def _arg_extremum(name: str, ctx: Context, rules: Rules, a: Raw, axis: Raw, keepdims: Raw) -> Abstract:
    """Elements that do not belong to a bounded array come last, and so lose ties."""
    lines = lines_of(ctx, rules, a, axis, name)
    given, at = lines.given, lines.axis
    if rules.is_jax and is_complex(given.dtype):
        ctx.fail(NoSuchOperation(span=ctx.span, operation=f"jnp.{name}", types=str(given.dtype)))
    keep = bool(ctx.known(keepdims, f"keepdims of {name}"))
    kept: list[Axis] = [1] * lines.rank if keep else []
    if lines.rank and not lines.is_flat:
        kept = [*given.axes[:at], *([1] if keep else []), *given.axes[at + 1 :]]
    along, where = given.axes[at], None
    text = f"attempt to get {name} of an empty sequence"
    if isinstance(along, Extent):
        where = where_of(ctx, given.shape, [along])
        none = ctx.op(Compare("EQ"), value_of_size(ctx, size_along(ctx, given, at)), ctx.constant(0, INT64))
        ctx.check(none, ValueError(text), _raise, [text])
    elif along == 0:
        ctx.raise_(ValueError(text))
    place = index_of_extremum(ctx, name, given.value, at, where)
    shape = reduced_shape(given.shape, (at,), keep) if not lines.is_flat and lines.rank else (1,) * len(kept)
    made = rules.result(ctx, ctx.convert(ctx.reshape(place, shape), rules.index_dtype(ctx)))
    return result_with(ctx, made, kept)


@twins(np.argmax, jnp.argmax, fold=True)
def argmax(
    ctx: Context, rules: Rules, a: Raw, axis: Raw = None, out: Raw = None, *, keepdims: Raw = False
) -> Abstract:
    """The index of the greatest element, in the flat array where there is no `axis`."""
    return _arg_extremum("argmax", ctx, rules, a, axis, keepdims)


@twins(np.argmin, jnp.argmin, fold=True)
def argmin(
    ctx: Context, rules: Rules, a: Raw, axis: Raw = None, out: Raw = None, *, keepdims: Raw = False
) -> Abstract:
    """The index of the least element, in the flat array where there is no `axis`."""
    return _arg_extremum("argmin", ctx, rules, a, axis, keepdims)
