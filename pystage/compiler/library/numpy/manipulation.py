"""Rearrangement of arrays: reshaping, transposition, reversal, insertion and removal of axes.

Of an ndarray the result is a view of the same memory wherever NumPy returns a view, else a copy; of a `jax.Array` it is a
new value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged, NoCast
from ...hlo.ir import Value
from ...hlo.types import BOOL
from ...ops import Select
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import NONE, Abstract, ArrayCell, Const, Ref, Tuple, through
from ...values.views import Flipped, Permuted, Repeated, Reshaped, View, entire, read_path
from ..context import Context, Raw
from ..kernels.layout import (
    is_computed_in_rows,
    is_contiguous,
    is_doubtful,
    keeps_order,
    note_copy,
    note_order_matters,
    reshapes_as_view,
)
from ..kernels.structures import abstract, new_list
from ..operands.bounded_arguments import whole_of
from ..operands.casting import filling_value
from ..operands.libraries import NUMPY, Rules, twins, with_views
from ..operands.nested_sequences import array_argument, is_sequence, nested
from ..registry import meaning
from ..rules.classes import class_name
from ..rules.jax import axes_of, axis_of, integer, ints, is_none
from ..rules.promote import python_type
from .bounded_shapes import flattened, in_shape, without_axes
from .indexing.bounded import bounded, bounded_attribute, flipped, number_of, refuse, transposed, viewed
from .indexing.size_checks import Axis
from .indexing.stores import cast, dtype_of, fit, shape_of, shape_text, store_through
from .subscripts.subscripts import array_setitem


def shape_known(ctx: Context, rules: Rules, a: Raw, function: str) -> tuple[int, ...]:
    """The shape of an array argument, without reading an ndarray."""
    if ctx.is_ndarray(a):
        assert isinstance(a, Ref)
        return shape_of(ctx, a)
    return rules.operand(ctx, a, function).shape


def axes_known(ctx: Context, rules: Rules, a: Raw, function: str) -> tuple[Axis, ...]:
    """The axes of an array argument: known extents and bounded ones, without reading an ndarray."""
    return a.axes if isinstance(a, Bounded) else shape_known(ctx, rules, a, function)


def rank_of(ctx: Context, rules: Rules, a: Raw, function: str) -> int:
    """The number of axes of an array argument."""
    return len(axes_known(ctx, rules, a, function))


def as_array(ctx: Context, rules: Rules, a: Raw, function: str) -> Raw:
    """A nested sequence as an array; anything else as it is."""
    if rules.is_jax or not is_sequence(ctx, a):
        return a
    return ctx.ndarray(nested(ctx, rules, a, function).value)


# ---------------------------------------------------------------- shapes


def wanted_shape(ctx: Context, rules: Rules, shape: Sequence[int], size: int) -> tuple[int, ...]:
    """A shape with -1 replaced by the remaining extent; NumPy's ValueError where the size does not fit."""
    given = tuple([int(n) for n in shape])
    if rules.is_jax and min(given, default=0) < -1:
        rules.mismatch(ctx, f"there is no shape {given}")
    try:
        return np.broadcast_to(np.False_, (size,)).reshape(given).shape
    except ValueError as error:
        rules.mismatch(ctx, str(error))


def reshaped(
    ctx: Context,
    rules: Rules,
    a: Raw,
    shape: Sequence[int],
    order: str,
    function: str,
    packed: bool = False,
) -> Abstract:
    """`a` in another shape: a view of an ndarray if NumPy can make one; `packed`: only of one without gaps."""
    own = shape_known(ctx, rules, a, function)
    wanted = wanted_shape(ctx, rules, shape, math.prod(own))
    views: list[View] = [Reshaped(wanted, packed)]
    if order == "F" and (len(own) > 1 or len(wanted) > 1):
        views = [Permuted(_reverse(own)), Reshaped(wanted[::-1], packed), Permuted(_reverse(wanted))]
    if ctx.is_ndarray(a) and not rules.is_jax:
        assert isinstance(a, Ref)
        shared = reshapes_as_view(ctx, a, wanted, order)
        if shared is False:
            made = ctx.ndarray(read_path(ctx.b, ctx.contents(a), tuple(views)))
            note_copy(ctx, a, made)
            return made
        view = through(a, tuple(views))
        return view if shared is True else ctx.alias_if(view, shared)
    given = rules.operand(ctx, a, function)
    return rules.like(ctx, given, read_path(ctx.b, given.value, tuple(views)))


