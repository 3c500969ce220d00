"""Methods of NumPy's ufuncs: `reduce`, `accumulate`, `outer`, `at`.

In: a ufunc and the arguments of the method. Common reductions call those of `np` with other defaults; the others are
programs over the ufunc, whose loop stays rolled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....diagnostics.codes_calls import NotServed, WrongArguments
from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import BOOL, INT64, DType, is_integer
from ....ops import Add, And, Maximum, Minimum, Multiply, Negate, Or, Reduce, Select, Xor
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Array, Const, Ref
from ...context import Context, Raw
from ...kernels.python_implementations import run_program
from ...kernels.structures import MISSING, abstract, known_object
from ...operands.bounded_arguments import compact_argument
from ...operands.casting import cast_number
from ...operands.libraries import NUMPY, as_ndarray
from ...operands.nested_sequences import is_sequence, nested
from ...operands.reduction_operands import reduced, source
from ...registry import method_meaning
from ...rules.jax import is_none
from ..indexing.bounded import refuse
from ..indexing.bounded_indices import has_bounded, index_of_whole
from ..indexing.bounded_operands import result_with
from ..indexing.fancy_indexing import basic_views, fancy, scatter
from ..indexing.indices import parse
from ..indexing.stores import broadcasts, dtype_of, fit, shape_of, store_through
from ..subscripts.subscripts import array_getitem, array_setitem, index_of_places, store_at_bounded
from ..ufuncs.elementwise import arrays_of, wants_arrays
from .scans import running

_REDUCTIONS: dict[np.ufunc, Any] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
_SCANS: dict[np.ufunc, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
_BITS: dict[np.ufunc, HloOp] = {np.bitwise_and: And(), np.bitwise_or: Or(), np.bitwise_xor: Xor()}
_COMBINING: dict[np.ufunc, HloOp] = {
    np.add: Add(),
    np.subtract: Add(),
    np.multiply: Multiply(),
    np.maximum: Maximum(),
    np.minimum: Minimum(),
    **_BITS,
}
"""The combiners of a scatter; it subtracts by adding the negative."""


def _binary(ctx: Context, ufunc: np.ufunc, method: str) -> None:
    """Refuses ufuncs other than those of two operands and one result, which alone have methods."""
    if ufunc.nin != 2 or ufunc.nout != 1:
        text = f"{method} only supported for binary functions"
        ctx.raise_(ValueError(text if ufunc.nout == 1 else f"{text} returning a single value"))


def _is_true(where: Raw) -> bool:
    """True for the default of `where`."""
    return where is True or (isinstance(where, Const) and where.value is True)


def _name(ufunc: np.ufunc, method: str) -> str:
    return f"np.{ufunc.__name__}.{method}"


# ---------------------------------------------------------------- reduce and accumulate


@method_meaning(np.ufunc, "reduce")
def reduce(
    ctx: Context,
    ufunc: np.ufunc,
    array: Raw,
    axis: Raw = 0,
    dtype: Raw = None,
    out: Raw = None,
    keepdims: Raw = False,
    initial: Raw = None,
    where: Raw = True,
) -> Abstract:
    """All elements along an axis combined by the ufunc, from the first on."""
    if wants_arrays(out):
        return arrays_of(ctx, reduce(ctx, ufunc, array, axis, dtype, None, keepdims, initial, where))
    _binary(ctx, ufunc, "reduce")
    reduction = _REDUCTIONS.get(ufunc)
    array = as_ndarray(ctx, array)
    if not is_none(out) and not isinstance(array, Bounded):  # which converts numbers
        array = NUMPY.array(ctx, nested(ctx, NUMPY, array, _name(ufunc, "reduce")).value)
    given = {"axis": axis, "out": out, "keepdims": keepdims}
    if reduction is not None:
        if reduction in (np.sum, np.prod):
            given["dtype"] = dtype
        elif not is_none(dtype):
            name = _name(ufunc, "reduce")
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="dtype"))
        if not is_none(initial):
            given["initial"] = initial
        if not _is_true(where):
            given["where"] = where
        return ctx.call(Const(reduction), [abstract(array)], {k: abstract(v) for k, v in given.items()})
    for argument, value in (("dtype", dtype), ("out", out), ("initial", initial)):
        if not is_none(value):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=_name(ufunc, "reduce"), argument=argument))
    if ufunc in _BITS:
        return _of_bits(ctx, ufunc, array, axis, keepdims, where)
    if not _is_true(where):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=_name(ufunc, "reduce"), argument="where"))
    return run_program(ctx, folded, [Const(ufunc), array, axis, keepdims])


def _of_bits(ctx: Context, ufunc: np.ufunc, array: Raw, axis: Raw, keepdims: Raw, where: Raw) -> Abstract:
    """A reduction by a bitwise function, as one operation."""
    name = _name(ufunc, "reduce")
    if not isinstance(array, Bounded):
        array = NUMPY.array(ctx, nested(ctx, NUMPY, array, name).value)
    of = source(ctx, NUMPY, array, axis, keepdims, name, where)
    if of.dtype.kind not in "biu":
        ctx.raise_(TypeError(f"ufunc '{ufunc.__name__}' not supported for the input types"))
    unit = _identity(ctx, ufunc, of.dtype)
    value = (
        of.value
        if of.where is None
        else ctx.op(Select(), of.where, of.value, ctx.broadcast(unit, of.extents))
    )
    return reduced(ctx, NUMPY, of, ctx.reshape(ctx.op(Reduce(_BITS[ufunc], of.axes), value, unit), of.shape))


def _identity(ctx: Context, ufunc: np.ufunc, dtype: DType) -> Value:
    """The neutral element of a bitwise function."""
    first = -1 if ufunc is np.bitwise_and and dtype != BOOL else ufunc is np.bitwise_and
    return ctx.constant(np.asarray(first).astype(dtype), dtype)


def folded(ufunc: Any, array: Any, axis: Any, keepdims: Any) -> Any:
    """The fold along one axis, from the first element on; a number is one element."""
    a = np.asarray(array)
    if a.ndim == 0 and (axis is None or axis == 0 or axis == -1):
        return a.astype(ufunc(a, a).dtype)[()]
    if axis is None:
        if a.ndim != 1 and ufunc.identity is None and ufunc is not np.fmax and ufunc is not np.fmin:
            text = "is not reorderable, so at most one axis may be specified"
            raise ValueError(f"reduction operation '{ufunc.__name__}' {text}")
        made = folded(ufunc, np.ravel(a), 0, False)
        return np.reshape(made, (1,) * a.ndim) if keepdims else made
    lines = np.moveaxis(a, axis, 0)
    if len(lines) > 0:
        result = lines[0].astype(ufunc(lines[0], lines[0]).dtype)
    elif ufunc.identity is not None:
        result = np.full(lines.shape[1:], ufunc.identity, ufunc(lines, lines).dtype)[()]
    else:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    for i in range(1, len(lines)):
        result = ufunc(result, lines[i])
    if keepdims:
        return np.expand_dims(result, axis)
    return result


@method_meaning(np.ufunc, "accumulate")
def accumulate(
    ctx: Context, ufunc: np.ufunc, array: Raw, axis: Raw = 0, dtype: Raw = None, out: Raw = None
) -> Abstract:
    """Each element combined with all before it, along one axis."""
    _binary(ctx, ufunc, "accumulate")
    scan = _SCANS.get(ufunc)
    array = as_ndarray(ctx, array)
    if scan is not None:
        options = {"axis": abstract(axis), "dtype": abstract(dtype), "out": abstract(out)}
        return ctx.call(Const(scan), [abstract(array)], options)
    for argument, value in (("dtype", dtype), ("out", out)):
        if not is_none(value):
            name = _name(ufunc, "accumulate")
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument=argument))
    given = compact_argument(ctx, NUMPY, array, _name(ufunc, "accumulate"))
    if given.rank == 0:
        ctx.raise_(TypeError("cannot accumulate on a scalar"))
    whole = NUMPY.array(ctx, given.value)
    if ufunc in (np.maximum, np.minimum) and given.dtype.kind != "c":
        (at,) = source(ctx, NUMPY, whole, axis, False, "accumulate").axes
        made = NUMPY.array(ctx, running(ctx, _COMBINING[ufunc], given.value, at))
    else:
        made = run_program(ctx, accumulated, [Const(ufunc), whole, axis])
    return result_with(ctx, made, given.axes)


def accumulated(ufunc: Any, array: Any, axis: Any) -> Any:
    """The results of `folded` on the way, in an array of their own."""
    lines = np.moveaxis(array, axis, 0)
    result = np.empty(lines.shape, ufunc(lines, lines).dtype)
    if len(lines):
        result[0] = lines[0]
    for i in range(1, len(lines)):
        result[i] = ufunc(result[i - 1], lines[i])
    return np.moveaxis(result, 0, axis).copy()


@method_meaning(np.ufunc, "reduceat")
def reduceat(
    ctx: Context, ufunc: np.ufunc, array: Raw, indices: Raw, axis: Raw = 0, dtype: Raw = None, out: Raw = None
) -> Abstract:
    """The elements of a vector combined between neighbours of `indices`; one element where the second is not greater."""
    name = _name(ufunc, "reduceat")
    for argument, value in (("dtype", dtype), ("out", out)):
        if not is_none(value):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument=argument))
    given = array if isinstance(array, Bounded) else nested(ctx, NUMPY, array, name)
    if ufunc not in _PARTS or given.rank != 1 or ctx.known(axis, f"the axis of {name}") not in (0, -1):
        why = "it combines slices of several sizes; write a loop over them"
        ctx.fail(WrongArguments(span=ctx.span, name=name, why=why))
    places = indices.type if isinstance(indices, Bounded) else nested(ctx, NUMPY, indices, name).value.type
    if places.rank != 1 or (places.dtype.kind not in "iu" and places.shape != (0,)):
        ctx.fail(
            ArgumentNotStaged(
                span=ctx.span, function=name, argument="indices other than a vector of integers"
            )
        )
    return run_program(ctx, combined_parts, [Const(ufunc), as_ndarray(ctx, array), indices])


_PARTS = (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or)
"""The ufuncs by which `reduceat` is staged."""


def combined_parts(ufunc: Any, array: Any, indices: Any) -> Any:
    """The results of `reduceat` in an array of their own."""
    lines = np.asarray(array)
    places = np.asarray(indices).astype(np.intp)
    n, count = len(lines), len(places)
    outside = (places < 0) | (places >= n)
    if outside.any():
        found = places[np.argmax(outside)]
        raise IndexError(f"index {found} out-of-bounds in {ufunc.__name__}.reduceat [0, {n})")
    wide = np.sum(lines[:0]).dtype if ufunc is np.add or ufunc is np.multiply else ufunc(lines, lines).dtype
    result = np.zeros(count, wide)
    for i in range(count):
        value = lines[places[i]].astype(wide)
        end = n if i + 1 == count else places[i + 1]
        for j in range(places[i] + 1, end):
            value = ufunc(value, lines[j])
        result[i] = value
    return result


# ---------------------------------------------------------------- outer


@method_meaning(np.ufunc, "outer")
def outer(ctx: Context, ufunc: np.ufunc, a: Raw, b: Raw, /) -> Abstract:
    """The ufunc of every element of `a` with every element of `b`; numbers count as arrays."""
    if ufunc.nin != 2:
        ctx.raise_(ValueError("outer product only supported for binary functions"))
    return run_program(ctx, combined, [Const(ufunc), a, b])


def combined(ufunc: Any, a: Any, b: Any) -> Any:
    """`a` with an axis of one element for each axis of `b`."""
    rows = np.asarray(a)
    columns = np.asarray(b)
    return ufunc(rows.reshape(rows.shape + (1,) * columns.ndim), columns)


# ---------------------------------------------------------------- at


@method_meaning(np.ufunc, "at")
def at(ctx: Context, ufunc: np.ufunc, a: Raw, indices: Raw, b: Raw = MISSING, /) -> Abstract:
    """`a[indices] = ufunc(a[indices], b)` in place, where an element that occurs twice is changed twice."""
    if isinstance(a, Bounded) and isinstance(a.whole, Ref):
        return _at_of_bounded(ctx, ufunc, a, indices, b)
    if not isinstance(a, Ref) or not ctx.is_ndarray(a):
        ctx.raise_(TypeError("first operand must be array"))
    if (b is MISSING) != (ufunc.nin == 1) or ufunc.nout != 1:
        ctx.raise_(ValueError("second operand needed for ufunc" if b is MISSING else "too many operands"))
    if ctx.settle(a).writable is not True or any(view.read_only for view in a.path):
        name, why = f"{_name(ufunc, 'at')} of read-only memory", "NumPy changes it all the same"
        instead = "change a copy, or make the array writable"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    b = b if b is MISSING else _in_type(ctx, b, dtype_of(ctx, a))
    if has_bounded(indices) or isinstance(b, Bounded):
        return _at_bounded(ctx, ufunc, a, indices, b)
    shape = shape_of(ctx, a)
    positions = parse(ctx, indices, shape, jax=False)
    if positions.is_basic or positions.masks:
        return _once(ctx, ufunc, a, indices, b)
    if b is MISSING:
        return run_program(ctx, changed_each, [Const(ufunc), a, _listed(ctx, indices)])
    combine = _COMBINING.get(ufunc)
    new = NUMPY.operand(ctx, b, _name(ufunc, "at"))
    view = Ref(a.cell, (*a.path, *basic_views(positions.items, shape)))
    whole, where = ctx.contents(view), fancy(ctx, positions)
    selected = where.result_shape(whole.type.shape)
    if not broadcasts(new.shape, selected):
        positions.check_indices()
        ctx.raise_(ValueError("array is not broadcastable to correct shape"))
    dtype = dtype_of(ctx, a)
    if combine is None or not _combines(ufunc, dtype, new.dtype):
        return run_program(ctx, changed, [Const(ufunc), a, _listed(ctx, indices), b])
    value = ctx.convert(new.value, dtype)
    value = ctx.op(Negate(), value) if ufunc is np.subtract else value
    value = fit(ctx, value, selected)
    positions.check_indices()
    store_through(ctx, view, scatter(ctx, whole, where, value, combine))
    return Const(None)


def _at_of_bounded(ctx: Context, ufunc: np.ufunc, a: Bounded, indices: Raw, b: Raw) -> Abstract:
    """`at` of a bounded array: at indices of its whole."""
    assert isinstance(a.whole, Ref)
    if b is MISSING:
        refuse(ctx, _name(ufunc, "at"), a)
    whole, inner, extents, _ = index_of_whole(ctx, a, indices)
    places = inner if not extents else index_of_places(ctx, a, inner, extents)
    if places is not None:
        return at(ctx, ufunc, whole, places, b)
    array_setitem(ctx, a, indices, ctx.call(Const(ufunc), [array_getitem(ctx, a, indices), abstract(b)]))
    return Const(None)


def _at_bounded(ctx: Context, ufunc: np.ufunc, a: Ref, indices: Raw, b: Raw) -> Abstract:
    """`at` at bounded arrays of indices, or of a bounded second operand."""
    combine = _COMBINING.get(ufunc)
    if b is MISSING or combine is None:
        refuse(ctx, _name(ufunc, "at"), indices, b)
    read = None if isinstance(b, Bounded) else NUMPY.operand(ctx, b, _name(ufunc, "at"))
    other = b.type.dtype if isinstance(b, Bounded) else read.dtype if read is not None else None
    if other is None or not _combines(ufunc, dtype_of(ctx, a), other):
        refuse(ctx, _name(ufunc, "at"), indices, b)
    value = ctx.call(Const(np.negative), [b]) if ufunc is np.subtract else b
    store_at_bounded(ctx, a, indices, value, combine)
    return Const(None)


def _in_type(ctx: Context, b: Raw, dtype: DType) -> Raw:
    """The second operand of `at`: a Python integer is one of the array's, cast."""
    if isinstance(b, Bounded) or is_sequence(ctx, b) or not is_integer(dtype):
        return b
    read = ctx.read(b)
    python = (
        type(read.value) is int
        if isinstance(read, Const)
        else read.form is Form.PYTHON and read.dtype == INT64
    )
    return Array(cast_number(ctx, read, dtype), Form.SCALAR) if python else b


