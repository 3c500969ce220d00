"""Indexing with masks and slices of unknown length: the selected elements, and stores into them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn

import jax.numpy as jnp
import numpy as np

from .....records import dataclass
from ....hlo.ir import Value
from ....hlo.op import HloOp
from ....hlo.types import INT64, ArrayType, DType
from ....ops import Select
from ....values.bounded import Bounded, Extent
from ....values.views import Reshaped, View
from ...context import Context, Raw
from .bounded import around, count, extent_along, refuse_bounds, where
from .bounded_operands import beside
from .fancy_indexing import Fancy
from .indices import Indices, IntegerArrayIndex, MaskIndex, NewAxis
from .slices import SliceIndex
from .stores import broadcasts, fit, stored_value


def masked_axes(
    ctx: Context, indices: Indices, shape: tuple[int, ...]
) -> tuple[list[Extent], tuple[View, ...]]:
    """The bounded axes that an index selects in the view, of `shape`, that its integers and slices make.

    The axes that one mask covers are one axis there, and of an axis with a short slice only the part around it is there, by
    further views.
    """
    arrays = [m for m in indices.masks if not m.is_slice]
    if len(arrays) > 1 or any(isinstance(i, IntegerArrayIndex) for i in indices.items):
        refuse_slices(ctx, "indexing with another array", indices)
    if arrays and indices.separated:
        refuse_slices(ctx, "indexing with an integer apart from the mask", indices)
    found: list[Extent] = []
    joined: list[int] = []
    axis = 0
    for item in indices.items:
        if isinstance(item, MaskIndex):
            rank = item.value.type.rank
            size = item.value.type.size
            mask = ctx.reshape(item.value, (size,))
            found.append(extent_along(mask, item.slice, len(joined)))
            joined.append(size)
            axis += rank
        elif isinstance(item, NewAxis | SliceIndex):
            joined.append(shape[axis])
            axis += 1
    views: tuple[View, ...] = (Reshaped(tuple(joined)),) if len(joined) < len(shape) else ()
    extents, window = around(ctx, found, joined)
    return extents, views if window is None else (*views, window)


def refuse_slices(ctx: Context, what: str, indices: Indices) -> NoReturn:
    """The same as `refuse`, of an index."""
    bounds = [bound for m in indices.masks if m.slice is not None for bound in m.slice.bounds]
    refuse_bounds(ctx, what, bounds)


def masked_choice(
    ctx: Context,
    target: Bounded,
    whole: Value,
    value: Bounded | Value,
    dtype: DType,
    jax: bool = False,
    combine: HloOp | None = None,
) -> Value:
    """`whole`, of which `target` is a part, with `value` stored there, or combined by `combine` with the elements.

    The value is a number, an array that broadcasts to the target, or a bounded one; of `dtype`, if it is not that.
    Raises the library's exception in the program for one that has the wrong shape.
    """
    own = value.axes if isinstance(value, Bounded) else value.type.shape
    if not jax:
        _check_shape(ctx, tuple(None if isinstance(n, Extent) else n for n in own), target)
    if isinstance(value, Value):
        extra = len(own) - target.rank
        value = ctx.reshape(value, value.type.shape[extra:]) if extra > 0 else value
    given = value if isinstance(value, Bounded) else ctx.jax(value) if jax else ctx.ndarray(value)
    plain: Callable[..., None] = _store_in_jax if jax else storing(target)
    placed = beside(ctx, "a store", plain, target, given)
    new = fit(ctx, stored_value(ctx, placed, dtype, "the stored value", jax), whole.type.shape)
    if combine is not None:
        new = ctx.op(combine, whole, new)
    return ctx.op(Select(), where(ctx, target), new, whole)


def _store_in_jax(target: np.ndarray, value: np.ndarray) -> None:
    """The exception of JAX for an update whose value does not broadcast."""
    jnp.zeros(target.shape).at[jnp.arange(len(target))].set(jnp.zeros(np.shape(value)))


def beside_places(
    ctx: Context, whole: Value, at: Fancy, batch: Bounded | None, value: Raw, jax: bool = False
) -> tuple[Fancy, Raw]:
    """The positions of a store into `whole`, and the aligned value.

    Those that do not belong to `batch`, which has their shape, are outside, where nothing is stored.
    """
    result = at.result_shape(whole.type.shape)
    extents = () if batch is None else tuple([e.moved(at.position) for e in batch.extents])
    zeros = ctx.jax(ctx.broadcast(ctx.constant(0, whole.type.dtype), result))
    stored = Bounded(zeros, ArrayType(whole.type.dtype, result), extents)
    plain: Callable[..., None] = _store_in_jax if jax else storing(stored)
    placed = beside(ctx, "a store", plain, stored, value)
    if batch is None:
        return at, placed
    first, *others = [ctx.convert(p, INT64) for p in at.positions]
    outside = ctx.broadcast(ctx.constant(whole.type.shape[at.axes[0]], INT64), at.batch)
    inside = ctx.op(Select(), where(ctx, batch), first, outside)
    return replace(at, positions=(inside, *others), unique=False), placed


@dataclass(frozen=True, slots=True, eq=False)
class Storing:
    """A store into the elements that an index selects, as the plain run does it."""

    flat: bool
    masked: tuple[int, ...]

    def __call__(self, target: np.ndarray, value: np.ndarray) -> None:
        index = tuple(
            [np.ones(n, np.bool_) if i in self.masked else slice(None) for i, n in enumerate(target.shape)]
        )
        np.empty(target.shape, np.int8)[index] = np.zeros(np.shape(value), np.int8)


def storing(target: Bounded) -> Storing:
    """The plain run's store into the elements: by index, where masks select some of them."""
    masked = tuple(
        [i for i, axis in enumerate(target.axes) if isinstance(axis, Extent) and axis.mask is not None]
    )
    return Storing(bool(masked) and target.rank == 1, masked)


def _check_shape(ctx: Context, own: tuple[int | None, ...], target: Bounded) -> None:
    """Makes the program raise what NumPy raises for a value that fits no number of elements."""
    shape = tuple([None if isinstance(n, Extent) else n for n in target.axes])
    store_plainly = storing(target)
    fits = (
        len(own) <= 1
        if store_plainly.flat
        else broadcasts(tuple([1 if n is None else n for n in own]), shape)
    )
    if fits:
        return
    known = [1 if n is None else n for n in own]

    def store(*counts: int) -> None:
        rest = iter(counts)
        store_plainly(np.empty([next(rest) if n is None else n for n in shape]), np.zeros(known))

    error = TypeError("wrong number of axes") if store_plainly.flat else ValueError("shape mismatch")
    ctx.check(None, error, store, [count(ctx, target, e) for e in target.extents])