def _reverse(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(reversed(range(len(shape))))


def order_of(ctx: Context, order: Raw, function: str, array: Raw = None) -> str:
    """An order argument, C or F; A and K (the order in memory) only of arrays in row-major order."""
    given = ctx.known(order, f"the order of {function}")
    if given not in ("C", "F", "A", "K"):
        ctx.raise_(ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {given!r})"))
    if given in ("A", "K") and not _is_in_order(ctx, array):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=function, argument=f"order {given!r}"))
    return "F" if given == "F" else "C"


def _is_in_order(ctx: Context, array: Raw) -> bool:
    """True if the order of an array in memory certainly is the row-major one."""
    if isinstance(array, Bounded):
        return array.rank < 2
    return not isinstance(array, Ref) or (keeps_order(ctx, array) and is_computed_in_rows(ctx, array))


@twins(np.reshape, jnp.reshape)
def reshape(
    ctx: Context, rules: Rules, a: Raw, shape: Raw, order: Raw = "C", *, copy: Raw = None
) -> Abstract:
    """The same elements in another shape; one extent may be -1."""
    copies = None if rules.is_jax else ctx.known(copy, "copy of reshape")
    made = as_array(ctx, rules, a, "reshape")
    which = order_of(ctx, order, "reshape", made)
    if isinstance(made, Bounded):
        if which != "C" or copies is not None:
            refuse(ctx, "np.reshape in another order, or with `copy`,", made)
        return in_shape(ctx, made, shape)
    given = reshaped(ctx, rules, made, ints(ctx, shape, "the shape of reshape"), which, "reshape")
    if copies is None or not isinstance(given, Ref) or not isinstance(made, Ref):
        return given
    note_order_matters(ctx, made)
    if is_doubtful(ctx, made):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.reshape", argument="copy"))
    if given.cell != made.cell and not copies:
        ctx.raise_(ValueError("Unable to avoid creating a copy while reshaping."))
    return ctx.ndarray(ctx.contents(given)) if copies else given


@twins(np.ravel, jnp.ravel, delegates=False)
def ravel(ctx: Context, rules: Rules, a: Raw, order: Raw = "C") -> Abstract:
    """All elements along one axis."""
    made = as_array(ctx, rules, a, "ravel")
    which = order_of(ctx, order, "ravel", made)
    if isinstance(made, Bounded):
        if which != "C" and made.rank > 1:
            refuse(ctx, "np.ravel in another order", made)
        return flattened(ctx, made)
    size = math.prod(shape_known(ctx, rules, made, "ravel"))
    if isinstance(made, Ref) and not rules.is_jax:
        shared = is_contiguous(ctx, made, which)
        if shared is not True:  # unlike reshape, ravel copies whatever is not contiguous
            flat = reshaped(ctx, rules, made, (size,), which, "ravel", packed=True)
            return (
                ctx.alias_if(flat, shared)
                if shared is not False and isinstance(flat, Ref)
                else detached(ctx, flat)
            )
    return reshaped(ctx, rules, made, (size,), which, "ravel", packed=True)


def detached(ctx: Context, view: Abstract) -> Abstract:
    """A copy of an ndarray that nothing else refers to."""
    return ctx.ndarray(ctx.contents(view)) if isinstance(view, Ref) else view


