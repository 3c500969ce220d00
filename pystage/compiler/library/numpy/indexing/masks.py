"""`x[mask]` with a computed mask: selections whose size only the program knows.

A selection keeps the whole array and the mask. Elementwise operations apply to all elements, reductions skip the masked
ones, and a store through the same mask selects. `x[i:j]` of unknown length is a selection with a progression of indices,
by which two of them, and arrays of static length, are aligned (`aligned`). Any other operation needs the size: the loop
around is unrolled if that makes it a constant, else the operation is refused.

The whole array is memory like any other: of `x[mask]` a copy of `x`, of `x[i:j]` that of `x` itself. So all names
of a selection see a store through one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from ....analysis.differences import polynomial
from ....diagnostics.codes_types import MaskedUse
from ....diagnostics.diagnostic import DiagnosticError
from ....diagnostics.errors import StagingError
from ....hlo.ir import Op, Value
from ....hlo.types import INT64, ArrayType, DType
from ....ops import (
    Add,
    Broadcast,
    Compare,
    Constant,
    Convert,
    Divide,
    Iota,
    Multiply,
    Reduce,
    Select,
    Subtract,
)
from ....values.boundary import Form
from ....values.lattice import Abstract, Array, Const, Ref, SliceObject, Tuple
from ...context import Context, Raw
from .gathering import Fancy, gather
from .indices import Indices, IntegerArrayIndex, MaskIndex, NewAxis
from .slices import Progression, SelectedPositions, SliceIndex, mask_of, progression
from .stores import broadcasts, fit, stored_value


class Selection(Abstract):
    """Something between an array and its elements: `x[mask]`, `x.at`, `x.at[i]`. The array doors serve it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Masked(Selection):
    """The elements of `whole` where `mask` is true, in one axis that stands where the mask's axes stood.

    `whole` is an ndarray or a `jax.Array` of `type`; `axis` is the first of its axes that the mask covers. Of a slice of
    known step the elements are at `start`, `start + step`, …, as many as `size`; `bounds` decide which a slice names.
    """

    whole: Ref | Array
    type: ArrayType
    mask: Value
    axis: int
    start: Value | None = None
    step: int = 1
    size: Value | None = None
    bounds: tuple[Array, ...] = ()

    @property
    def positions(self) -> Progression | None:
        """Where the elements of a slice are, in order."""
        if self.start is None or self.size is None:
            return None
        return Progression(self.start, self.step, self.size)

    @property
    def behind(self) -> int:
        """The axes from the one of the selected elements on, as the plain run's array has them."""
        return self.type.rank - self.axis - self.mask.type.rank + 1

    def of(self, whole: Ref | Array, type: ArrayType, axis: int) -> Masked:
        """The same selection of another array, along its `axis`."""
        return replace(self, whole=whole, type=type, axis=axis)

    @property
    def form(self) -> Form:
        """NDARRAY or JAX."""
        return Form.NDARRAY if isinstance(self.whole, Ref) else Form.JAX

    @property
    def weak(self) -> bool:
        """JAX's weak type."""
        return isinstance(self.whole, Array) and self.whole.weak

    @property
    def rank(self) -> int:
        """The number of axes that the plain run's array has."""
        return self.type.rank - self.mask.type.rank + 1

    @property
    def covered(self) -> tuple[int, ...]:
        """The axes of `whole` that the mask covers."""
        return tuple(range(self.axis, self.axis + self.mask.type.rank))

    def elements(self, ctx: Context) -> Value:
        """All elements, selected or not, as they are now."""
        return self.whole.value if isinstance(self.whole, Array) else ctx.contents(self.whole)

    def where(self, ctx: Context) -> Value:
        """The mask in the shape of `whole`."""
        return spread(ctx, self.mask, self.type.static_shape, self.axis)

    def count(self, ctx: Context) -> Array:
        """How many elements the mask selects, as a Python int."""
        if self.size is not None:
            return ctx.python(self.size, (0, self.mask.type.size))
        return mask_count(ctx, self.mask)


def spread(ctx: Context, mask: Value, shape: tuple[int, ...], axis: int) -> Value:
    """A mask over some axes of `shape`, from `axis` on, as a mask of that shape."""
    if mask.type.shape == shape:
        return mask
    axes = tuple(range(axis, axis + mask.type.rank))
    return ctx.op(Broadcast(shape, axes), mask)


