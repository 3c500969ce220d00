"""Structured matrices, diagonals and triangles, and coordinate grids."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .... import limits
from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....hlo.types import BOOL, INT64, ArrayType, DType
from ....ops import Add, Broadcast, Compare, Concatenate, Iota, Multiply, Select
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Const, ListCell, Ref, Tuple
from ....values.views import Diagonal, Reshaped, Strided, read_path, write_path
from ...context import Context, Raw
from ...interfaces.allocation_checks import check_memory
from ...kernels.layout import in_order
from ...kernels.python_implementations import run_program, size_depends
from ...kernels.structures import abstract, lift
from ...operands.bounded_arguments import compact_argument, filled_up, whole_of
from ...operands.casting import array_value
from ...operands.contraction import diagonal_views
from ...operands.known_calls import folded, is_computed
from ...operands.libraries import NUMPY, Rules, twins, with_views
from ...operands.reduction_operands import reduced, source, total
from ...registry import meaning
from ...rules.jax import axis_of, integer, is_none
from ..bounded_shapes import diagonal_of, flattened
from ..creation import filled, known_shape, order_argument, type_argument
from ..indexing.bounded import longer, refuse
from ..indexing.bounded_operands import result_with
from ..indexing.computed_shapes import computed_shape
from ..indexing.flat_stores import refuse_own_memory
from ..indexing.size_checks import Axis
from ..indexing.stores import dtype_of, fit, shape_of, store_through
from ..manipulation import as_array, rank_of
from ..reductions.sums import accumulator, in_type


def band(ctx: Context, rows: int, columns: int, k: int | Value, direction: str) -> Value:
    """Where `column - row` compares to `k` as `direction` says: EQ for a diagonal, LE for a triangle below it."""
    if rows * columns <= limits.CONSTANT_ELEMENTS and isinstance(k, int):
        distance = np.arange(columns) - np.arange(rows)[:, None]
        compare = {"EQ": np.equal, "LE": np.less_equal, "GE": np.greater_equal}[direction]
        return ctx.constant(compare(distance, k), BOOL)
    at = ArrayType(INT64, (rows, columns))
    row, column = ctx.op(Iota(at, 0)), ctx.op(Iota(at, 1))
    by = ctx.constant(k, INT64) if isinstance(k, int) else k
    shifted = row if k == 0 else ctx.op(Add(), row, ctx.broadcast(by, (rows, columns)))
    return ctx.op(Compare(direction), column, shifted)


def _pattern(
    name: str, direction: str, ctx: Context, rules: Rules, rows: Raw, columns: Raw, k: Raw, dtype: Raw
) -> Abstract:
    wanted = type_argument(ctx, rules, dtype, name, rules.default_float(ctx))
    sizes = [abstract(rows), abstract(rows if is_none(columns) else columns)]
    if name == "tri":  # which has no row where there would be less than none
        sizes = [
            ctx.call(Const(max), [n, Const(0)]) if is_computed(ctx, n) else _none_less(ctx, n) for n in sizes
        ]
    shape = Tuple(tuple(sizes))
    computed = computed_shape(ctx, shape, name)
    extents = known_shape(ctx, shape, name) if computed is None else computed.extents
    offset = ctx.convert(ctx.read(k).value, INT64) if is_computed(ctx, k) else integer(ctx, k, f"k of {name}")
    n, m = extents
    made = rules.array(ctx, ctx.convert(band(ctx, n, m, offset, direction), wanted))
    return made if computed is None else computed.of(ctx, made)


def _none_less(ctx: Context, size: Raw) -> Abstract:
    return Const(max(integer(ctx, size, "the size of tri"), 0))


@twins(np.eye, jnp.eye, delegates=False)
def eye(
    ctx: Context,
    rules: Rules,
    N: Raw,
    M: Raw = None,
    k: Raw = 0,
    dtype: Raw = None,
    order: Raw = "C",
) -> Abstract:
    """Ones on the `k`-th diagonal."""
    which = order_argument(ctx, rules, order, "eye")
    return in_order(ctx, _pattern("eye", "EQ", ctx, rules, N, M, k, dtype), which)


@twins(np.identity, jnp.identity, delegates=False)
def identity(ctx: Context, rules: Rules, n: Raw, dtype: Raw = None) -> Abstract:
    """The unit matrix."""
    return _pattern("identity", "EQ", ctx, rules, n, None, 0, dtype)


@twins(np.tri, jnp.tri, delegates=False)
def tri(ctx: Context, rules: Rules, N: Raw, M: Raw = None, k: Raw = 0, dtype: Raw = None) -> Abstract:
    """Ones on and below the `k`-th diagonal."""
    return _pattern("tri", "LE", ctx, rules, N, M, k, dtype)


def _triangle(name: str, direction: str, ctx: Context, rules: Rules, m: Raw, k: Raw) -> Abstract:
    given = compact_argument(ctx, rules, m, name)
    shape = given.shape
    if not shape or (len(shape) == 1 and rules.is_jax):
        ctx.raise_(ValueError(f"Argument to jax.numpy.{name} must be at least 2D"))
    rows, columns = (shape[0], shape[0]) if len(shape) == 1 else shape[-2:]
    axes = given.axes * 2 if len(shape) == 1 else given.axes
    mask = band(ctx, rows, columns, integer(ctx, k, f"k of {name}"), direction)
    whole = (*shape[:-2], rows, columns)
    last = (len(whole) - 2, len(whole) - 1)
    mask = mask if len(whole) == 2 else ctx.op(Broadcast(whole, last), mask)
    value = ctx.op(Select(), mask, ctx.broadcast(given.value, whole), filled(ctx, 0, whole, given.dtype))
    return result_with(ctx, rules.array(ctx, value, given.weak), axes)


@twins(np.tril, jnp.tril, delegates=False)
def tril(ctx: Context, rules: Rules, m: Raw, k: Raw = 0) -> Abstract:
    """The elements on and below the `k`-th diagonal; the others are 0."""
    return _triangle("tril", "LE", ctx, rules, m, k)


@twins(np.triu, jnp.triu, delegates=False)
def triu(ctx: Context, rules: Rules, m: Raw, k: Raw = 0) -> Abstract:
    """The elements on and above the `k`-th diagonal; the others are 0."""
    return _triangle("triu", "GE", ctx, rules, m, k)


# ---------------------------------------------------------------- diagonals


def two_axes(ctx: Context, rank: int, first: Raw, second: Raw, name: str) -> tuple[int, int]:
    """Two axes of an array of `rank`, which are not the same."""
    if rank < 2:
        ctx.raise_(ValueError("diag requires an array of at least two dimensions"))
    one, two = axis_of(ctx, first, rank, name), axis_of(ctx, second, rank, name)
    if one == two:
        ctx.raise_(ValueError("axis1 and axis2 cannot be the same"))
    return one, two


@twins(np.diagonal, jnp.diagonal, delegates=False)
def diagonal(ctx: Context, rules: Rules, a: Raw, offset: Raw = 0, axis1: Raw = 0, axis2: Raw = 1) -> Abstract:
    """A diagonal of two axes, as a read-only view of an ndarray."""
    return _diagonal(ctx, rules, a, offset, axis1, axis2, "diagonal")


def _diagonal(
    ctx: Context, rules: Rules, a: Raw, offset: Raw, axis1: Raw, axis2: Raw, name: str, is_read: bool = False
) -> Abstract:
    """A diagonal of two axes; `is_read`: the caller reads its elements only."""
    a = as_array(ctx, rules, a, name)
    rank = rank_of(ctx, rules, a, name)
    at = integer(ctx, offset, f"the offset of {name}")
    if not rules.is_jax and not -(2**31) <= at < 2**31:
        try:
            (np.trace if name == "trace" else np.diagonal)(np.zeros((1, 1)), at)
        except OverflowError as error:
            ctx.raise_(error)
    first, second = two_axes(ctx, rank, axis1, axis2, name)
    if isinstance(a, Bounded):
        return diagonal_of(ctx, a, at, first, second, is_read)
    return with_views(ctx, rules, a, diagonal_views(rank, at, first, second, frozen=not is_read), name)


@twins(np.trace, jnp.trace, delegates=False)
def trace(
    ctx: Context,
    rules: Rules,
    a: Raw,
    offset: Raw = 0,
    axis1: Raw = 0,
    axis2: Raw = 1,
    dtype: Raw = None,
    out: Raw = None,
) -> Abstract:
    """The sum of a diagonal."""
    on = _diagonal(ctx, rules, a, offset, axis1, axis2, "trace", is_read=True)
    of = source(ctx, rules, on, -1, False, "trace")
    of = in_type(ctx, rules, of, dtype, "trace", accumulator(ctx, rules, of.dtype))
    return reduced(ctx, rules, of, total(ctx, of))


def matrix_of(ctx: Context, value: Value, k: int) -> Value:
    """The square matrix with a vector on its `k`-th diagonal."""
    (n,) = value.type.shape
    size = n + abs(k)
    zeros = filled(ctx, 0, (size, size), value.type.dtype)
    return write_path(ctx.b, zeros, (Diagonal(k, False),), value)


@twins(np.diag, jnp.diag, delegates=False)
def diag(ctx: Context, rules: Rules, v: Raw, k: Raw = 0) -> Abstract:
    """Of a vector the matrix with this diagonal, of a matrix its diagonal."""
    v = as_array(ctx, rules, v, "diag")
    rank = rank_of(ctx, rules, v, "diag")
    offset = integer(ctx, k, "k of diag")
    if rank == 2:
        return diagonal(ctx, rules, v, offset)
    if rank != 1:
        ctx.raise_(ValueError("Input must be 1- or 2-d."))
    given = compact_argument(ctx, rules, v, "diag")
    square = [longer(ctx, given.axes[0], abs(offset))] * 2
    return result_with(ctx, rules.array(ctx, matrix_of(ctx, given.value, offset), given.weak), square)


@twins(np.diagflat, jnp.diagflat, delegates=False)
def diagflat(ctx: Context, rules: Rules, v: Raw, k: Raw = 0) -> Abstract:
    """The matrix with all elements of `v` on its `k`-th diagonal."""
    vector = ctx.call(Const(rules.module.ravel), [abstract(v)])
    return diag(ctx, rules, vector, k)


@meaning(np.fill_diagonal)
def fill_diagonal(ctx: Context, a: Raw, val: Raw, wrap: Raw = False) -> Abstract:
    """Stores into the main diagonal of an ndarray, in place."""
    if isinstance(a, Bounded) or isinstance(val, Bounded):
        array = whole_of(a)
        if isinstance(array, Ref):
            refuse_own_memory(ctx, val, array, "np.fill_diagonal")
        return run_program(ctx, filled_diagonal, (a, val, wrap))
    if not ctx.is_ndarray(a):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.fill_diagonal", argument="array"))
    shape = shape_of(ctx, a)
    if len(shape) < 2:
        ctx.raise_(ValueError("array must be at least 2-d"))
    if ctx.known(wrap, "wrap of fill_diagonal") and len(shape) == 2 and shape[0] > shape[1] + 1:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.fill_diagonal", argument="wrap"))
    if len(shape) > 2 and len(set(shape)) > 1:
        ctx.raise_(ValueError("All dimensions of input must be of equal length"))
    size = min(shape)
    step = sum([math.prod(shape[i + 1 :]) for i in range(len(shape))])
    limit = (size - 1) * step + 1 if size else 0
    views = (Reshaped((math.prod(shape),)), Strided((0,), (limit,), (step,)))
    target = Ref(a.cell, (*a.path, *views))
    refuse_own_memory(ctx, val, a, "np.fill_diagonal")
    new = array_value(ctx, val, dtype_of(ctx, a), "the stored value")
    if not new.type.size:
        return lift(ctx, None)
    if new.type.rank:
        new = _recycled(ctx, ctx.reshape(new, (new.type.size,)), size)
    store_through(ctx, target, fit(ctx, new, (size,)), memory="underlying array")
    return lift(ctx, None)


def filled_diagonal(a: Any, val: Any, wrap: Any) -> None:
    """As `np.fill_diagonal`, where the run knows the size of the array or of the values."""
    if isinstance(a, jax.Array) or wrap:
        size_depends("np.fill_diagonal of a jax.Array, or with wrap", "store at the indices")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    count = a.shape[0]
    for extent in a.shape[1:]:
        if a.ndim > 2 and extent != count:
            raise ValueError("All dimensions of input must be of equal length")
        count = min(count, extent)
    places, values = np.arange(count), np.asarray(val, a.dtype)
    if values.ndim == 0:
        a[(places,) * a.ndim] = values
    elif values.size > 0:
        a[(places,) * a.ndim] = np.ravel(values)[places % values.size]


def _recycled(ctx: Context, value: Value, size: int) -> Value:
    """A vector repeated or cut to `size` elements."""
    (own,) = value.type.shape
    times = -(-size // own)
    flat = ctx.reshape(ctx.op(Broadcast((times, own), (1,)), value), (times * own,))
    return read_path(ctx.b, flat, (Strided((0,), (size,), (1,)),))


# ---------------------------------------------------------------- grids


@twins(np.meshgrid, jnp.meshgrid, delegates=False)
def meshgrid(
    ctx: Context, rules: Rules, *xi: Raw, copy: Raw = True, sparse: Raw = False, indexing: Raw = "xy"
) -> Abstract:
    """The coordinates of the points of a grid, one array for each axis."""
    which = ctx.known(indexing, "indexing of meshgrid")
    if which not in ("xy", "ij"):
        ctx.raise_(ValueError("Valid values for `indexing` are 'xy' and 'ij'."))
    if ctx.known(copy, "copy of meshgrid") is not True:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="meshgrid", argument="copy"))
    vectors = [flattened(ctx, x) if isinstance(x, Bounded) else x for x in xi]
    given = [compact_argument(ctx, rules, x, "meshgrid") for x in vectors]
    axes = list(range(len(given)))
    if which == "xy" and len(given) > 1:
        axes[:2] = [1, 0]
    whole = [0] * len(given)
    extents: list[Axis] = [*axes]
    for axis, grid in zip(axes, given):
        whole[axis] = grid.value.type.size
        extents[axis] = grid.axes[0] if grid.extents else whole[axis]
    thin = ctx.known(sparse, "sparse of meshgrid")
    made: list[Abstract] = []
    for grid, axis in zip(given, axes):
        own = tuple([n if i == axis else 1 for i, n in enumerate(whole)])
        value = ctx.reshape(grid.value, own)
        array = rules.array(ctx, value if thin else ctx.broadcast(value, tuple(whole)), grid.weak)
        made.append(
            result_with(ctx, array, [n if i == axis or not thin else 1 for i, n in enumerate(extents)])
        )
    return Ref(ctx.state.new_cell(ListCell(tuple(made)))) if rules.is_jax else Tuple(tuple(made))


@folded(np.diag_indices, "n", "ndim")
def diag_indices(n: Any, ndim: Any = 2) -> Any:
    """The indices of a main diagonal."""
    return (np.arange(n),) * ndim


@folded(np.tril_indices, "n", "k", "m")
def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """The indices of what stands at and below a diagonal."""
    return np.nonzero(np.tri(n, m, k, bool))


@folded(np.triu_indices, "n", "k", "m")
def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    """The indices of what stands at and above a diagonal."""
    return np.nonzero(~np.tri(n, m, k - 1, bool))


def _known_only(function: Any) -> None:
    """Declares a function of sizes, all of which must be known: it is called while compiling."""

    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        name = f"an argument of {function.__name__}"
        known = [ctx.known(a, name) for a in args]
        try:
            return lift(ctx, function(*known, **{k: ctx.known(v, name) for k, v in kwargs.items()}))
        except (TypeError, ValueError) as error:
            ctx.raise_(error)

    meaning(function)(call)


for _function in (
    np.indices,
    np.logspace,
    np.geomspace,
    np.broadcast_shapes,
):
    _known_only(_function)


@twins(np.vander, None, delegates=False)
def vander(ctx: Context, rules: Rules, x: Raw, N: Raw = None, increasing: Raw = False) -> Abstract:
    """The matrix of the powers of `x`."""
    given = compact_argument(ctx, rules, x, "vander")
    if given.rank != 1:
        ctx.raise_(ValueError("x must be a one-dimensional array or sequence."))
    (n,) = given.shape
    if is_none(N) and isinstance(x, Bounded):
        refuse(ctx, "np.vander of as many columns as elements", x)
    columns = n if is_none(N) else integer(ctx, N, "N of vander")
    dtype: DType = np.promote_types(given.dtype, np.int64)
    check_memory(ArrayType(dtype, (n, max(columns, 0))))
    base = ctx.convert(
        filled_up(ctx, given, 1), dtype
    )  # powers of what does not belong to it may be infinite
    powers = [filled(ctx, 1, (n,), dtype), base]
    while len(powers) < columns:
        powers.append(ctx.op(Multiply(), powers[-1], base))
    powers = powers[:columns]
    if not ctx.known(increasing, "increasing of vander"):
        powers.reverse()
    if not powers:
        value = filled(ctx, 0, (n, 0), dtype)
    else:
        value = ctx.op(Concatenate(1), *[ctx.reshape(p, (n, 1)) for p in powers])
    return result_with(ctx, NUMPY.array(ctx, value), [given.axes[0], columns])
