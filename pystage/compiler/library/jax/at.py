"""`x.at[index].set(v)` and its siblings: functional updates of a `jax.Array`.

In: the array and an abstract index. Out: a new array. An update out of bounds is dropped, JAX's default; repeated
indices accumulate in `add`, `multiply`, `min` and `max`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ....records import dataclass
from ...diagnostics.codes_jax import RefusedByJax
from ...diagnostics.codes_types import ArgumentNotStaged, ShapeMismatch
from ...hlo.ir import Value
from ...hlo.op import HloOp
from ...ops import Add, Maximum, Minimum, Multiply, Select
from ...values.bounded import Bounded, Selection
from ...values.lattice import Abstract, Array, Const, Meaning, Method
from ...values.views import path_type, read_path, write_path
from ..context import Context, Raw
from ..numpy.indexing.bounded import bounded, elements, where
from ..numpy.indexing.bounded_indices import has_bounded, index_of_wholes
from ..numpy.indexing.fancy_indexing import Fancy, as_index_arrays, basic_views, fancy, gather, scatter
from ..numpy.indexing.indices import Indices, IntegerIndex, parse
from ..numpy.indexing.masks import beside_places, masked_axes, masked_choice, refuse_slices
from ..numpy.indexing.stores import cast, fit, stored_value
from ..rules.jax import jax_array
from .at_computed_size import (
    check_combines,
    elements_of_bounded,
    promoted,
    refuse_bounded,
    update_of_bounded,
)


@dataclass(frozen=True, slots=True, eq=False)
class At(Selection):
    """`x.at`."""

    array: Array | Bounded


@dataclass(frozen=True, slots=True, eq=False)
class AtIndex(Selection):
    """`x.at[index]`."""

    array: Array | Bounded
    index: Abstract


_COMBINE: dict[str, tuple[HloOp | None, np.ufunc | None]] = {
    "set": (None, None),
    "add": (Add(), np.add),
    "subtract": (Add(), np.add),  # of the negated values
    "multiply": (Multiply(), np.multiply),
    "mul": (Multiply(), np.multiply),
    "min": (Minimum(), np.minimum),
    "max": (Maximum(), np.maximum),
}
"""What combines the elements with the values, for arrays and for arrays of computed size."""
_THROUGH = {"divide": jnp.divide, "power": jnp.power}
"""Updates that JAX makes of products of the updates, so that places that occur twice count twice."""


def at_attribute(value: AtIndex, name: str) -> Abstract | None:
    """`x.at[index].name`, or None where there is no such update."""
    call: Callable[..., Abstract]
    if name in _COMBINE:
        call = functools.partial(_update, name)
    elif name in _THROUGH:
        call = functools.partial(_through, name)
    elif name == "get":
        call = _get
    elif name == "apply":
        call = _apply
    else:
        return None
    return Method(Meaning(f"jax.Array.at[].{name}", call), value)


def _update(
    name: str,
    ctx: Context,
    where: AtIndex,
    values: Raw,
    *,
    indices_are_sorted: Raw = False,
    unique_indices: Raw = False,
    mode: Raw = None,
) -> Abstract:
    """set, add, subtract, multiply, min, max."""
    _check_mode(ctx, mode)
    array = where.array
    check_combines(ctx, name, array, values)
    if name == "subtract":
        kind = Const(promoted(ctx, array, values))
        values = ctx.call(Const(jnp.negative), [ctx.call(Const(jnp.asarray), [values, kind])])
    combine, ufunc = _COMBINE[name]
    if isinstance(array, Bounded):
        return update_of_bounded(ctx, name, array, where.index, values, ufunc)
    return ctx.jax(_stored(ctx, array, where.index, values, combine), array.weak)


def _through(
    name: str,
    ctx: Context,
    where: AtIndex,
    values: Raw,
    *,
    indices_are_sorted: Raw = False,
    unique_indices: Raw = False,
    mode: Raw = None,
) -> Abstract:
    """divide and power: `op(x, the product of the updates of each index)`."""
    _check_mode(ctx, mode)
    array = where.array
    if isinstance(array, Bounded):
        refuse_bounded(ctx, name)
    check_combines(ctx, "multiply", array, values)
    ones = Array(ctx.broadcast(ctx.constant(1, array.dtype), array.shape), array.form, array.weak)
    factors = ctx.jax(_stored(ctx, ones, where.index, values, Multiply()), array.weak)
    return ctx.call(Const(_THROUGH[name]), [array, factors])


def _get(
    ctx: Context,
    where: AtIndex,
    *,
    indices_are_sorted: Raw = False,
    unique_indices: Raw = False,
    mode: Raw = None,
    fill_value: Raw = None,
) -> Abstract:
    """The elements at the index; indices out of bounds are clamped."""
    if ctx.known(mode, "the mode of x.at[].get") not in (None, "clip", "promise_in_bounds"):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="x.at[].get", argument="mode"))
    array = where.array
    if isinstance(array, Bounded):
        return elements_of_bounded(ctx, array, where.index)
    indices = parse(ctx, where.index, array.shape, jax=True)
    if indices.masks:
        refuse_slices(ctx, "taking a copy", indices)
    value = read_path(ctx.b, array.value, basic_views(indices.items, array.shape, clamp=True))
    return ctx.jax(value if indices.is_basic else gather(ctx, value, fancy(ctx, indices)), array.weak)


def _apply(ctx: Context, at: AtIndex, func: Abstract) -> Abstract:
    """The elements at the index replaced by `func` of them."""
    array = at.array
    if isinstance(array, Bounded):
        return update_of_bounded(ctx, "set", array, at.index, ctx.call(func, [_get(ctx, at)]))
    indices = parse(ctx, at.index, array.shape, jax=True)
    if indices.masks:
        views = basic_views(indices.items, array.shape)
        extents, joined = masked_axes(ctx, indices, path_type(array.type, views).shape)
        views = (*views, *joined)
        target = bounded(ctx, ctx.jax(read_path(ctx.b, array.value, views), array.weak), extents)
        assert isinstance(target.whole, Array)
        new = _of_each(ctx, func, target.whole)
        chosen = ctx.op(Select(), where(ctx, target), new.value, elements(ctx, target))
        return ctx.jax(write_path(ctx.b, array.value, views, chosen), array.weak)
    if not indices.is_basic and not fancy(ctx, indices).unique:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="x.at[].apply", argument="index that may repeat"))
    old = _get(ctx, at)
    assert isinstance(old, Array)
    return ctx.jax(_stored(ctx, array, at.index, _of_each(ctx, func, old), None), array.weak)


def _of_each(ctx: Context, func: Abstract, array: Array) -> Array:
    """`func` of each number of an array, which must give one of the same type, as in JAX's scatter."""
    if array.rank:
        flat = ctx.jax(ctx.reshape(array.value, (array.value.type.size,)), array.weak)
        made = ctx.call(ctx.call(Const(jax.vmap), [func]), [flat])
    else:
        made = ctx.call(func, [array])
    new = jax_array(ctx, made, "x.at[].apply")
    if new.dtype != array.dtype or new.rank > 1 or new.value.type.size != array.value.type.size:
        reason = f"x.at[].apply takes a function that makes one {array.dtype} of another"
        ctx.fail(RefusedByJax(span=ctx.span, reason=reason))
    return ctx.jax(ctx.reshape(new.value, array.value.type.shape), array.weak)