def mask_count(ctx: Context, mask: Value) -> Array:
    """The number of true elements as a Python int."""
    ones = ctx.op(Convert(INT64), mask)
    total = ctx.op(Reduce(Add(), tuple(range(mask.type.rank))), ones, ctx.constant(0, INT64))
    return ctx.python(total, (0, mask.type.size))


def selection(
    whole: Ref | Array, type: ArrayType, mask: Value, axis: int, chosen: SelectedPositions | None
) -> Masked:
    """The selection by a mask, or by the mask of a slice."""
    if chosen is None or chosen.positions is None:
        return Masked(whole, type, mask, axis, bounds=() if chosen is None else chosen.bounds)
    start, step, size = chosen.positions.start, chosen.positions.step, chosen.positions.count
    return Masked(whole, type, mask, axis, start, step, size, chosen.bounds)


def refuse(ctx: Context, what: str, *selections: Raw) -> NoReturn:
    """Fails because something needs the number of elements that is selected.

    Where loops around decide it, inference begins again with these written out.
    """
    _refuse(ctx, what, [bound for each in selections if isinstance(each, Masked) for bound in each.bounds])


def _refuse(ctx: Context, what: str, bounds: Sequence[Array]) -> NoReturn:
    try:
        for bound in bounds:
            ctx.known(bound, "a bound of a slice, so that its size is known,")
    except DiagnosticError:
        pass  # what it would need is said better here
    ctx.fail(MaskedUse(span=ctx.span, what=what))


def selected_part(ctx: Context, selected: Masked, entry: SliceObject) -> Masked:
    """A slice of a slice of unknown length, along its axis."""
    positions, extent = selected.positions, selected.mask.type.size
    assert positions is not None
    inner = progression(ctx, entry, selected.count(ctx))
    first = ctx.op(Multiply(), inner.start, ctx.constant(positions.step, INT64))
    found = Progression(ctx.op(Add(), positions.start, first), positions.step * inner.step, inner.count)
    type = selected.whole.type if isinstance(selected.whole, Array) else ctx.contents(selected.whole).type
    chosen = SelectedPositions(mask_of(ctx, found, extent), found, selected.bounds)
    return selection(selected.whole, type, chosen.mask, selected.axis, chosen)


# ---------------------------------------------------------------- selections beside each other


def elementwise(
    ctx: Context, name: str, plain: Callable[..., Any], function: Callable[..., Abstract], *args: Raw
) -> Abstract:
    """`function(*args)`, which works element by element, where some arguments are `Masked`.

    `plain` is the function that the plain run calls.
    """
    masked = [a for a in args if isinstance(a, Masked)]
    first = next((m for m in masked if m.positions is not None), masked[0])
    whole = [beside(ctx, name, plain, first, arg, args) for arg in args]
    read = ctx.read(function(*whole))
    assert isinstance(read, Array)
    made = read if read.form is Form.JAX else ctx.ndarray(read.value)
    return first.of(made, read.type, read.rank - first.type.rank + first.axis)


def beside(
    ctx: Context, name: str, plain: Callable[..., Any], first: Masked, arg: Raw, args: Sequence[Raw]
) -> Raw:
    """`arg` as an array whose elements stand where those of `first` do that they are combined with."""
    if isinstance(arg, Masked) and same_selection(first, arg):
        return arg.whole
    if isinstance(arg, Masked):
        if first.positions is None or arg.positions is None:
            refuse(ctx, f"{name} on elements that different masks select", *args)
        if first.behind != arg.behind:
            refuse(ctx, f"{name} on elements that are selected along different axes", *args)
        value, weak, form, axis, positions = arg.elements(ctx), arg.weak, arg.form, arg.axis, arg.positions
    else:
        read = ctx.read(arg)
        if not isinstance(read, Array) or not read.rank:
            return arg
        axis = read.rank - first.behind
        if (axis < 0 or read.shape[axis] == 1) and first.mask.type.rank == 1:
            return arg
        if first.positions is None:
            refuse(ctx, f"{name} with another array", *args)
        value, weak, form = read.value, read.weak, read.form
        positions = from_zero(ctx, read.shape[axis])
    shapes = value.type.static_shape, first.type.static_shape
    types, forms = (value.type.dtype, first.type.dtype), (form, first.form)
    behind = any(a is first for a in args[: list(map(id, args)).index(id(arg))])

    def apply(ours: int, theirs: int) -> None:
        samples = [
            sample(shape, at, n, dtype, form)
            for shape, at, n, dtype, form in zip(shapes, (axis, first.axis), (ours, theirs), types, forms)
        ]
        plain(*(samples[::-1] if behind else samples))

    check_counts(ctx, positions.count, first.positions.count, apply, name)
    value = aligned(ctx, value, axis, positions, first.positions, first.mask.type.size)
    return ctx.jax(value, weak) if form is Form.JAX else ctx.ndarray(value)


