"""`x.flat`: an iterator over the elements of an ndarray in row-major order, which also supports indexing and stores.

In: a reference to the iterator, a view of `x` with one axis (`FlatIterator`). Reads copy; stored values are repeated to
the required length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ....diagnostics.codes_calls import NotServed
from ....values.boundary import Form
from ....values.lattice import (
    Abstract,
    Array,
    Const,
    FlatIterator,
    IteratorCell,
    Meaning,
    Method,
    Ref,
    Tuple,
    through,
)
from ....values.views import Reshaped
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...operands.casting import array_value
from ...operands.libraries import NUMPY
from ...operands.nested_sequences import elements, nested
from ..indexing.bounds_checks import check_inside
from ..indexing.flat_stores import refuse_own_memory, store_until_outside
from ..indexing.indices import from_front, is_index
from ..indexing.stores import dtype_of, shape_of
from .subscripts import array_getitem, array_setitem

_SINGLE = ValueError("Error setting single item of array.")
_INVALID = "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices"


def new_flat(ctx: Context, array: Ref) -> Ref:
    """`array.flat`."""
    return Ref(ctx.state.new_cell(IteratorCell(FlatIterator(_line(ctx, array)))))


def _line(ctx: Context, array: Ref) -> Ref:
    return through(array, (Reshaped((int(np.prod(shape_of(ctx, array))),)),))


def flat_of(ctx: Context, value: Raw) -> FlatIterator | None:
    """The view that `x.flat` iterates, if `value` is one."""
    cell = ctx.state.get(value.cell) if isinstance(value, Ref) else None
    return cell.source if isinstance(cell, IteratorCell) and isinstance(cell.source, FlatIterator) else None


def flat_attribute(ctx: Context, flat: FlatIterator, name: str) -> Abstract | None:
    """`x.flat.name`: a copy; None for what is not staged."""
    if name == "copy":
        return Method(Meaning(name, lambda ctx, self: ctx.new(ctx.contents(flat.array))), flat)
    return None


# ---------------------------------------------------------------- indexing


def flat_getitem(ctx: Context, flat: FlatIterator, index: Abstract) -> Abstract:
    """`x.flat[index]`: a number or a copy."""
    found = array_getitem(ctx, flat.array, _checked(ctx, flat, index))
    return ctx.new(ctx.contents(found)) if isinstance(found, Ref) else found


def flat_setitem(ctx: Context, flat: FlatIterator, index: Abstract, value: Raw) -> None:
    """`x.flat[index] = value`: one number, or as many as there are indices, from the first again where they end."""
    index = _parsed(ctx, flat, index)
    if is_index(index):
        index = _checked(ctx, flat, index)
        array_setitem(ctx, flat.array, index, _single(ctx, flat, value))
        return
    given = _given(ctx, flat, value)
    if given is None:
        return
    size = shape_of(ctx, flat.array)[0]
    positions = _positions(ctx, index)
    if positions is not None:
        front = from_front(ctx, positions, size)
        new = array_value(ctx, given, dtype_of(ctx, flat.array), "a store into x.flat")
        return store_until_outside(ctx, flat.array, positions, front, new, _outside(size))
    numbers = ctx.call(Const(np.arange), [Const(size)])
    chosen = array_getitem(ctx, numbers, index)
    if not isinstance(chosen, Ref):  # of a mask: how many there are is known only at run time
        _refuse(ctx, "a store at a mask into x.flat", "store into x[mask], or x.ravel()[mask]")
    shape = shape_of(ctx, chosen)
    count = int(np.prod(shape))
    repeated = ctx.call(Const(np.resize), [given, Const(count)])
    array_setitem(
        ctx, flat.array, index, ctx.call(Const(np.reshape), [repeated, Tuple(tuple(map(Const, shape)))])
    )


def flat_assign(ctx: Context, array: Ref, value: Raw) -> None:
    """`x.flat = value`."""
    flat = FlatIterator(_line(ctx, array))
    flat_setitem(ctx, flat, Const(Ellipsis), value)


def _parsed(ctx: Context, flat: FlatIterator, index: Abstract) -> Abstract:
    """The index of an axis: an integer, a slice, or an array; other values raise what a flat iterator raises."""
    if isinstance(index, Tuple):
        if len(index.items) > 1:
            text = "too many indices for flat iterator: flat iterator is 1-dimensional, but"
            ctx.raise_(IndexError(f"{text} {len(index.items)} were indexed"))
        return _parsed(ctx, flat, index.items[0]) if index.items else Const(Ellipsis)
    if isinstance(index, Const) and index.value is None:
        ctx.raise_(IndexError(_INVALID))
    if isinstance(index, Const) and isinstance(index.value, bool | float | np.bool_ | np.floating):
        _refuse(ctx, "an index of x.flat that is no integer", "index it by an integer")
    if elements(ctx, index):
        return ctx.ndarray(nested(ctx, NUMPY, index, "an index of x.flat").value)
    return index


def _positions(ctx: Context, index: Abstract) -> Array | None:
    """The integers that an index is, if it is an array of them."""
    read = ctx.read(index) if isinstance(index, Ref) and ctx.is_ndarray(index) else None
    return read if isinstance(read, Array) and read.dtype.kind in "iu" else None


def _checked(ctx: Context, flat: FlatIterator, index: Abstract) -> Abstract:
    """The index of an axis, which raises what a flat iterator raises where it is out of bounds."""
    index = _parsed(ctx, flat, index)
    size = shape_of(ctx, flat.array)[0]
    if isinstance(index, Const) and is_index(index) and not -size <= index.value < size:
        ctx.raise_(IndexError(f"index {index.value} is out of bounds for size {size}"))
    if isinstance(index, Array) and is_index(index):
        front = from_front(ctx, index, size)
        check_inside(ctx, index, front, size, _outside(size))
        return Array(front, Form.PYTHON, range=(0, max(size - 1, 0)))
    positions = _positions(ctx, index)
    if positions is not None:
        check_inside(ctx, positions, from_front(ctx, positions, size), size, _outside(size))
    return index


def _outside(size: int) -> Callable[[Any], None]:
    def index(at: Any) -> None:
        np.broadcast_to(np.int8(0), (size,)).flat[at]

    return index


# ---------------------------------------------------------------- what is stored


def _single(ctx: Context, flat: FlatIterator, raw: Raw) -> Abstract:
    """One number, of a kind that the elements hold whatever it is."""
    value: Abstract = abstract(raw)
    dtype = dtype_of(ctx, flat.array)
    if isinstance(value, Const):
        try:
            np.zeros(1, dtype).flat[0] = value.value
        except ValueError as error:
            ctx.raise_(error)
        return value
    read = nested(ctx, NUMPY, value, "a store into x.flat")
    if read.shape:
        ctx.raise_(_SINGLE)
    source = read.value.type.dtype
    if not np.can_cast(source, dtype, "safe" if dtype.kind in "iu" else "same_kind"):
        _refuse(
            ctx, f"a store of {source} into x.flat[i] of {dtype}", "store into x itself, or convert it before"
        )
    return value


def _given(ctx: Context, flat: FlatIterator, raw: Raw) -> Abstract | None:
    """The stored values as a new vector; None if it is empty."""
    value: Abstract = abstract(raw)
    read = nested(ctx, NUMPY, value, "a store into x.flat")
    if not read.value.type.size:
        return None
    refuse_own_memory(ctx, value, flat.array, "x.flat")
    if not read.shape:
        return Array(array_value(ctx, value, dtype_of(ctx, flat.array), "a store into x.flat"), Form.SCALAR)
    if elements(ctx, value) is not None:
        return ctx.ndarray(array_value(ctx, value, dtype_of(ctx, flat.array), "a store into x.flat"))
    line: Abstract = ctx.call(Const(np.ravel), [value])
    return line


def _refuse(ctx: Context, what: str, instead: str) -> NoReturn:
    ctx.fail(
        NotServed(
            span=ctx.span,
            name=what,
            why="what NumPy makes of it depends on more than the values",
            instead=instead,
        )
    )
