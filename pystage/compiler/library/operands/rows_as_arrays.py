"""Arrays made of lists whose length, or whose elements' length, only the program knows.

In: a list of rows of numbers, of arrays, of tuples or of lists. Out: the array that NumPy makes of it, bounded along the
axes that have a computed length. NumPy wants elements of one shape, which the program sees to; `chained` is for
functions that put elements of several lengths one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ....records import dataclass
from ... import ops
from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.codes_types import ArgumentNotStaged
from ...diagnostics.errors import StagingError
from ...hlo.ir import Value
from ...hlo.types import BFLOAT16, BOOL, INT64, ArrayType, is_integer
from ...values.boundary import Form
from ...values.bounded import Bounded, Extent
from ...values.gated import Gated, GatedNumber, alternatives, number_of_kind, tag_of
from ...values.lattice import (
    LISTS,
    NONE,
    Abstract,
    Array,
    Const,
    ListCell,
    PoolCell,
    Pooled,
    Ref,
    RowsCell,
    RowsTuple,
    Tuple,
)
from ...values.vector import Vector
from ...values.walk import rebuild
from ..containers.unboxing import as_contents
from ..containers.vectors import Int, int_value, refuse_where
from ..context import Context, Raw
from ..interfaces.operations import Operations
from ..kernels.number_checks import refuse
from ..kernels.structures import cell_of, list_items, list_length, new_list, sequence_items, vector_of
from ..numpy.indexing.bounded import bounded, first_elements, in_order, taken
from .libraries import NUMPY, ArrayArgument, Rules


@dataclass(frozen=True, slots=True, eq=False)
class _Length:
    """The length that each row has along an axis: a value with an axis for rows, one for their elements, ….

    `of_lists`: NumPy does not see what there is in lists that are empty.
    """

    axis: int
    of_each: Value
    of_lists: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """The array of rows, and the lengths along its axes that have a computed one."""

    array: ArrayArgument
    lengths: tuple[_Length, ...] = ()
    mixed: bool = False
    """True for numbers some of which are of JAX's weak type."""


def _row_zero(ctx: Operations, element: Abstract, depth: int) -> Abstract:
    """The template of the rows along `depth` axes."""

    def first(value: Value) -> Value:
        shape = value.type.shape
        limits = (*[1] * depth, *shape[depth:])
        return ctx.op(
            ops.Reshape(shape[depth:]), ctx.op(ops.Slice((0,) * len(shape), limits, (1,) * len(shape)), value)
        )

    return rebuild(element, first)


def column(ctx: Context, rules: Rules, element: Abstract, function: str, depth: int = 1) -> _Column | None:
    """The array of all rows along `depth` axes; None where their element type is not one, or they are no numbers."""
    match element:
        case Tuple(items):
            return _side_by_side(ctx, rules, items, function, depth)
        case RowsTuple(rows):
            return _of_lists(ctx, rules, rows, function, depth)
        case Pooled():
            return _of_pool(ctx, rules, element, function, depth)
        case Bounded(whole=Ref()):
            return column(ctx, rules, as_contents(ctx, element), function, depth)
        case Bounded(whole=Array() as whole, extents=extents):
            found = column(ctx, rules, whole, function, depth)
            sizes = [_Length(depth + e.axis, e.size, False) for e in extents if e.size is not None]
            if found is None or len(sizes) < len(extents):
                return None
            return replace(found, lengths=tuple(sizes))
        case Array():
            return _of_numbers(ctx, rules, element, function, depth)
    return None