@twins(np.squeeze, jnp.squeeze)
def squeeze(ctx: Context, rules: Rules, a: Raw, axis: Raw = None) -> Abstract:
    """Without axes of one element: all, or those named."""
    made = as_array(ctx, rules, a, "squeeze")
    shape = axes_known(ctx, rules, made, "squeeze")
    if is_none(axis):
        axes = tuple([i for i, n in enumerate(shape) if n == 1])
    else:
        axes = axes_of(ctx, axis, len(shape), "squeeze", repeated="duplicate value in 'axis'")
        if any(isinstance(n := shape[i], int) and n != 1 for i in axes):
            text = "cannot select an axis to squeeze out which has size not equal to one"
            rules.mismatch(ctx, text)
    if isinstance(made, Bounded):
        return without_axes(ctx, made, axes, named=not is_none(axis))
    kept = tuple([n for i, n in enumerate(shape_known(ctx, rules, made, "squeeze")) if i not in axes])
    views = (Reshaped(kept),) if axes else ()  # NumPy gives the array itself where nothing goes
    return with_views(ctx, rules, made, views, "squeeze")


@twins(np.expand_dims, jnp.expand_dims, delegates=False)
def expand_dims(ctx: Context, rules: Rules, a: Raw, axis: Raw) -> Abstract:
    """With new axes of one element at these indices of the result."""
    made = as_array(ctx, rules, a, "expand_dims")
    rank = rank_of(ctx, rules, made, "expand_dims") + len(ints(ctx, axis, "the axis of expand_dims"))
    places = sorted(axes_of(ctx, axis, rank, "expand_dims"))
    return _with_ones(ctx, rules, made, places, "expand_dims")


def _with_ones(ctx: Context, rules: Rules, a: Raw, places: Sequence[int], function: str) -> Abstract:
    """`a` with axes of one element at these ascending places of the result: a view of an ndarray."""
    shape = list(a.type.shape if isinstance(a, Bounded) else shape_known(ctx, rules, a, function))
    for at in places:
        shape.insert(at, 1)
    view = Reshaped(tuple(shape))
    if isinstance(a, Bounded):
        kept = [i for i in range(len(shape)) if i not in places]
        extents = [replace(e, axis=kept[e.axis]) for e in a.extents]
        return bounded(ctx, viewed(ctx, a.whole, view), extents)
    if ctx.is_ndarray(a):
        return with_views(ctx, rules, a, (view,), function)
    given = rules.operand(ctx, a, function)
    return rules.array(ctx, ctx.reshape(given.value, view.new_shape), given.weak)


def places_of_ones(least: int, rank: int) -> Sequence[int]:
    """Where an array of `rank` axes gets axes of one element, so that there are at least so many."""
    if rank >= least:
        return ()
    return (0, 2) if (least, rank) == (3, 1) else (2,) if least == 3 and rank else range(least - rank)


def _at_least(ctx: Context, rules: Rules, arrays: tuple[Raw, ...], least: int) -> Abstract:
    made: list[Abstract] = []
    for a in arrays:
        array = as_array(ctx, rules, a, f"atleast_{least}d")
        places = places_of_ones(least, rank_of(ctx, rules, array, f"atleast_{least}d"))
        same = not places and (isinstance(array, Bounded) or (ctx.is_ndarray(array) and not rules.is_jax))
        made.append(array if same else _with_ones(ctx, rules, array, places, f"atleast_{least}d"))
    if len(made) == 1:
        return made[0]
    return new_list(ctx, made) if rules.is_jax else Tuple(tuple(made))


@twins(np.atleast_1d, jnp.atleast_1d, delegates=False)
def atleast_1d(ctx: Context, rules: Rules, *arys: Raw) -> Abstract:
    """Numbers as arrays of one element."""
    return _at_least(ctx, rules, arys, 1)


@twins(np.atleast_2d, jnp.atleast_2d, delegates=False)
def atleast_2d(ctx: Context, rules: Rules, *arys: Raw) -> Abstract:
    """Vectors as matrices of one row."""
    return _at_least(ctx, rules, arys, 2)


@twins(np.atleast_3d, jnp.atleast_3d, delegates=False)
def atleast_3d(ctx: Context, rules: Rules, *arys: Raw) -> Abstract:
    """Vectors and matrices with axes of one element around them."""
    return _at_least(ctx, rules, arys, 3)


