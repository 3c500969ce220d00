"""`x[mask]` with a mask that the program computes: the number of elements is not known while compiling.

Such a value keeps the whole array and the mask. Elementwise work is done on all elements, a reduction leaves
the others out, and a store through the same mask chooses. Anything else needs the number of elements
and is refused. `x[i:j]` whose length is not known is the same with a mask of places.

The whole array is memory like any other's: of `x[mask]` a copy of `x`, of `x[i:j]` that of `x` itself. So all names
of a selection see what is stored through one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ..diagnostics.codes_types import MaskedUse
from ..hlo.ir import Value
from ..hlo.types import INT64, ArrayType, DType
from ..ops import Add, Broadcast, Convert, Reduce, Select
from ..values.boundary import Form
from ..values.lattice import Abstract, Array, Const, Ref, Tuple
from .context import Context, Raw
from .indices import Indices, Mask, NewAxis, Places
from .slices import Part
from .stores import broadcasts, fit, stored_value


class Selection(Abstract):
    """Something between an array and its elements: `x[mask]`, `x.at`, `x.at[i]`. The array doors serve it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Masked(Selection):
    """The elements of `whole` where `mask` is true, in one axis that stands where the mask's axes stood.

    `whole` is an ndarray or a `jax.Array` of `type`; `axis` is the first of its axes that the mask covers.
    """

    whole: Ref | Array
    type: ArrayType
    mask: Value
    axis: int

    @property
    def form(self) -> Form:
        """NDARRAY or JAX."""
        return Form.NDARRAY if isinstance(self.whole, Ref) else Form.JAX

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
    return ctx.python(total, 0, mask.type.size)


def refuse(ctx: Context, what: str) -> NoReturn:
    """Fails because something needs the number of elements that a mask selects."""
    ctx.fail(MaskedUse(span=ctx.span, what=what))


def elementwise(ctx: Context, name: str, function: Callable[..., Abstract], *args: Raw) -> Abstract:
    """`function(*args)`, which works element by element, where some arguments are `Masked`.

    The others must be scalars: an array would have to have as many elements as the mask selects.
    """
    masked = [a for a in args if isinstance(a, Masked)]
    first = masked[0]
    for other in masked[1:]:
        if other.mask is not first.mask or other.axis != first.axis:
            refuse(ctx, f"{name} on elements that different masks select")
    plain: list[Raw] = []
    for arg in args:
        if isinstance(arg, Masked):
            plain.append(arg.whole)
            continue
        read = ctx.read(arg)
        if isinstance(read, Array) and read.rank:
            refuse(ctx, f"{name} with another array")
        plain.append(arg)
    result = function(*plain)
    read = ctx.read(result)
    assert isinstance(read, Array)
    made = read if read.form is Form.JAX else ctx.ndarray(read.value)
    return Masked(made, read.type, first.mask, first.axis)


def same_selection(left: Masked, right: Masked) -> bool:
    """True if the two select the same elements of their arrays."""
    shapes = left.type.static_shape, right.type.static_shape
    return left.mask is right.mask and left.axis == right.axis and shapes[0] == shapes[1]


def masked_attribute(ctx: Context, masked: Masked, name: str) -> Abstract | None:
    """What can be said of `x[mask]` without its elements: dtype, ndim, size, shape."""
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
    return None


def length(ctx: Context, masked: Masked) -> Abstract:
    """`len(x[mask])`."""
    shape = masked_attribute(ctx, masked, "shape")
    assert isinstance(shape, Tuple)
    return shape.items[0]


# ---------------------------------------------------------------- indexing with masks


def only_mask(ctx: Context, indices: Indices) -> tuple[Mask, int]:
    """The one mask of an index, and the first axis that it covers of what the rest of the index selects."""
    if indices.is_sliced and len(indices.masks) > 1:
        refuse(ctx, "indexing with two slices of unknown length")
    if len(indices.masks) > 1 or any(isinstance(i, Places) for i in indices.items):
        refuse(ctx, "indexing with another array")
    if indices.separated and not indices.is_sliced:
        refuse(ctx, "indexing with an integer apart from the mask")
    axis = 0
    for item in indices.items:
        if isinstance(item, Mask):
            return item, axis
        axis += isinstance(item, NewAxis | Part)
    raise AssertionError("no mask among the items")


def masked_choice(
    ctx: Context,
    whole: Value,
    mask: Value,
    axis: int,
    value: Masked | Value,
    dtype: DType,
    is_slice: bool = False,
    jax: bool = False,
) -> Value:
    """`whole` with `value` where the mask is true.

    The value is a scalar, an array that broadcasts along the mask's axis, or what the same mask selected; of `dtype`,
    if it is not that. Raises NumPy's exception in the program for one that certainly has the wrong shape.
    """
    shape = whole.type.static_shape
    where = spread(ctx, mask, shape, axis)
    if isinstance(value, Masked):
        if value.mask is not mask or value.axis != axis or value.type.shape != shape:
            refuse(ctx, "a store through another mask")
        new = stored_value(ctx, value.whole, dtype, "the stored value", jax)
        return ctx.op(Select(), where, new, whole)
    new, own = value, value.type.static_shape
    trailing = len(shape) - axis - mask.type.rank
    if not jax:
        _check_shape(ctx, own, shape, mask, axis, is_slice)
    if len(own) > trailing:
        if own[len(own) - trailing - 1] != 1:
            refuse(ctx, "a store of an array with one element for each")
        own = (*own[: max(len(own) - trailing - 1, 0)], *([1] * mask.type.rank), *own[len(own) - trailing :])
        new = ctx.reshape(new, own)
    return ctx.op(Select(), where, fit(ctx, new, shape), whole)


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
