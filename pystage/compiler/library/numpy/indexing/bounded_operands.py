"""Alignment of bounded operands: elementwise work, products and stores on wholes.

Elements that are combined must be at the same positions of arrays of one shape. For each axis, counted from the last as
in broadcasting, these positions are chosen (`Anchor`) and the operands are moved to them; the program raises what the
plain run's function raises for sizes that differ.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from .....records import dataclass
from .... import ops
from ....hlo.ir import Value
from ....hlo.types import INT64, ArrayType
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent, Progression
from ....values.lattice import Abstract, Array, Tuple
from ...context import Context, Raw
from .bounded import (
    bounded,
    compact,
    count,
    elements,
    from_zero,
    in_order,
    mask_along,
    rank_in_mask,
    same_number,
    shape,
    size,
    taken,
    where_of,
    with_masks,
)
from .size_checks import AlignedOperand, Axis, SizeChecks, operand, sample
from .slices import stride, times


@dataclass(frozen=True, slots=True)
class Anchor:
    """The common positions of elements along an axis: those of `extent`, or all of `size`."""

    size: int
    extent: Extent | None
    owner: int
    """The operand with that extent."""

    def same(self, ctx: Context, axis: Axis, size: int) -> bool:
        """True if the value along `axis`, of a whole of this size, is at the anchor already."""
        if isinstance(axis, int) or self.extent is None:
            return isinstance(axis, int) and self.extent is None
        return size == self.size and same_places(ctx, axis, self.extent)


def same_places(ctx: Context, a: Extent, b: Extent) -> bool:
    """True for the same positions in the same order."""
    if a.mask is not None or b.mask is not None:
        return a.mask is b.mask
    alike = same_number(ctx, a.start, b.start) and same_number(ctx, a.size, b.size)
    return alike and same_step(ctx, a.step, b.step)


def same_step(ctx: Context, a: int | Value, b: int | Value) -> bool:
    """True for steps that are certainly equal."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and a == b
    return same_number(ctx, a, b)


_Anchored = tuple[list[Raw], list[AlignedOperand | None], dict[int, Anchor]]
"""Arguments, arrays among them as operands, and their anchors."""


def elementwise(
    ctx: Context,
    name: str,
    plain: Callable[..., Any],
    function: Callable[..., Abstract],
    *args: Raw,
    apart: int | None = None,
) -> Abstract:
    """`function(*args)`, which works elementwise, where some arguments are `Bounded`.

    `plain` is the function that the plain run calls. `apart`: an axis along which the elements of one operand do not meet
    those of another, and which none has bounded.
    """
    if not any(isinstance(arg, Bounded) for arg in args):
        return function(*args)
    masked = [with_masks(ctx, arg) if isinstance(arg, Bounded) else arg for arg in args]
    found = _anchored(ctx, masked, apart, compacted=False) or _anchored(ctx, args, apart)
    assert found is not None
    wholes, anchors = _at_anchors(ctx, name, plain, found)
    with computing_for(ctx, anchors):
        made = function(*wholes)
    return result(ctx, made, anchors)


def broadcasting(*samples: Any) -> Any:
    """A function of arrays that raises what ufuncs raise for shapes that do not broadcast."""
    return np.nditer(samples, ["zerosize_ok"]) if len(samples) > 1 else samples


def computing_for(ctx: Context, anchors: Mapping[int, Anchor]) -> AbstractContextManager[None]:
    """A `with` block that computes on wholes whose elements are at the anchors."""
    return ctx.computing_for(functools.partial(_members, ctx, anchors))


def own_anchors(array: Bounded) -> dict[int, Anchor]:
    """The anchors at the positions of the elements of a bounded array."""
    return {array.rank - e.axis: Anchor(array.bound(e), e, 0) for e in array.extents}


def _members(ctx: Context, anchors: Mapping[int, Anchor], shape: tuple[int, ...]) -> Value | None:
    """The elements that belong to the result, of `shape`, of aligned operands."""
    extents = [
        replace(anchor.extent, axis=len(shape) - back)
        for back, anchor in anchors.items()
        if anchor.extent is not None and len(shape) >= back and shape[-back] == anchor.size
    ]
    return where_of(ctx, shape, extents) if extents else None