# ---------------------------------------------------------------- order of axes


def permuted(ctx: Context, rules: Rules, a: Raw, order: Sequence[int], function: str) -> Abstract:
    """`a` with its axes in another order."""
    if isinstance(a, Bounded):
        return transposed(ctx, a, order)
    return with_views(ctx, rules, a, (Permuted(tuple(order)),), function)


@twins(np.transpose, jnp.transpose)
def transpose(ctx: Context, rules: Rules, a: Raw, axes: Raw = None) -> Abstract:
    """The axes in the order named, or reversed."""
    made = as_array(ctx, rules, a, "transpose")
    rank = rank_of(ctx, rules, made, "transpose")
    if is_none(axes):
        return permuted(ctx, rules, made, range(rank)[::-1], "transpose")
    order = axes_of(ctx, axes, rank, "transpose", repeated="repeated axis in transpose")
    if len(order) != rank:
        rules.mismatch(ctx, "axes don't match array")
    return permuted(ctx, rules, made, order, "transpose")


if hasattr(np, "permute_dims") and np.permute_dims is not np.transpose:
    twins(np.permute_dims, jnp.permute_dims)(transpose)


@twins(np.swapaxes, jnp.swapaxes)
def swapaxes(ctx: Context, rules: Rules, a: Raw, axis1: Raw, axis2: Raw) -> Abstract:
    """Two axes, swapped."""
    made = as_array(ctx, rules, a, "swapaxes")
    rank = rank_of(ctx, rules, made, "swapaxes")
    one = axis_of(ctx, axis1, rank, "swapaxes", "axis1")
    two = axis_of(ctx, axis2, rank, "swapaxes", "axis2")
    order = list(range(rank))
    order[one], order[two] = two, one
    return permuted(ctx, rules, made, order, "swapaxes")


@twins(np.moveaxis, jnp.moveaxis)
def moveaxis(ctx: Context, rules: Rules, a: Raw, source: Raw, destination: Raw) -> Abstract:
    """Some axes at other positions; the others keep their order."""
    made = as_array(ctx, rules, a, "moveaxis")
    rank = rank_of(ctx, rules, made, "moveaxis")
    here = axes_of(ctx, source, rank, "moveaxis", "source", "repeated axis in `source` argument")
    there = axes_of(
        ctx, destination, rank, "moveaxis", "destination", "repeated axis in `destination` argument"
    )
    if len(here) != len(there):
        text = "`source` and `destination` arguments must have the same number of elements"
        rules.mismatch(ctx, text)
    order = [axis for axis in range(rank) if axis not in here]
    for target, axis in sorted(zip(there, here)):
        order.insert(target, axis)
    return permuted(ctx, rules, made, order, "moveaxis")


@twins(np.matrix_transpose, jnp.matrix_transpose, delegates=False)
def matrix_transpose(ctx: Context, rules: Rules, x: Raw) -> Abstract:
    """The last two axes, swapped."""
    rank = rank_of(ctx, rules, x, "matrix_transpose")
    if rank < 2:
        rules.mismatch(ctx, f"Input array must be at least 2-dimensional, but it is {rank}")
    return permuted(ctx, rules, x, [*range(rank - 2), rank - 1, rank - 2], "matrix_transpose")


# ---------------------------------------------------------------- flips


def _flipped(ctx: Context, rules: Rules, a: Raw, axes: tuple[int, ...], function: str) -> Abstract:
    view = Flipped(axes) if axes else entire(shape_known(ctx, rules, a, function))
    return with_views(ctx, rules, a, (view,), function)