def _side_by_side(
    ctx: Context, rules: Rules, items: Sequence[Abstract], function: str, depth: int
) -> _Column | None:
    """The columns of tuples, or lists, of one known length."""
    parts = [column(ctx, rules, part, function, depth) for part in items]
    columns = [part for part in parts if part is not None]
    if not columns or len(columns) < len(parts) or len({part.array.shape for part in columns}) > 1:
        return None
    mixed = any(part.mixed for part in columns)
    if mixed and len({part.array.dtype for part in columns}) > 1:
        return None
    values, weak = rules.common(ctx, [part.array for part in columns])
    shape = values[0].type.shape
    wide = [ctx.reshape(v, (*shape[:depth], 1, *shape[depth:])) for v in values]
    array = ArrayArgument(ctx.op(ops.Concatenate(depth), *wide), weak)
    if not any(part.lengths for part in columns):
        return _Column(array, mixed=mixed)
    inner = [part.lengths for part in columns]
    if len({tuple([(each.axis, each.of_lists) for each in one]) for one in inner}) > 1:
        return None
    lengths = []
    for each in zip(*inner, strict=True):
        axis, shape = each[0].axis, each[0].of_each.type.shape
        parts_of = [ctx.reshape(x.of_each, (*shape[:depth], 1, *shape[depth:])) for x in each]
        lengths.append(_Length(axis + 1, ctx.op(ops.Concatenate(depth), *parts_of), each[0].of_lists))
    return _Column(array, tuple(lengths), mixed)


def _of_lists(
    ctx: Context, rules: Rules, rows: Vector[Abstract], function: str, depth: int
) -> _Column | None:
    """The elements of lists, or tuples, of computed length."""
    found = column(ctx, rules, rows.element, function, depth + 1)
    if found is None or not isinstance(rows.length, Value):
        return None
    return replace(found, lengths=(_Length(depth, rows.length, True), *found.lengths))


def _of_pool(ctx: Context, rules: Rules, element: Pooled, function: str, depth: int) -> _Column | None:
    """The elements of lists that are members of a pool."""
    pool = ctx.state.get(element.pool)
    if not isinstance(pool, PoolCell) or not isinstance(element.place, Value):
        return None
    contents, places = None if pool.objects is None else pool.objects.element, element.place
    if not isinstance(contents, LISTS):
        return None
    flat = ctx.reshape(places, (places.type.size,))

    def chosen(value: Value) -> Value:
        rows = taken(ctx, value, 0, flat)
        return ctx.reshape(rows, (*places.type.shape, *value.type.shape[1:]))

    items = rebuild(contents, chosen).items
    if isinstance(items, Vector):
        return _of_lists(ctx, rules, items, function, depth)
    return _side_by_side(ctx, rules, items, function, depth)


def _of_numbers(ctx: Context, rules: Rules, element: Array, function: str, depth: int) -> _Column | None:
    if element.key_impl:
        return None
    sample = _row_zero(ctx, element, depth)
    assert isinstance(sample, Array)
    refuse_bfloat16(ctx, rules, sample, function)
    samples = [sample]
    if isinstance(sample, GatedNumber):
        samples = [number_of_kind(ctx.b, sample, at) for at in range(len(sample.kinds))]
        if sample.whole is not None:
            return None
    types = {rules.common_dtype(ctx, [rules.operand(ctx, each, function)]) for each in samples}
    if len({dtype for dtype, _ in types}) > 1:
        return None
    mixed = len(types) > 1
    dtype, weak = types.pop()
    return _Column(ArrayArgument(ctx.convert(element.value, dtype), weak), mixed=mixed)


def refuse_bfloat16(ctx: Context, rules: Rules, element: Abstract, function: str) -> None:
    """Refuses a `jax.Array` of bfloat16 without axes in a list: ml_dtypes, which NumPy asks, takes it for no number."""
    if not isinstance(element, Array) or element.form is not Form.JAX or rules.is_jax:
        return
    if element.dtype == BFLOAT16 and not element.shape:
        name = f"np.{function.removeprefix('np.')}"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=name, argument="numbers of bfloat16"))


# ---------------------------------------------------------------- lengths


def _inside(ctx: Operations, counts: Sequence[Int], shape: tuple[int, ...]) -> Value:
    """The indices along some axes of the existing rows, as many as there are along each."""
    found = ctx.broadcast(ctx.constant(True, BOOL), shape)
    for axis, count in enumerate(counts):
        if not isinstance(count, int):
            below = ctx.op(
                ops.Compare("LT"),
                ctx.op(ops.Iota(ArrayType(INT64, shape), axis)),
                ctx.broadcast(count, shape),
            )
            found = ctx.op(ops.And(), found, below)
    return found