def placed(
    ctx: Context, name: str, plain: Callable[..., Any], args: Sequence[Raw], apart: int | None = None
) -> tuple[list[Raw], list[Extent]]:
    """The arguments as aligned wholes, and the bounded axes, counted from the last.

    `apart`: as for `elementwise`.
    """
    found = _anchored(ctx, args, apart)
    assert found is not None
    wholes, anchors = _at_anchors(ctx, name, plain, found)
    return wholes, [replace(a.extent, axis=-back) for back, a in anchors.items() if a.extent is not None]


def result(ctx: Context, made: Abstract, anchors: dict[int, Anchor]) -> Abstract:
    """The result of aligned operands, with its bounded axes."""
    if isinstance(made, Tuple):
        return Tuple(tuple([result(ctx, item, anchors) for item in made.items]), made.cls)
    extents: list[Extent] = []
    read = ctx.read(made)
    assert isinstance(read, Array)
    for back, anchor in anchors.items():
        if anchor.extent is not None:
            extents.append(replace(anchor.extent, axis=read.rank - back))
    if not extents:
        return made
    return in_order(ctx, bounded(ctx, read if read.form is Form.JAX else ctx.ndarray(read.value), extents))


def _anchored(
    ctx: Context, args: Sequence[Raw], apart: int | None, compacted: bool = True
) -> _Anchored | None:
    """The arguments and their anchors; compact where they must be, or None if not `compacted`."""
    given = list(args)
    while True:
        operands = [operand(ctx, arg) for arg in given]
        anchors: dict[int, Anchor] = {}
        loose: set[int] = set()
        depth = max([len(o.axes) for o in operands if o is not None], default=0)
        for back in range(1, depth + 1):
            if apart == depth - back:
                continue
            at = [(i, o) for i, o in enumerate(operands) if o is not None and len(o.axes) >= back]
            _anchor(ctx, anchors, back, at, loose)
        if not loose:
            return given, operands, anchors
        if not compacted:
            return None
        for i in loose:
            given[i] = compact(ctx, given[i])


def _anchor(
    ctx: Context, anchors: dict[int, Anchor], back: int, at: list[tuple[int, AlignedOperand]], loose: set[int]
) -> None:
    """Chooses the anchor of one axis; adds to `loose` the operands that must be compacted for it."""
    extents = [(i, o, a) for i, o in at if isinstance(a := o.axes[-back], Extent)]
    if not extents:
        return
    first, owner, extent = next(((i, o, a) for i, o, a in extents if a.progression is not None), extents[0])
    anchor = Anchor(owner.extent(back), extent, first)
    known = [a for _, o in at if isinstance(a := o.axes[-back], int)]
    several = [n for n in known if n != 1]
    if not several and all(anchor.same(ctx, a, o.extent(back)) for _, o, a in extents):
        anchors[back] = anchor
        return
    loose |= {i for i, _, a in extents if a.progression is None}
    anchors[back] = Anchor(several[0], None, -1) if several else anchor


def _at_anchors(
    ctx: Context, name: str, plain: Callable[..., Any], found: _Anchored
) -> tuple[list[Raw], dict[int, Anchor]]:
    """The arguments as wholes whose elements are at the anchors."""
    given, operands, anchors = found
    sizes = SizeChecks(ctx, name, plain, operands)
    wholes = [
        arg if o is None else _beside(ctx, arg, o, anchors, sizes)
        for arg, o in zip(given, operands, strict=True)
    ]
    return wholes, anchors


def _beside(ctx: Context, arg: Raw, o: AlignedOperand, anchors: dict[int, Anchor], sizes: SizeChecks) -> Raw:
    """The argument with its elements at the anchors; itself where they are."""
    value = o.value
    for back, anchor in anchors.items():
        value = _placed(ctx, value, o, back, anchor, sizes)
    if value is o.value and not isinstance(arg, Bounded):
        return arg
    return ctx.jax(value, o.weak) if o.form is Form.JAX else ctx.ndarray(value)