def from_zero(ctx: Context, count: int) -> Progression:
    """All indices of an axis of `count` elements."""
    return Progression(ctx.constant(0, INT64), 1, ctx.constant(count, INT64))


def sample(shape: tuple[int, ...], axis: int, count: int, dtype: DType, form: Form) -> Any:
    """An array of `shape`, but for `count` elements along `axis`, for the plain run's functions to look at."""
    extents = (*shape[:axis], count, *shape[axis + 1 :])
    return jnp.zeros(extents, dtype) if form is Form.JAX else np.broadcast_to(np.zeros((), dtype), extents)


def check_counts(
    ctx: Context, ours: Value, theirs: Value, function: Callable[[int, int], None], name: str
) -> None:
    """The program raises what `function` raises of two numbers of elements that differ; PS221 where it does not."""
    if not polynomial(ours, theirs, ctx.intervals):
        return
    span = ctx.span

    def check(first: int, second: int) -> None:
        function(first, second)
        raise StagingError(
            (MaskedUse(span=span, what=f"{name} of one selected element and {max(first, second)}"),)
        )

    bad = ctx.op(Compare("NE"), ours, theirs)
    if not (isinstance(bad.owner, Op) and isinstance(bad.owner.kind, Constant) and not bad.owner.kind.data):
        ctx.check(bad, _raised(function)("shape mismatch"), check, [ctx.python(ours), ctx.python(theirs)])


def _raised(function: Callable[[int, int], None]) -> type[Exception]:
    """The class of what `function` raises of two numbers of elements that differ."""
    try:
        function(2, 3)
    except (TypeError, ValueError) as error:
        return type(error)
    return ValueError


def aligned(
    ctx: Context, value: Value, axis: int, positions: Progression, onto: Progression, extent: int
) -> Value:
    """The elements of `value` that are at `positions` along `axis`, at the indices `onto` of an axis of `extent` elements.

    What is elsewhere means nothing.
    """
    own = value.type.static_shape[axis]
    if own == extent and positions.start is onto.start and positions.step == onto.step:
        return value
    at = ctx.op(Iota(ArrayType(INT64, (extent,)), 0))

    def spread_number(number: Value) -> Value:
        return ctx.broadcast(number, (extent,))

    if positions.step == onto.step:
        shift = ctx.op(Subtract(), positions.start, onto.start)
        source = ctx.op(Add(), at, spread_number(shift))
    elif positions.step == -onto.step:
        source = ctx.op(Subtract(), spread_number(ctx.op(Add(), positions.start, onto.start)), at)
    else:
        distance = ctx.op(Subtract(), at, spread_number(onto.start))
        trip = ctx.op(Divide(), distance, spread_number(ctx.constant(onto.step, INT64)))
        moved = ctx.op(Multiply(), trip, spread_number(ctx.constant(positions.step, INT64)))
        source = ctx.op(Add(), moved, spread_number(positions.start))
    return gather(ctx, value, Fancy((axis,), (source,), (extent,), axis, False))


def reversed_selection(ctx: Context, selected: Masked, axes: Sequence[int], name: str) -> Masked:
    """A slice of unknown length, the last of its elements first."""
    if selected.positions is None or list(axes) != [selected.axis]:
        refuse(ctx, name, selected)
    return selected_part(ctx, selected, SliceObject(Const(None), Const(None), Const(-1)))


def same_selection(left: Masked, right: Masked) -> bool:
    """True if the two select the elements at the same indices of their arrays, in the same order."""
    shapes = left.type.static_shape, right.type.static_shape
    same = left.mask is right.mask and left.start is right.start and left.step == right.step
    return same and left.axis == right.axis and shapes[0] == shapes[1]


def masked_attribute(ctx: Context, masked: Masked, name: str) -> Abstract | None:
    """Attributes of `x[mask]` that do not depend on its elements: dtype, ndim, size, shape, and its transpose."""
    shape = masked.type.static_shape
    count = masked.count(ctx)
    kept = [Const(n) for axis, n in enumerate(shape) if axis not in masked.covered]
    match name:
        case "dtype":
            return Const(masked.type.dtype)
        case "ndim":
            return Const(masked.rank)
        case "shape":
            return Tuple((*kept[: masked.axis], count, *kept[masked.axis :]))
        case "size" if not kept:
            return count
        case "T":
            turned = ctx.getattr(masked.whole, "T")
            assert isinstance(turned, Ref | Array)
            return masked.of(turned, ArrayType(masked.type.dtype, shape[::-1]), len(shape) - 1 - masked.axis)
    return None


