"""NumPy's `sort`, `argsort`, `partition` and `lexsort`.

NaN sorts last, complex numbers by real part and then imaginary part. Where NumPy leaves the order open (equal elements
in `argsort`, elements beside `kth` in `partition`), the result is NumPy's own on the host, and that of a stable sort
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....hlo.types import ArrayType
from ....ops import Iota, Reverse, Sort
from ....values.lattice import Abstract
from ...context import Context, Raw
from ...kernels.structures import call_now
from ...operands.libraries import ArrayArgument, Rules, twins
from ...operands.nested_sequences import array_argument, elements, nested
from ...rules.jax import axis_of, integer, ints, is_none

_JAX_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def _positions(ctx: Context, rules: Rules, shape: tuple[int, ...], axis: int) -> Value:
    """The index of each element along `axis`."""
    return ctx.op(Iota(ArrayType(rules.index_dtype(ctx), shape), axis))


def _sorted_positions(ctx: Context, rules: Rules, keys: list[Value], sort: Sort) -> Value:
    """The indices that sort by the first key, then the second, and so on."""
    where = _positions(ctx, rules, keys[0].type.static_shape, sort.axis)
    return ctx.b.ops(sort, *keys, where)[-1]


def _sort(ctx: Context, rules: Rules, axis: int, kind: Raw, stable: Raw) -> Sort:
    """The order of `sort` and `argsort`: NumPy's quicksort leaves the order of equal elements open."""
    given = ctx.known(kind, "the kind of a sort")
    quick = not rules.is_jax and (given is None or given[:1] in ("q", "Q", b"q", b"Q"))
    return Sort(axis, any_order=quick and not ctx.known(stable, "stable of a sort"))


def _along(ctx: Context, rules: Rules, a: Raw, axis: Raw, name: str) -> tuple[ArrayArgument, int]:
    """The array to sort and the axis: the flat array where `axis` is None."""
    given = array_argument(ctx, rules, a, name)
    if is_none(axis) or ctx.known(axis, f"the axis of {name}") is None:
        return given.of(ctx.reshape(given.value, (given.value.type.size,))), 0
    if not given.rank:
        if name not in ("argsort", "argpartition") or rules.is_jax:
            text = "axis -1 is out of bounds for array of dimension 0"
            rules.mismatch(ctx, text, np.exceptions.AxisError)
        given = given.of(ctx.reshape(given.value, (1,)))
    return given, axis_of(ctx, axis, given.rank, name)


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
    given, at = _along(ctx, rules, a, axis, "sort")
    value = ctx.op(_sort(ctx, rules, at, kind, stable), given.value)
    if ctx.known(descending, "descending of sort"):
        value = ctx.op(Reverse((at,)), value)
    return rules.array(ctx, value, given.weak)


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
    given, at = _along(ctx, rules, a, axis, "argsort")
    if ctx.known(descending, "descending of argsort"):
        turned = Reverse((at,))
        where = ctx.op(turned, _positions(ctx, rules, given.shape, at))
        found = ctx.op(turned, ctx.b.ops(Sort(at), ctx.op(turned, given.value), where)[-1])
    else:
        found = _sorted_positions(ctx, rules, [given.value], _sort(ctx, rules, at, kind, stable))
    if not is_none(dtype):
        found = ctx.convert(found, rules.dtype(ctx, dtype, "argsort"))
    return rules.array(ctx, found)


@twins(np.lexsort, jnp.lexsort, delegates=False)
def lexsort(ctx: Context, rules: Rules, keys: Raw, axis: Raw = -1) -> Abstract:
    """The indices that sort by the last key, then the last but one, and so on."""
    listed = elements(ctx, keys)
    items = ctx.iterate(keys) if listed is None else listed
    if not items:
        rules.mismatch(ctx, "need sequence of keys with len > 0 in lexsort", TypeError)
    read = [nested(ctx, rules, k, "lexsort") for k in items]
    shape = read[0].shape
    if any(k.shape != shape for k in read):
        rules.mismatch(ctx, "all keys need to be the same shape")
    if not shape:
        if not rules.is_jax and integer(ctx, axis, "the axis of lexsort") not in (0, -1):
            axis_of(ctx, axis, 0, "lexsort")  # raises
        return rules.result(ctx, ctx.constant(0, rules.index_dtype(ctx)))
    at = axis_of(ctx, axis, len(shape), "lexsort")
    sort = Sort(at, keys=len(read))
    return rules.array(ctx, _sorted_positions(ctx, rules, [k.value for k in reversed(read)], sort))


# ---------------------------------------------------------------- partitions


def _partial(ctx: Context, kth: Raw, given: ArrayArgument, axis: int, name: str) -> Sort:
    """The sort that puts the `kth` elements to their positions."""
    size = given.shape[axis]
    wanted = tuple(ints(ctx, kth, f"kth of {name}"))
    for k in wanted:
        if given.value.type.size and not -size <= k < size:
            ctx.raise_(ValueError(f"kth(={k if k >= 0 else k + size}) out of bounds ({size})"))
    return Sort(axis, kth=wanted if given.value.type.size else ())


@twins(np.partition, None, delegates=False)
def partition(
    ctx: Context, rules: Rules, a: Raw, kth: Raw, axis: Raw = -1, kind: Raw = "introselect", order: Raw = None
) -> Abstract:
    """The elements with the `kth` at its sorted position, lesser ones before it and greater ones after it."""
    _check_options(ctx, rules, np.partition, order, kind, 0)
    given, at = _along(ctx, rules, a, axis, "partition")
    return rules.array(ctx, ctx.op(_partial(ctx, kth, given, at, "partition"), given.value))


@twins(np.argpartition, None, delegates=False)
def argpartition(
    ctx: Context, rules: Rules, a: Raw, kth: Raw, axis: Raw = -1, kind: Raw = "introselect", order: Raw = None
) -> Abstract:
    """The indices of the elements in the order of `partition`."""
    _check_options(ctx, rules, np.argpartition, order, kind, 0)
    given, at = _along(ctx, rules, a, axis, "argpartition")
    sort = _partial(ctx, kth, given, at, "argpartition")
    return rules.array(ctx, _sorted_positions(ctx, rules, [given.value], sort))