def _placed(
    ctx: Context, value: Value, o: AlignedOperand, back: int, anchor: Anchor, sizes: SizeChecks
) -> Value:
    """`value`, of the operand `o`, with its elements along one axis at the anchor."""
    if len(o.axes) < back:
        return value
    axis, own = o.axes[-back], o.extent(back)
    if anchor.same(ctx, axis, own) or axis == 1:
        return value
    if isinstance(axis, int):
        if anchor.extent is None:
            return value
        places: Progression | None = from_zero(ctx, axis)
    else:
        places = axis.progression
    assert places is not None
    at = o.position(back)
    if anchor.extent is None:
        once = sizes.check(places.count, ctx.constant(anchor.size, INT64), broadcasts=True)
        return aligned(ctx, value, at, places, from_zero(ctx, anchor.size), anchor.size, once)
    onto = anchor.extent.progression
    if onto is None:
        raise AssertionError("only what is stored is put at the places of a mask")
    sizes.check(places.count, onto.count)
    return aligned(ctx, value, at, places, onto, anchor.size)


def together(
    ctx: Context, name: str, plain: Callable[..., Any], args: Sequence[Raw], axes: Sequence[int]
) -> list[AlignedOperand]:
    """Two arrays, aligned along one axis of each, which are combined elementwise there."""
    masked = [with_masks(ctx, arg) if isinstance(arg, Bounded) else arg for arg in args]
    if _are_masked_alike(masked, axes):
        args = masked
    operands = [operand(ctx, arg) for arg in args]
    left, right = [o for o in operands if o is not None]
    ours, theirs = [o.axes[axis] for o, axis in zip((left, right), axes)]
    sizes = SizeChecks(ctx, name, plain, operands)
    if isinstance(ours, int) and isinstance(theirs, int):
        return [left, right]
    if isinstance(ours, Extent) and isinstance(theirs, Extent):
        both = [o.value.type.shape[axis] for o, axis in zip((left, right), axes)]
        if both[0] == both[1] and same_places(ctx, ours, theirs):
            return [left, right]
    loose = [isinstance(axis, Extent) and axis.progression is None for axis in (ours, theirs)]
    if any(loose):
        args = [compact(ctx, arg) if is_loose else arg for arg, is_loose in zip(args, loose)]
        return together(ctx, name, plain, args, axes)
    if isinstance(ours, Extent) and isinstance(theirs, int):
        return [_exact(ctx, left, axes[0], theirs, sizes), right]
    onto = ours.progression if isinstance(ours, Extent) else from_zero(ctx, ours)
    assert isinstance(theirs, Extent) and theirs.progression is not None and onto is not None
    sizes.check(theirs.progression.count, onto.count)
    line = left.value.type.shape[axes[0]]
    value = aligned(ctx, right.value, axes[1], theirs.progression, onto, line)
    placed = [*right.axes]
    placed[axes[1]] = ours
    return [left, replace(right, value=value, axes=tuple(placed))]


def _are_masked_alike(args: Sequence[Raw], axes: Sequence[int]) -> bool:
    """True for two arrays whose elements along these axes one mask selects."""
    along = [arg.axes[at] for arg, at in zip(args, axes) if isinstance(arg, Bounded)]
    masks = [extent.mask for extent in along if isinstance(extent, Extent)]
    return len(masks) == len(args) and masks[0] is not None and masks[0] is masks[1]


def _exact(ctx: Context, o: AlignedOperand, axis: int, size: int, sizes: SizeChecks) -> AlignedOperand:
    """An operand that must have `size` elements along a bounded axis."""
    extent = o.axes[axis]
    assert isinstance(extent, Extent) and extent.progression is not None
    sizes.check(extent.progression.count, ctx.constant(size, INT64))
    value = aligned(ctx, o.value, axis, extent.progression, from_zero(ctx, size), size)
    return replace(o, value=value, axes=(*o.axes[:axis], size, *o.axes[axis + 1 :]))