def _check_mode(ctx: Context, mode: Raw) -> None:
    if ctx.known(mode, "the mode of x.at[]") not in (None, "drop", "fill"):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="x.at[]", argument="mode"))


def _stored(ctx: Context, array: Array, index: Raw, values: Raw, combine: HloOp | None) -> Value:
    """The array after the values are stored, or combined with the elements."""
    kind = promoted(ctx, array, values)
    if kind != array.dtype:
        wide = Array(ctx.convert(array.value, kind), array.form)
        return cast(ctx, _stored(ctx, wide, index, values, combine), array.dtype, jax=True)
    if has_bounded(index):
        found = index_of_wholes(ctx, array.shape, index, jax=True)
        if found.batch is not None:
            return _stored_at_places(ctx, array, found.index, found.batch, values, combine)
        index = found.index
    indices = parse(ctx, index, array.shape, jax=True)
    if indices.masks:
        return _masked(ctx, array, indices, values, combine)
    if isinstance(values, Bounded):
        return _stored_at_places(ctx, array, index, None, values, combine)
    inside = all(i.inside for i in indices.items if isinstance(i, IntegerIndex))
    new = stored_value(ctx, values, array.dtype, "the stored value", jax=True)
    if indices.is_basic and inside:
        views = basic_views(indices.items, array.shape)
        old = read_path(ctx.b, array.value, views)
        new = _fit(ctx, new, old.type.shape)
        return write_path(ctx.b, array.value, views, ctx.op(combine, old, new) if combine else new)
    if not inside:
        items = as_index_arrays(indices.items, ctx)
        indices = Indices(items, False, indices.separated)
    views = basic_views(indices.items, array.shape)
    old = read_path(ctx.b, array.value, views)
    at: Fancy = fancy(ctx, indices)
    new = _fit(ctx, new, at.result_shape(old.type.shape))
    return write_path(ctx.b, array.value, views, scatter(ctx, old, at, new, combine))


def _stored_at_places(
    ctx: Context, array: Array, index: Raw, batch: Bounded | None, values: Raw, combine: HloOp | None
) -> Value:
    """An update at indices, or with values, whose number only the program knows."""
    indices = parse(ctx, index, array.shape, jax=True)
    indices = Indices(as_index_arrays(indices.items, ctx), False, indices.separated)
    views = basic_views(indices.items, array.shape)
    old = read_path(ctx.b, array.value, views)
    at, placed = beside_places(ctx, old, fancy(ctx, indices), batch, values, jax=True)
    new = stored_value(ctx, placed, array.dtype, "the stored value", jax=True)
    new = _fit(ctx, new, at.result_shape(old.type.shape))
    return write_path(ctx.b, array.value, views, scatter(ctx, old, at, new, combine))


def _masked(ctx: Context, array: Array, indices: Indices, values: Raw, combine: HloOp | None) -> Value:
    """An update where a computed mask is true."""
    views = basic_views(indices.items, array.shape)
    extents, joined = masked_axes(ctx, indices, path_type(array.type, views).shape)
    views = (*views, *joined)
    old = read_path(ctx.b, array.value, views)
    target = bounded(ctx, ctx.jax(old), extents)
    is_bounded = isinstance(values, Bounded)
    new = values if is_bounded else stored_value(ctx, values, array.dtype, "the stored value", jax=True)
    chosen = masked_choice(ctx, target, old, new, array.dtype, jax=True, combine=combine)
    return write_path(ctx.b, array.value, views, chosen)


def _fit(ctx: Context, value: Value, shape: tuple[int, ...]) -> Value:
    """`value` broadcast to `shape`; PS206 where it has more axes, which JAX refuses and NumPy drops."""
    own = value.type.shape
    if len(own) > len(shape):
        ctx.fail(ShapeMismatch(span=ctx.span, text=f"an update of shape {own} is stored into shape {shape}"))
    return fit(ctx, value, shape)