@twins(np.flip, jnp.flip)
def flip(ctx: Context, rules: Rules, m: Raw, axis: Raw = None) -> Abstract:
    """The elements in reverse along the axes (all, if none is named)."""
    if isinstance(m, Bounded):
        axes = tuple(range(m.rank)) if is_none(axis) else axes_of(ctx, axis, m.rank, "flip")
        return flipped(ctx, m, axes)
    made = as_array(ctx, rules, m, "flip")
    rank = len(shape_known(ctx, rules, made, "flip"))
    axes = tuple(range(rank)) if is_none(axis) else axes_of(ctx, axis, rank, "flip")
    if not rank:
        return rules.result(ctx, rules.operand(ctx, made, "flip").value)
    return _flipped(ctx, rules, made, axes, "flip")


@twins(np.flipud, jnp.flipud, delegates=False)
def flipud(ctx: Context, rules: Rules, m: Raw) -> Abstract:
    """The first axis in reverse."""
    if not shape_known(ctx, rules, m, "flipud"):
        rules.mismatch(ctx, "Input must be >= 1-d.")
    return _flipped(ctx, rules, m, (0,), "flipud")


@twins(np.fliplr, jnp.fliplr, delegates=False)
def fliplr(ctx: Context, rules: Rules, m: Raw) -> Abstract:
    """The second axis in reverse."""
    if len(shape_known(ctx, rules, m, "fliplr")) < 2:
        rules.mismatch(ctx, "Input must be >= 2-d.")
    return _flipped(ctx, rules, m, (1,), "fliplr")


@twins(np.rot90, jnp.rot90, delegates=False)
def rot90(ctx: Context, rules: Rules, m: Raw, k: Raw = 1, axes: Raw = (0, 1)) -> Abstract:
    """The array rotated by `k` right angles in the plane of two axes."""
    shape = shape_known(ctx, rules, m, "rot90")
    rank = len(shape)
    one, two = axes_of(ctx, axes, rank, "rot90")
    turns = integer(ctx, k, "k of rot90") % 4
    order = list(range(rank))
    order[one], order[two] = two, one
    swap = Permuted(tuple(order))
    views: dict[int, tuple[View, ...]] = {
        0: (entire(shape),),
        1: (Flipped((two,)), swap),
        2: (Flipped((one, two)),),
        3: (swap, Flipped((two,))),
    }
    return with_views(ctx, rules, m, views[turns], "rot90")


# ---------------------------------------------------------------- broadcasting


def repeated(ctx: Context, array: Raw, value: Value) -> Abstract:
    """NumPy's broadcast view of `array`, which is read-only; `value` is its contents."""
    if isinstance(array, Ref) and ctx.is_ndarray(array):
        return Ref(array.cell, (*array.path, Repeated(value.type.shape)))
    return Ref(ctx.state.new_cell(ArrayCell(value, writable=False)))


@twins(np.broadcast_to, jnp.broadcast_to, delegates=False)
def broadcast_to(ctx: Context, rules: Rules, array: Raw, shape: Raw) -> Abstract:
    """`array` repeated along axes of one element, and along new axes in front."""
    given = array_argument(ctx, rules, array, "broadcast_to")
    wanted = ints(ctx, shape, "the shape of broadcast_to")
    own = given.shape
    if len(own) > len(wanted) or any(n not in (1, m) for n, m in zip(own[::-1], wanted[::-1])):
        rules.mismatch(ctx, _no_broadcast(own, wanted))
    value = ctx.broadcast(given.value, wanted)
    return ctx.jax(value, given.weak) if rules.is_jax else repeated(ctx, array, value)