def result_with(ctx: Context, made: Abstract, axes: Sequence[Axis]) -> Abstract:
    """The result of an operation on wholes, with these axes."""
    extents = [replace(axis, axis=i) for i, axis in enumerate(axes) if isinstance(axis, Extent)]
    if not extents:
        return made
    read = ctx.read(made)
    assert isinstance(read, Array)
    return in_order(ctx, bounded(ctx, read if read.form is Form.JAX else ctx.ndarray(read.value), extents))


def only_element(ctx: Context, array: Bounded, function: Callable[[Any], object]) -> Array:
    """The single element of an array with axes; the program raises what `function` raises for another size."""
    dtype, form, rank = array.type.dtype, array.form, array.rank

    def plain(*extents: int) -> None:
        function(sample(extents, dtype, form))

    try:
        plain(*[2] * rank)
    except Exception as error:
        raised = TypeError() if isinstance(error, TypeError) else ValueError()
    own = shape(ctx, array)
    several = ctx.op(ops.Compare("NE"), size(ctx, array).value, ctx.constant(1, INT64))
    ctx.check(several, raised, plain, own)
    array = compact(ctx, array)
    value, ones = elements(ctx, array), (1,) * rank
    if array.type.size:
        value = ctx.op(ops.Slice((0,) * rank, ones, ones), value)
    else:
        value = ctx.broadcast(ctx.constant(0, dtype), ones)
    return Array(value, array.form, array.weak)


def aligned(
    ctx: Context,
    value: Value,
    axis: int,
    places: Progression,
    onto: Progression,
    size: int,
    once: Value | None = None,
) -> Value:
    """The elements of `value` at `places` along `axis`, moved to the positions `onto` of an axis of `size` elements.

    What is elsewhere means nothing. Where `once` holds, the first of them is everywhere.
    """
    own = value.type.shape[axis]
    alike = same_step(ctx, places.step, onto.step)
    if own == size and places.start is onto.start and alike and once is None:
        return value
    if not own:
        shape = value.type.shape
        nothing = ctx.constant(0, value.type.dtype)
        return ctx.broadcast(nothing, (*shape[:axis], size, *shape[axis + 1 :]))
    if alike or (isinstance(places.step, int) and isinstance(onto.step, int) and places.step == -onto.step):
        found = _moved(ctx, value, axis, places, onto, size, not alike)
        return found if once is None else _or_first(ctx, once, value, axis, places, found)
    at = ctx.op(ops.Iota(ArrayType(INT64, (size,)), 0))

    def everywhere(number: Value) -> Value:
        return ctx.broadcast(number, (size,))

    distance = ctx.op(ops.Subtract(), at, everywhere(onto.start))
    trip = distance
    if onto.step != 1:
        trip = ctx.op(ops.Divide(), distance, everywhere(stride(ctx, onto.step)))
    source = ctx.op(ops.Add(), times(ctx, trip, places.step), everywhere(places.start))
    if once is not None:
        source = ctx.op(ops.Select(), everywhere(once), everywhere(places.start), source)
    return taken(ctx, value, axis, source)


def _moved(
    ctx: Context, value: Value, axis: int, places: Progression, onto: Progression, size: int, turned: bool
) -> Value:
    """The same as `aligned`, where the steps differ at most in sign: all elements move by the same distance, or in reverse.

    A part of the padded array costs a CPU much less than elements at computed places.
    """
    shape = value.type.shape
    own = shape[axis]
    if not turned:
        shift = ctx.op(ops.Subtract(), places.start, onto.start)
    else:
        value = ctx.op(ops.Reverse((axis,)), value)
        ends = ctx.op(ops.Add(), places.start, onto.start)
        shift = ctx.op(ops.Subtract(), ctx.constant(own - 1, INT64), ends)
    around = tuple([size if i == axis else 0 for i in range(len(shape))])
    nothing = ctx.constant(0, value.type.dtype)
    padded = ctx.op(ops.Pad(around, around, (0,) * len(shape)), value, nothing)
    zero = ctx.constant(0, INT64)
    begin = ctx.op(ops.Add(), shift, ctx.constant(size, INT64))
    starts = [begin if i == axis else zero for i in range(len(shape))]
    return ctx.op(ops.DynamicSlice((*shape[:axis], size, *shape[axis + 1 :])), padded, *starts)