def _combines(ufunc: np.ufunc, dtype: DType, other: DType) -> bool:
    """True if elements of `dtype` keep their type when combined with those of `other`."""
    if ufunc in (np.maximum, np.minimum) and dtype.kind == "c":
        return False
    try:
        return ufunc.resolve_dtypes((dtype, other, None))[2] == dtype
    except TypeError:
        return False


def _once(ctx: Context, ufunc: np.ufunc, a: Ref, indices: Raw, b: Raw) -> Abstract:
    """An index that names no element twice."""
    if b is MISSING:
        operands = [run_program(ctx, item, [a, indices])]
    else:
        operands = [run_program(ctx, item_beside, [a, indices, b]), abstract(b)]
    made = ctx.call(Const(ufunc), operands)
    array_setitem(ctx, a, indices, ctx.ndarray(made.value) if isinstance(made, Array) else made)
    return Const(None)


def item(a: Any, index: Any) -> Any:
    """`a[index]`."""
    return a[index]


def item_beside(a: Any, index: Any, b: Any) -> Any:
    """`a[index]`; ValueError where it has another number of elements than there are values for it."""
    chosen = a[index]
    if np.ndim(b) == 1 and np.ndim(chosen) == 1 and len(b) != 1 and len(b) != len(chosen):
        raise ValueError("array is not broadcastable to correct shape")
    return chosen