def _ragged(
    function: Callable[..., Any],
    at: int,
    first: int,
    other: int,
    rest: tuple[int, ...],
    shape: tuple[int, ...],
    *counts: int,
) -> None:
    """Raises what a function raises for nested lists of arrays of one length, except for one of another length.

    It is the one with the index `at` of as many as `shape` says; so many along each axis are there.
    """
    nest = np.empty(shape, object)
    for place in np.ndindex(*shape):
        nest[place] = np.zeros((first, *rest))
    nest.flat[at] = np.zeros((other, *rest))
    function(nest[tuple(map(slice, counts))].tolist())


def _common_length(
    ctx: Context, function: Callable[..., Any], each: _Length, counts: Sequence[Int], rest: tuple[int, ...]
) -> Value:
    """The common length of all rows; the program raises what `function` raises where one differs."""
    lengths = each.of_each
    shape = lengths.type.shape
    if not lengths.type.size:
        return ctx.constant(0, INT64)
    flat = ctx.reshape(lengths, (lengths.type.size,))
    first = _item(ctx, flat, ctx.constant(0, INT64))
    differs = ctx.op(ops.Compare("NE"), flat, ctx.broadcast(first, flat.type.shape))
    inside = ctx.reshape(_inside(ctx, counts, shape), flat.type.shape)
    unequal = ctx.op(ops.And(), inside, differs)
    at = _item(ctx, ctx.op(ops.MaskPlaces(), unequal), ctx.constant(0, INT64))
    bad = ctx.op(ops.Reduce(ops.Or(), (0,)), unequal, ctx.constant(False, BOOL))
    numbers = [Array(number, Form.PYTHON) for number in (at, first, _item(ctx, flat, at))]
    outer = [Const(n) if isinstance(n, int) else Array(n, Form.PYTHON) for n in counts]
    ctx.check(bad, ValueError(), _ragged, [Const(function), *numbers, Const(rest), Const(shape), *outer])
    return first


def _item(ctx: Operations, vector: Value, at: Value) -> Value:
    return ctx.reshape(ctx.op(ops.DynamicSlice((1,)), vector, at), ())


# ---------------------------------------------------------------- arrays


_NO_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays"
    " are valid indices"
)


_OF_ANY_TYPE = (np.isin, np.ix_)
"""Functions whose result for an empty list does not depend on the type of its elements."""
_OF_GIVEN_TYPE = (
    np.array,
    np.asarray,
    np.asanyarray,
    np.ascontiguousarray,
    np.asfortranarray,
    jnp.array,
    jnp.asarray,
)
"""Functions for which this holds where the type of the result is given."""


def is_of_any_type(function: Callable[..., Any], args: Sequence[Raw], kwargs: Mapping[str, Raw]) -> bool:
    """True if a function gives the same result for an empty list, whatever the type of its elements."""
    given = args[1] if len(args) > 1 else kwargs.get("dtype", NONE)
    has_type = not (isinstance(given, Const) and given.value is None)
    stores = isinstance(getattr(function, "__self__", None), np.ufunc) and function.__name__ == "at"
    return stores or function in _OF_ANY_TYPE or (function in _OF_GIVEN_TYPE and has_type)


def _refuse_index() -> None:
    raise IndexError(_NO_INDEX)


def array_of_rows(
    ctx: Context,
    raw: Raw,
    as_index: bool = False,
    function: Callable[..., Any] = np.array,
    of_any_type: bool = False,
    rules: Rules = NUMPY,
) -> Raw:
    """An argument of `function`: a list of computed length becomes the array that its library makes of it.

    NumPy makes one of float64 of an empty list, JAX of its default type; of an index, one of integers.
    """
    vector = _computed_vector(ctx, raw)
    if vector is None:
        return raw
    extent = list_length(vector)
    if isinstance(raw, RowsTuple) and isinstance(extent, Array) and ctx.can_be_unrolled(extent):
        return Tuple(list_items(ctx, vector))
    return _array(ctx, rules, vector, as_index, function, of_any_type)