def _or_first(ctx: Context, once: Value, value: Value, axis: int, places: Progression, found: Value) -> Value:
    """`found`, or, where `once` holds, the first element along the axis everywhere."""
    shape, zero = value.type.shape, ctx.constant(0, INT64)
    starts = [places.start if i == axis else zero for i in range(len(shape))]
    first = ctx.op(ops.DynamicSlice((*shape[:axis], 1, *shape[axis + 1 :])), value, *starts)
    wanted = found.type.shape
    return ctx.op(ops.Select(), ctx.broadcast(once, wanted), ctx.broadcast(first, wanted), found)


# ---------------------------------------------------------------- beside what is stored into


def beside(
    ctx: Context,
    name: str,
    plain: Callable[..., Any],
    target: Bounded,
    value: Raw,
    broadcasts: bool = True,
) -> Raw:
    """`value`, to be combined with `target` or stored into it, aligned with the elements of `target`.

    `plain` is the function of the two that the plain run calls. With `broadcasts`, one element stands for all.
    """
    o = operand(ctx, value)
    if o is None or not o.axes:
        return value
    if isinstance(value, Bounded):
        masked = with_masks(ctx, value)
        if [e.mask for e in masked.extents] == [e.mask for e in target.extents]:
            value, o = masked, operand(ctx, masked)
            assert o is not None
    own = AlignedOperand(elements(ctx, target), target.axes, target.form, target.weak)
    anchors: dict[int, Anchor] = {}
    loose = False
    for back in range(1, min(len(own.axes), len(o.axes)) + 1):
        axis = own.axes[-back]
        if isinstance(axis, Extent):
            anchor = anchors[back] = Anchor(own.extent(back), axis, 0)
        else:
            anchor = anchors[back] = Anchor(axis, None, 0)
        other = o.axes[-back]
        loose |= (
            isinstance(other, Extent)
            and other.progression is None
            and not anchor.same(ctx, other, o.extent(back))
        )
    if loose:
        return beside(ctx, name, plain, target, compact(ctx, value), broadcasts)
    sizes = SizeChecks(ctx, name, plain, [own, o])
    array = o.value
    for back, anchor in sorted(anchors.items()):
        array = _stored_at(ctx, array, o, back, anchor, target, sizes, broadcasts)
    if array is o.value and not isinstance(value, Bounded):
        return value
    return ctx.jax(array, o.weak) if o.form is Form.JAX else ctx.ndarray(array)


def _stored_at(
    ctx: Context,
    value: Value,
    o: AlignedOperand,
    back: int,
    anchor: Anchor,
    target: Bounded,
    sizes: SizeChecks,
    broadcasts: bool,
) -> Value:
    """`value` along one axis at the anchor, which may be the places of a mask."""
    axis, extent = o.axes[-back], anchor.extent
    own = o.extent(back)
    at = o.position(back)
    if extent is None:
        if isinstance(axis, int):
            return value
        assert axis.progression is not None
        theirs = ctx.constant(anchor.size, INT64)
        once = sizes.check(axis.progression.count, theirs, broadcasts)
        return aligned(ctx, value, at, axis.progression, from_zero(ctx, anchor.size), anchor.size, once)
    if anchor.same(ctx, axis, own):
        return value
    if axis == 1 and broadcasts:
        return value
    places = from_zero(ctx, axis) if isinstance(axis, int) else axis.progression
    assert places is not None
    theirs = count(ctx, target, extent).value
    once = sizes.check(places.count, theirs, broadcasts)
    if extent.progression is not None:
        return aligned(ctx, value, at, places, extent.progression, anchor.size, once)
    mask = mask_along(ctx, target, extent)
    source = times(ctx, rank_in_mask(ctx, mask), places.step)
    source = ctx.op(ops.Add(), source, ctx.broadcast(places.start, (anchor.size,)))
    if once is not None:
        first = ctx.broadcast(places.start, (anchor.size,))
        source = ctx.op(ops.Select(), ctx.broadcast(once, (anchor.size,)), first, source)
    return taken(ctx, value, at, source)
