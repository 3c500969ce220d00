"""Arrays from nested lists and tuples, for `np.array` and `jnp.array`.

In: a nested list or tuple of numbers, constant or staged, and of arrays of one shape. Out: their stack, in the element
type that the library infers. A nest of constants is one constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...diagnostics.codes_constant import NotKnown
from ...diagnostics.errors import StagingError
from ...hlo.types import BOOL, FLOAT64, INT64, is_integer
from ...ops import Compare, Concatenate, Slice
from ...values.boundary import Form
from ...values.gated import GatedNumber, number_of_kind
from ...values.lattice import LISTS, Abstract, Array, Const, ListCell, Range, Ref, RowsCell, RowsTuple, Tuple
from ...values.rows import stacked
from ..context import Context, Raw
from ..numpy.indexing.bounded import first_elements
from ..numpy.indexing.indices import known_sequence
from ..python.number_checks import refuse
from ..rules.jax import canonical
from ..rules.libraries import NUMPY, ArrayArgument, Rules
from ..rules.rows import row_at
from .structures import cell_of, list_items, list_length, new_list, sequence_items


def stack_nested(ctx: Context, value: Raw) -> Array:
    """A nested list or tuple as `np.asarray` reads it; ValueError in the program where rows differ."""
    return Array(nested(ctx, NUMPY, value, "np.array").value, Form.NDARRAY)


def elements(ctx: Context, raw: Raw) -> list[Abstract] | None:
    """The elements of a list, tuple or range; None for anything else."""
    if isinstance(raw, Const) and isinstance(raw.value, list | tuple):
        return [Const(v) for v in raw.value]
    if isinstance(raw, Tuple):
        return list(raw.items)
    if isinstance(raw, Ref) and isinstance(ctx.cell(raw), LISTS):
        return list(list_items(ctx, ctx.cell(raw)))
    if isinstance(raw, Range) or (isinstance(raw, Const) and isinstance(raw.value, range)):
        return ctx.iterate(raw)
    return None


def samples(ctx: Context, raw: Raw) -> Sequence[Abstract] | None:
    """The elements of a list, tuple or range; of a list of rows, one that is of the kinds of all of them."""
    cell = cell_of(ctx, raw)
    if isinstance(cell, RowsCell):
        return [row_at(ctx.b, cell.element, ctx.constant(0, INT64))]
    return elements(ctx, raw)


class _Ragged(Exception):
    """Rows of a nested sequence have several shapes."""


def nested(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument:
    """A number, an array, or a nested sequence of them, as one array."""
    try:
        return _nested(ctx, rules, raw, function)
    except _Ragged:
        ragged = like_sequence(ctx, raw)
    try:
        np.array(ragged)  # says down to which axis the shapes agree
    except ValueError as error:
        ctx.raise_(ValueError(str(error)))
    raise AssertionError(f"NumPy makes an array of {ragged!r}")


_NO_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays"
    " are valid indices"
)


def _refuse_index() -> None:
    raise IndexError(_NO_INDEX)


def array_of_rows(ctx: Context, raw: Raw, as_index: bool = False, of_integers: bool = False) -> Raw:
    """An argument of a function of NumPy: of a list whose length only the program knows, the array that NumPy makes.

    NumPy makes one of float64 of an empty list; of an index, or where the function makes it `of_integers`, one of integers.
    """
    cell = raw.rows if isinstance(raw, RowsTuple) else cell_of(ctx, raw)
    if not isinstance(cell, RowsCell) or isinstance(cell.length, int):
        return raw
    extent = list_length(cell)
    if ctx.can_be_known(extent):
        return raw
    if isinstance(raw, RowsTuple) and isinstance(extent, Array) and ctx.can_be_unrolled(extent):
        return Tuple(list_items(ctx, cell))
    array = _of_rows(ctx, NUMPY, cell.element, "array")
    if array is None:
        ctx.fail(NotKnown(span=ctx.span, what="the element type of an array of numbers of several kinds"))
    if as_index and not (is_integer(array.dtype) or array.dtype == BOOL):
        some = ctx.op(Compare("NE"), cell.length, ctx.constant(0, INT64))
        ctx.check(some, IndexError(_NO_INDEX), _refuse_index, [])
    if array.rank > 1 or not (is_integer(array.dtype) if as_index or of_integers else array.dtype == FLOAT64):
        empty = ctx.op(Compare("EQ"), cell.length, ctx.constant(0, INT64))
        reason = NotKnown(span=ctx.span, what="the array of an empty list")
        ctx.check(empty, StagingError(()), refuse, [lambda: reason])
    return first_elements(ctx, ctx.ndarray(array.value), {0: cell.length})


def arrays_of_rows(ctx: Context, raw: Raw, of_integers: bool = False) -> Raw:
    """As `array_of_rows`, also of such lists that a list or tuple holds."""
    items = (
        sequence_items(ctx, raw)
        if isinstance(raw, Tuple) or isinstance(cell_of(ctx, raw), ListCell)
        else None
    )
    made = [array_of_rows(ctx, item) for item in items or ()]
    if items is None or all(new is item for new, item in zip(made, items, strict=True)):
        return array_of_rows(ctx, raw, of_integers=of_integers)
    return Tuple(tuple(made), raw.cls) if isinstance(raw, Tuple) else new_list(ctx, made)


def index_arrays(ctx: Context, index: Abstract) -> Abstract:
    """An index of an ndarray, with the arrays that NumPy makes of lists whose length only the program knows."""
    if isinstance(index, RowsTuple):  # of which each element is an index
        return Tuple(list_items(ctx, index.rows))
    if isinstance(index, Tuple) and index.cls is tuple:
        return Tuple(tuple([array_of_rows(ctx, part, as_index=True) for part in index.items]))
    made: Abstract = array_of_rows(ctx, index, as_index=True)
    return made


def _of_rows(ctx: Context, rules: Rules, element: Abstract, function: str) -> ArrayArgument | None:
    """The array of all rows; None where their element type is not one, or they are no numbers."""
    if isinstance(element, Tuple):
        parts = [_of_rows(ctx, rules, part, function) for part in element.items]
        columns = [part for part in parts if part is not None]
        if not columns or len(columns) < len(parts) or len({part.shape for part in columns}) > 1:
            return None
        values, weak = rules.common(ctx, columns)
        wide = [ctx.reshape(v, (v.type.static_shape[0], 1, *v.type.static_shape[1:])) for v in values]
        return ArrayArgument(ctx.op(Concatenate(1), *wide), weak)
    if not isinstance(element, Array) or element.key_impl:
        return None
    sample = row_at(ctx.b, element, ctx.constant(0, INT64))
    assert isinstance(sample, Array)
    samples = [sample]
    if isinstance(sample, GatedNumber):
        samples = [number_of_kind(ctx.b, sample, at) for at in range(len(sample.kinds))]
        if sample.whole is not None:
            return None
    types = {rules.common_dtype(ctx, [rules.operand(ctx, each, function)]) for each in samples}
    if len(types) > 1:
        return None
    dtype, weak = types.pop()
    return ArrayArgument(ctx.convert(element.value, dtype), weak)


def _known_rows(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument | None:
    """The array of a list of rows of known length."""
    cell = cell_of(ctx, raw)
    if not isinstance(cell, RowsCell) or not isinstance(cell.length, int) or not cell.length:
        return None
    array = _of_rows(ctx, rules, cell.element, function)
    if array is None:
        return None
    rest = array.shape[1:]
    part = Slice((0,) * array.rank, (cell.length, *rest), (1,) * array.rank)
    return ArrayArgument(ctx.op(part, array.value), array.weak)


def _nested(ctx: Context, rules: Rules, raw: Raw, function: str) -> ArrayArgument:
    rows = _known_rows(ctx, rules, raw, function)
    if rows is not None:
        return rows
    items = elements(ctx, raw)
    if items is None:
        return rules.operand(ctx, raw, function)
    known = known_sequence(ctx, raw)
    if known is not None and not rules.is_jax:
        return ArrayArgument(ctx.constant(known, known.dtype))
    if not items:
        return ArrayArgument(ctx.constant(np.zeros(0), rules.default_float(ctx)))
    parts = [_nested(ctx, rules, item, function) for item in items]
    if len({p.shape for p in parts}) > 1:
        raise _Ragged
    values, _ = rules.common(ctx, parts)
    if known is not None:
        dtype = values[0].type.dtype
        return ArrayArgument(ctx.constant(known.astype(dtype), dtype))
    return ArrayArgument(stacked(ctx.b, values))


def like_sequence(ctx: Context, raw: Raw) -> Any:
    """A nested sequence or an array of the same kind and shape as `raw`, of zeros."""
    items = elements(ctx, raw)
    if items is None:
        read = ctx.read(raw)
        shape = read.shape if isinstance(read, Array) else np.shape(read.value)
        return (
            np.broadcast_to(np.zeros((), read.dtype if isinstance(read, Array) else None), shape)
            if shape
            else 0
        )
    sample = [like_sequence(ctx, item) for item in items]
    return tuple(sample) if isinstance(raw, Tuple) else sample


def depth(value: Any) -> int:
    """How many axes a nested sequence of numbers and arrays has."""
    if isinstance(value, list | tuple):
        return 1 + max(map(depth, value), default=0)
    return int(np.ndim(value))


def is_sequence(ctx: Context, raw: Raw) -> bool:
    """True for a list, tuple or range."""
    return samples(ctx, raw) is not None


def default_float(ctx: Context, rules: Rules) -> np.dtype[np.generic]:
    """The element type of an array that nothing gives a type."""
    return canonical(FLOAT64, ctx.x64) if rules.is_jax else FLOAT64