def _listed(ctx: Context, indices: Raw) -> Abstract:
    """The index as a tuple."""
    known = known_object(ctx, indices)
    if isinstance(known, tuple):
        return abstract(indices)
    return run_program(ctx, as_tuple, [indices])


def as_tuple(indices: Any) -> Any:
    """An index of one axis, or of several, as a tuple."""
    if isinstance(indices, tuple):
        return indices
    return (indices,)


def changed_each(ufunc: Any, a: Any, indices: Any) -> None:
    """A function of one operand, applied at one index after the other."""
    positions = np.broadcast_arrays(*indices)
    flat = [np.ravel(p) for p in positions]
    for i in range(len(flat[0])):
        place = tuple([p[i] for p in flat])
        a[place] = np.asarray(ufunc(a[place]))


def changed(ufunc: Any, a: Any, indices: Any, b: Any) -> None:
    """A function of two operands, applied at one index after the other."""
    positions = np.broadcast_arrays(*indices)
    shape = positions[0].shape + a.shape[len(positions) :]
    values = np.broadcast_to(b, shape).reshape((positions[0].size, *a.shape[len(positions) :]))
    flat = [np.ravel(p) for p in positions]
    for i in range(len(flat[0])):
        place = tuple([p[i] for p in flat])
        a[place] = np.asarray(ufunc(a[place], values[i])).astype(a.dtype)