def _computed_vector(ctx: Context, raw: Raw) -> Vector[Abstract] | None:
    """The contents of a list or tuple of which only the program knows a length, or which elements are None."""
    vector = vector_of(ctx, raw)
    if vector is None:
        return None
    known = isinstance(vector.length, int) or ctx.can_be_known(list_length(vector))
    if not known:
        return vector
    is_open = _has_lengths(ctx, vector.element) or _number_of(vector.element) is not None
    return vector if isinstance(vector.length, int) and is_open else None


def _has_lengths(ctx: Context, element: Abstract) -> bool:
    """True for rows that have lengths of their own."""
    if isinstance(element, Pooled):
        pool = ctx.state.get(element.pool)
        return (
            isinstance(pool, PoolCell)
            and pool.objects is not None
            and isinstance(pool.objects.element, RowsCell)
        )
    return isinstance(element, Bounded)


def _refuse_empty(ctx: Context, length: Value) -> None:
    empty = ctx.op(ops.Compare("EQ"), length, ctx.constant(0, INT64))
    reason = NotKnown(span=ctx.span, what="the array of an empty list")
    ctx.check(empty, StagingError(()), refuse, [lambda: reason])


def _number_of(element: Abstract) -> Abstract | None:
    """The common kind of the elements of a list other than None."""
    options = alternatives(element) if isinstance(element, Gated) else ()
    others = [option for option in options if option != NONE]
    return others[0] if len(others) == 1 and len(options) == 2 else None


def _refuse_none(ctx: Context, vector: Vector[Abstract], element: Gated) -> None:
    """Raises PS401 where an element is None, of which NumPy makes an array of objects."""
    reason = NotKnown(span=ctx.span, what="the element type of an array of numbers of which one is None")
    refuse_where(ctx, vector, tag_of(ctx.b, element, alternatives(element).index(NONE)), reason)


def _array(
    ctx: Context,
    rules: Rules,
    vector: Vector[Abstract],
    as_index: bool,
    function: Callable[..., Any],
    of_any_type: bool,
) -> Raw:
    certain = _number_of(vector.element)
    if isinstance(vector.element, Gated) and certain is not None:
        _refuse_none(ctx, vector, vector.element)
    found = column(ctx, rules, certain or vector.element, "array")
    makes_array = function is rules.module.array
    if found is None or (found.mixed and not makes_array):
        ctx.fail(NotKnown(span=ctx.span, what="the element type of an array of numbers of several kinds"))
    array, length = found.array, int_value(ctx, vector.length)
    if as_index and not (is_integer(array.dtype) or array.dtype == BOOL):
        some = ctx.op(ops.Compare("NE"), length, ctx.constant(0, INT64))
        ctx.check(some, IndexError(_NO_INDEX), _refuse_index, [])
    usual = rules.default_float(ctx)
    is_usual = of_any_type or (is_integer(array.dtype) if as_index else array.dtype == usual)
    if not makes_array:
        _raise_of_none(ctx, vector, function)
    elif not isinstance(vector.length, int) and not (array.rank == 1 and is_usual):
        _refuse_empty(ctx, length)
    sizes = {} if isinstance(vector.length, int) else {0: length}
    for each in found.lengths:
        counts = [sizes.get(axis, n) for axis, n in enumerate(array.shape[: each.of_each.type.rank])]
        if isinstance(vector.length, int):
            counts[0] = vector.length
        sizes[each.axis] = _common_length(ctx, function, each, counts, array.shape[each.axis + 1 :])
        if each.of_lists and not (array.rank == each.axis + 1 and array.dtype == usual):
            _refuse_empty(ctx, sizes[each.axis])
    value = array.value
    if isinstance(vector.length, int):
        limits = (vector.length, *array.shape[1:])
        value = ctx.op(ops.Slice((0,) * array.rank, limits, (1,) * array.rank), value)
    made = rules.array(ctx, value, array.weak and not makes_array)
    assert isinstance(made, Ref | Array)
    return first_elements(ctx, made, sizes)