def _no_broadcast(own: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """NumPy's text for an array of shape `own` that does not broadcast to `wanted`."""
    if not wanted:
        return "cannot broadcast a non-scalar to a scalar array"
    if len(own) > len(wanted):
        return "input operand has more dimensions than allowed by the axis remapping"
    text = "operands could not be broadcast together with remapped shapes [original->remapped]"
    return f"{text}: {shape_text(own)}  and requested shape {shape_text(wanted)}"


@twins(np.broadcast_arrays, jnp.broadcast_arrays, delegates=False)
def broadcast_arrays(ctx: Context, rules: Rules, *args: Raw) -> Abstract:
    """All arrays in their common shape."""
    given = [array_argument(ctx, rules, a, "broadcast_arrays") for a in args]
    try:
        shape = np.broadcast_shapes(*[g.shape for g in given])
    except ValueError as error:
        ctx.raise_(error)
    values = [ctx.broadcast(g.value, shape) for g in given]
    if rules.is_jax:
        return new_list(ctx, [ctx.jax(v, g.weak) for v, g in zip(values, given)])
    same = [
        a if ctx.is_ndarray(a) and g.shape == shape else repeated(ctx, a, v)
        for a, g, v in zip(args, given, values)
    ]
    return Tuple(tuple(same))


# ---------------------------------------------------------------- what is known of arrays


@twins(np.shape, jnp.shape, delegates=False)
def shape_(ctx: Context, rules: Rules, a: Raw) -> Abstract:
    """The shape: a tuple of known integers."""
    if isinstance(a, Bounded):
        return bounded_attribute(ctx, a, "shape") or Const(None)
    if isinstance(a, Const) and isinstance(a.value, jax.ShapeDtypeStruct):
        return Tuple(tuple([Const(n) for n in a.value.shape]))
    made = nested(ctx, rules, a, "shape") if is_sequence(ctx, a) and not rules.is_jax else None
    return Tuple(tuple([Const(n) for n in (made.shape if made else shape_known(ctx, rules, a, "shape"))]))


@twins(np.ndim, jnp.ndim, delegates=False)
def ndim(ctx: Context, rules: Rules, a: Raw) -> Abstract:
    """The number of axes."""
    return Const(len(axes_known(ctx, rules, as_array(ctx, rules, a, "ndim"), "ndim")))


@twins(np.size, jnp.size, delegates=False)
def size(ctx: Context, rules: Rules, a: Raw, axis: Raw = None) -> Abstract:
    """The number of elements, or the extent of one axis."""
    made = as_array(ctx, rules, a, "size")
    shape = axes_known(ctx, rules, made, "size")
    if not is_none(axis):
        shape = tuple([shape[i] for i in axes_of(ctx, axis, len(shape), "size")])
    if isinstance(made, Bounded):
        return number_of(ctx, made, shape)
    return Const(math.prod([n for n in shape if isinstance(n, int)]))


@meaning(np.copyto)
def copyto(ctx: Context, dst: Raw, src: Raw, casting: Raw = "same_kind", where: Raw = True) -> Abstract:
    """Stores `src` into the ndarray `dst`, where `where` holds."""
    computed = any(isinstance(x, Bounded) for x in (dst, src, where))
    if not ctx.is_ndarray(whole_of(dst)):
        name = class_name(ctx, dst)
        ctx.raise_(TypeError(f"copyto() argument 1 must be a numpy.ndarray, not {name}"))
    everywhere = where is True or (isinstance(where, Const) and where.value is True)
    if isinstance(src, Ref) and src == dst and everywhere:
        return Const(None)  # NumPy does not even look whether the memory is read-only
    target = dtype_of(ctx, whole_of(dst))
    given = nested(ctx, NUMPY, whole_of(src), "copyto")
    rule = ctx.known(casting, "casting of copyto")
    source = np.result_type(target, python_type(given.dtype)(0)) if given.form is Form.PYTHON else given.dtype
    if not np.can_cast(source, target, rule):
        ctx.fail(NoCast(span=ctx.span, operation="np.copyto", source=str(given.dtype), target=str(target)))
    if computed:
        if not everywhere:
            refuse(ctx, "np.copyto with where", dst, src, where)
        array_setitem(ctx, abstract(dst), Const(...), src)
        return NONE
    shape = shape_of(ctx, dst)
    number = given.value if is_sequence(ctx, src) else filling_value(ctx, ctx.read(src), target, "np.copyto")
    value = fit(ctx, cast(ctx, number, target), shape)
    if not everywhere:
        mask = fit(ctx, ctx.convert(nested(ctx, NUMPY, where, "copyto").value, BOOL), shape)
        value = ctx.op(Select(), mask, value, ctx.contents(dst))
    store_through(ctx, dst, value)
    return Const(None)
