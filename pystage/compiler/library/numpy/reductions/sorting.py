"""NumPy's `sort`, `argsort`, `partition` and `lexsort`.

NaN sorts last, complex numbers by real part and then imaginary part. Where NumPy leaves the order open (equal elements
in `argsort`, elements beside `kth` in `partition`), the result is NumPy's own on the host, and that of a stable sort
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....hlo.types import BOOL, ArrayType, DType, is_complex, is_floating
from ....ops import Iota, Not, Reverse, Sort
from ....values.bounded import Bounded, Extent, axes_with
from ....values.lattice import Abstract, Const
from ...context import Context, Raw
from ...kernels.python_implementations import run_program
from ...kernels.structures import abstract, call_now
from ...operands.bounded_arguments import Lines, filled_up, lines_of
from ...operands.known_calls import is_computed
from ...operands.libraries import ArrayArgument, Rules, twins
from ...operands.nested_sequences import elements, nested
from ...rules.bounds import ends_of
from ...rules.jax import axis_of, integer, ints, is_none
from ..indexing.bounded import compact, refuse, where_of
from ..indexing.bounded_operands import placed, result_with
from ..subscripts.subscripts import array_getitem

_JAX_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def _positions(ctx: Context, rules: Rules, shape: tuple[int, ...], axis: int) -> Value:
    """The index of each element along `axis`."""
    return ctx.op(Iota(ArrayType(rules.index_dtype(ctx), shape), axis))


def _sorted_positions(ctx: Context, rules: Rules, keys: list[Value], sort: Sort) -> Value:
    """The indices that sort by the first key, then the second, and so on."""
    where = _positions(ctx, rules, keys[0].type.shape, sort.axis)
    return ctx.b.ops(sort, *keys, where)[-1]


def _sort(ctx: Context, rules: Rules, lines: Lines, kind: Raw, stable: Raw) -> Sort:
    """The order of `sort` and `argsort`: NumPy's quicksort leaves the order of equal elements open.

    What does not belong to lines of computed length is last, and stays there among its equals.
    """
    given = ctx.known(kind, "the kind of a sort")
    quick = not rules.is_jax and (given is None or given[:1] in ("q", "Q", b"q", b"Q"))
    any_order = quick and not ctx.known(stable, "stable of a sort") and not lines.is_bounded
    return Sort(lines.axis, any_order=any_order)


def _along(ctx: Context, rules: Rules, a: Raw, axis: Raw, name: str) -> Lines:
    """The lines to sort: the flat array where `axis` is None."""
    lines = lines_of(ctx, rules, a, axis, name)
    if not lines.rank and not lines.is_flat and (name not in ("argsort", "argpartition") or rules.is_jax):
        text = "axis -1 is out of bounds for array of dimension 0"
        rules.mismatch(ctx, text, np.exceptions.AxisError)
    return lines


def last_of(dtype: DType) -> object:
    """A value after which no other is sorted."""
    if is_complex(dtype):
        return complex(np.nan, np.nan)
    if is_floating(dtype):
        return np.nan
    return True if dtype == BOOL else ends_of(dtype)[1]


def _with_last(ctx: Context, lines: Lines) -> Value:
    """The elements of lines, followed by values after which no other is sorted."""
    return filled_up(ctx, lines.given, last_of(lines.given.dtype), (lines.axis,))


def _descends(ctx: Context, a: Raw, lines: Lines, descending: Raw, name: str) -> bool:
    """Whether the order is reversed, which is refused for lines of computed length."""
    turned = bool(ctx.known(descending, f"descending of {name}"))
    if turned and lines.is_bounded:
        refuse(ctx, f"{name} with descending", a)
    return turned


def check_kind(ctx: Context, function: Callable[..., Any], kind: Raw, *options: Any) -> None:
    """Raises what NumPy raises for an unknown kind of sort."""
    given = ctx.known(kind, f"the kind of {function.__name__}")
    call_now(ctx, lambda kind: function(np.zeros(1), *options, kind=kind), given)


def _check_options(
    ctx: Context, rules: Rules, function: Callable[..., Any], order: Raw, kind: Raw, *options: Any
) -> None:
    """Refuses fields to order by; every kind of sort is a stable one."""
    name = function.__name__
    if not is_none(order):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"{rules.name}.{name}", argument="order"))
    if not rules.is_jax:
        check_kind(ctx, function, kind, *options)
    elif (given := ctx.known(kind, f"the kind of {name}")) not in _JAX_KINDS:
        rules.mismatch(ctx, f"sort kind must be one of 'quick', 'heap', or 'stable' (got {given!r})")


@twins(np.sort, jnp.sort, delegates=False)
def sort(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = -1,
    kind: Raw = None,
    order: Raw = None,
    *,
    stable: Raw = None,
    descending: Raw = False,
) -> Abstract:
    """The elements in order along `axis`, or of the flat array."""
    _check_options(ctx, rules, np.sort, order, kind)
    lines = _along(ctx, rules, a, axis, "sort")
    value = ctx.op(_sort(ctx, rules, lines, kind, stable), _with_last(ctx, lines))
    if _descends(ctx, a, lines, descending, "sort"):
        value = ctx.op(Reverse((lines.axis,)), value)
    return result_with(ctx, rules.array(ctx, value, lines.given.weak), lines.given.axes)


@twins(np.argsort, jnp.argsort, delegates=False)
def argsort(
    ctx: Context,
    rules: Rules,
    a: Raw,
    axis: Raw = -1,
    kind: Raw = None,
    order: Raw = None,
    *,
    stable: Raw = None,
    descending: Raw = False,
    dtype: Raw = None,
) -> Abstract:
    """The indices that sort the array; equal elements keep their order."""
    _check_options(ctx, rules, np.argsort, order, kind)
    lines = _along(ctx, rules, a, axis, "argsort")
    given, at = lines.given, lines.axis
    if _descends(ctx, a, lines, descending, "argsort"):
        turned = Reverse((at,))
        where = ctx.op(turned, _positions(ctx, rules, given.shape, at))
        found = ctx.op(turned, ctx.b.ops(Sort(at), ctx.op(turned, given.value), where)[-1])
    else:
        order = _sort(ctx, rules, lines, kind, stable)
        found = _sorted_positions(ctx, rules, [_with_last(ctx, lines)], order)
    if not is_none(dtype):
        found = ctx.convert(found, rules.dtype(ctx, dtype, "argsort"))
    return result_with(ctx, rules.array(ctx, found), given.axes)


@twins(np.lexsort, jnp.lexsort, delegates=False)
def lexsort(ctx: Context, rules: Rules, keys: Raw, axis: Raw = -1) -> Abstract:
    """The indices that sort by the last key, then the last but one, and so on."""
    items = _keys(ctx, keys)
    if not items:
        rules.mismatch(ctx, "need sequence of keys with len > 0 in lexsort", TypeError)
    extents: list[Extent] = []
    if any(isinstance(key, Bounded) for key in items):
        compacted = [compact(ctx, key) if isinstance(key, Bounded) else key for key in items]
        items, extents = placed(ctx, "np.lexsort", _same_size, compacted)
    read = [nested(ctx, rules, k, "lexsort") for k in items]
    shape = read[0].shape
    axes = axes_with(shape, tuple([e.moved(len(shape)) for e in extents]))
    if extents:
        if len(shape) != 1:
            refuse(ctx, "np.lexsort of matrices", keys)
        beside = ctx.op(Not(), where_of(ctx, shape, [e for e in axes if isinstance(e, Extent)]))
        read.append(ArrayArgument(beside))  # what does not belong to them stands last
    if any(k.shape != shape for k in read):
        rules.mismatch(ctx, "all keys need to be the same shape")
    if not shape:
        if not rules.is_jax and integer(ctx, axis, "the axis of lexsort") not in (0, -1):
            axis_of(ctx, axis, 0, "lexsort")  # raises
        return rules.result(ctx, ctx.constant(0, rules.index_dtype(ctx)))
    at = axis_of(ctx, axis, len(shape), "lexsort")
    sort = Sort(at, keys=len(read))
    found = _sorted_positions(ctx, rules, [k.value for k in reversed(read)], sort)
    return result_with(ctx, rules.array(ctx, found), axes)


def _keys(ctx: Context, keys: Raw) -> Sequence[Raw] | None:
    """The keys of `lexsort`: the items of a sequence, or the rows of an array."""
    listed = elements(ctx, keys)
    if listed is not None:
        return listed
    if not isinstance(keys, Bounded):
        return ctx.iterate(keys)
    if not isinstance(rows := keys.axes[0], int):
        refuse(ctx, "np.lexsort of so many keys", keys)
    return [array_getitem(ctx, keys, Const(row)) for row in range(rows)]


def _same_size(*keys: Any) -> None:
    np.lexsort([np.zeros(key.shape) for key in keys])


# ---------------------------------------------------------------- partitions


def _partial(ctx: Context, kth: Raw, given: ArrayArgument, axis: int, name: str) -> Sort:
    """The sort that puts the `kth` elements to their positions."""
    size = given.shape[axis]
    wanted = tuple(ints(ctx, kth, f"kth of {name}"))
    for k in wanted:
        if given.value.type.size and not -size <= k < size:
            ctx.raise_(ValueError(f"kth(={k if k >= 0 else k + size}) out of bounds ({size})"))
    return Sort(axis, kth=wanted if given.value.type.size else ())


def _check_kth(kth: Any, a: Any, axis: Any) -> None:
    """Raises what NumPy raises for places that are not in an array, of which the run knows the size or the places."""
    a = np.asarray(a)
    n = a.size if axis is None else a.shape[axis]
    places = np.ravel(np.asarray(kth))
    if places.dtype == bool:
        raise ValueError("Booleans unacceptable as partition index")
    if not np.issubdtype(places.dtype, np.integer):
        raise TypeError("Partition index must be integer")
    places = np.where(places < 0, places + n, places)
    outside = (places < 0) | (places >= n)
    if a.size > 0 and outside.any():
        raise ValueError(f"kth(={places[np.argmax(outside)]}) out of bounds ({n})")


@twins(np.partition, None, delegates=False)
def partition(
    ctx: Context, rules: Rules, a: Raw, kth: Raw, axis: Raw = -1, kind: Raw = "introselect", order: Raw = None
) -> Abstract:
    """The elements with the `kth` at its sorted position, lesser ones before it and greater ones after it."""
    _check_options(ctx, rules, np.partition, order, kind, 0)
    if isinstance(a, Bounded) or is_computed(ctx, kth):
        run_program(ctx, _check_kth, (kth, a, axis))
        return ctx.call(Const(np.sort), [abstract(a), abstract(axis)])
    lines = _along(ctx, rules, a, axis, "partition")
    given, at = lines.given, lines.axis
    return rules.array(ctx, ctx.op(_partial(ctx, kth, given, at, "partition"), given.value))


@twins(np.argpartition, None, delegates=False)
def argpartition(
    ctx: Context, rules: Rules, a: Raw, kth: Raw, axis: Raw = -1, kind: Raw = "introselect", order: Raw = None
) -> Abstract:
    """The indices of the elements in the order of `partition`."""
    _check_options(ctx, rules, np.argpartition, order, kind, 0)
    if isinstance(a, Bounded) or is_computed(ctx, kth):
        run_program(ctx, _check_kth, (kth, a, axis))
        return ctx.call(Const(np.argsort), [abstract(a), abstract(axis)])
    lines = _along(ctx, rules, a, axis, "argpartition")
    given, at = lines.given, lines.axis
    sort = _partial(ctx, kth, given, at, "argpartition")
    return rules.array(ctx, _sorted_positions(ctx, rules, [given.value], sort))