def length(ctx: Context, masked: Masked) -> Abstract:
    """`len(x[mask])`."""
    shape = masked_attribute(ctx, masked, "shape")
    assert isinstance(shape, Tuple)
    return shape.items[0]


# ---------------------------------------------------------------- indexing with masks


def only_mask(ctx: Context, indices: Indices) -> tuple[MaskIndex, int]:
    """The one mask of an index, and the first axis that it covers of what the rest of the index selects."""
    if indices.is_sliced and len(indices.masks) > 1:
        refuse_slices(ctx, "indexing with two slices of unknown length", indices)
    if len(indices.masks) > 1 or any(isinstance(i, IntegerArrayIndex) for i in indices.items):
        refuse_slices(ctx, "indexing with another array", indices)
    if indices.separated and not indices.is_sliced:
        refuse_slices(ctx, "indexing with an integer apart from the mask", indices)
    axis = 0
    for item in indices.items:
        if isinstance(item, MaskIndex):
            return item, axis
        axis += isinstance(item, NewAxis | SliceIndex)
    raise AssertionError("no mask among the items")


def refuse_slices(ctx: Context, what: str, indices: Indices) -> NoReturn:
    """As `refuse`, of an index."""
    _refuse(ctx, what, [bound for m in indices.masks if m.slice is not None for bound in m.slice.bounds])


def masked_choice(
    ctx: Context, target: Masked, whole: Value, value: Masked | Value, dtype: DType, jax: bool = False
) -> Value:
    """`whole`, of which `target` is a selection, with `value` there.

    The value is a scalar, an array that broadcasts along the mask's axis, as many elements as a slice has, or a
    selection that can be put beside the target; of `dtype`, if it is not that. Raises NumPy's exception in the program
    for one that has the wrong shape.
    """
    shape, mask, axis = whole.type.static_shape, target.mask, target.axis
    where = spread(ctx, mask, shape, axis)
    if isinstance(value, Masked):
        own, positions = value.type.static_shape, value.positions
        if same_selection(target, value):
            new = stored_value(ctx, value.whole, dtype, "the stored value", jax)
            return ctx.op(Select(), where, new, whole)
        if positions is None or target.positions is None or value.behind != target.behind:
            refuse(ctx, "a store through another mask", target, value)
        new = stored_value(ctx, value.whole, dtype, "the stored value", jax)
        own_axis = value.axis
    else:
        new, own = value, value.type.static_shape
        if not jax:
            _check_shape(ctx, own, shape, mask, axis, target.bounds != ())
        own_axis = len(own) - target.behind
        if own_axis < 0 or own[own_axis] == 1:
            own = (
                *own[: max(own_axis, 0)],
                *([1] * mask.type.rank if own_axis >= 0 else []),
                *own[own_axis + 1 :],
            )
            return ctx.op(Select(), where, fit(ctx, ctx.reshape(new, own), shape), whole)
        if target.positions is None:
            refuse(ctx, "a store of an array with one element for each", target)
        positions = from_zero(ctx, own[own_axis])
    if not jax:
        check_counts(ctx, positions.count, target.positions.count, _store, "a store")
    new = aligned(ctx, new, own_axis, positions, target.positions, shape[axis])
    return ctx.op(Select(), where, fit(ctx, new, shape), whole)


def _store(ours: int, theirs: int) -> None:
    np.empty(theirs, np.int8)[:] = np.zeros(ours, np.int8)


def _check_shape(
    ctx: Context, own: tuple[int, ...], shape: tuple[int, ...], mask: Value, axis: int, is_slice: bool
) -> None:
    """The program raises what NumPy raises for a value that fits no number of selected elements."""
    lead, trail = shape[:axis], shape[axis + mask.type.rank :]
    flat = not lead and not trail and not is_slice
    if (len(own) > 1) if flat else not broadcasts(own, (*lead, None, *trail)):

        def store(count: int) -> None:
            where = slice(None) if is_slice else np.ones(count, np.bool_)
            np.zeros((*lead, count, *trail), np.int8)[(slice(None),) * len(lead) + (where,)] = np.zeros(own)

        error = TypeError("wrong number of axes") if flat else ValueError("shape mismatch")
        ctx.check(None, error, store, [mask_count(ctx, mask)])