def rank_of_rows(ctx: Context, rules: Rules, raw: Raw) -> int | None:
    """The rank of the elements of a list whose length, or that of whose elements, only the program knows; else None."""
    vector = _computed_vector(ctx, raw)
    if vector is None:
        return None
    found = column(ctx, rules, _number_of(vector.element) or vector.element, "array")
    return None if found is None else found.array.rank - 1


def chained(ctx: Context, rules: Rules, raw: Raw, function: Callable[..., Any]) -> Raw | None:
    """The result of `function` for a list of arrays: all concatenated along their first axis; None for other lists."""
    vector = _computed_vector(ctx, raw)
    found = None if vector is None else column(ctx, rules, vector.element, "array")
    if vector is None or found is None or found.array.rank < 2:
        return None
    lengths, (capacity, most, *rest) = found.lengths, found.array.shape
    if len(lengths) > 1 or any(each.axis != 1 or each.of_lists for each in lengths):
        return None
    _raise_of_none(ctx, vector, function)
    flat = rules.array(ctx, ctx.reshape(found.array.value, (capacity * most, *rest)), found.array.weak)
    assert isinstance(flat, Ref | Array)
    if not lengths:
        count = ctx.op(ops.Multiply(), int_value(ctx, vector.length), ctx.constant(most, INT64))
        return first_elements(ctx, flat, {0: count})
    rows = _inside(ctx, [vector.length], (capacity, most))
    places = ctx.op(ops.Iota(ArrayType(INT64, (capacity, most)), 1))
    ends = ctx.op(ops.Broadcast((capacity, most), (0,)), lengths[0].of_each)
    inside = ctx.op(ops.And(), rows, ctx.op(ops.Compare("LT"), places, ends))
    return in_order(ctx, bounded(ctx, flat, [Extent(0, ctx.reshape(inside, (capacity * most,)))]))


def _raise_of_none(ctx: Context, vector: Vector[Abstract], function: Callable[..., Any]) -> None:
    """Makes the program raise what a function that joins arrays raises for none."""
    if not isinstance(vector.length, int):
        empty = ctx.op(ops.Compare("EQ"), vector.length, ctx.constant(0, INT64))
        ctx.check(empty, ValueError(), function, [Const(())])


def arrays_of_rows(
    ctx: Context,
    raw: Raw,
    function: Callable[..., Any] = np.array,
    of_any_type: bool = False,
    rules: Rules = NUMPY,
) -> Raw:
    """As `array_of_rows`, also of such lists that a list or tuple holds."""
    items = (
        sequence_items(ctx, raw)
        if isinstance(raw, Tuple) or isinstance(cell_of(ctx, raw), ListCell)
        else None
    )
    made = [array_of_rows(ctx, item, function=rules.module.array, rules=rules) for item in items or ()]
    if items is None or all(new is item for new, item in zip(made, items, strict=True)):
        return array_of_rows(ctx, raw, function=function, of_any_type=of_any_type, rules=rules)
    return Tuple(tuple(made), raw.cls) if isinstance(raw, Tuple) else new_list(ctx, made)


def index_arrays(ctx: Context, index: Abstract) -> Abstract:
    """An index of an ndarray, with the arrays that NumPy makes of lists whose length only the program knows."""
    if isinstance(index, RowsTuple):  # of which each element is an index
        return Tuple(list_items(ctx, index.items))
    if isinstance(index, Tuple) and index.cls is tuple:
        return Tuple(tuple([array_of_rows(ctx, part, as_index=True) for part in index.items]))
    made: Abstract = array_of_rows(ctx, index, as_index=True)
    return made
