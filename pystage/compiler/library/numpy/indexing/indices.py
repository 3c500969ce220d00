"""Normalisation of the index in `x[…]` against the shape of `x`.

In: the abstract index and a shape. Out: one item per part of the index, with ellipses expanded, exactly one item for
each axis, and indices counted from the front. Errors that the plain run certainly raises are raised here, except for
index arrays out of bounds: NumPy checks those last, after it has converted the stored value (`Indices.check_indices`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .....records import dataclass
from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.ir import Value
from ....hlo.types import BOOL, INT64, MOST_AXES, UINT64, is_integer
from ....ops import Add, Compare, Select
from ....values.boundary import Form
from ....values.bounded import Bounded
from ....values.lattice import LISTS, NONE, Abstract, Array, Const, Ref, SliceObject, Tuple
from ....values.views import Index
from ...context import Context, Raw
from ...kernels.structures import list_items
from ...rules.jax import canonical
from ...rules.promote import fits
from .bounds_checks import TOO_LARGE, check_inside, check_representable, outside_of_axis
from .slices import SelectedPositions, SliceIndex, part_of
from .stores import known_array

_NUMPY_INVALID = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
    "are valid indices"
)


@dataclass(frozen=True, slots=True)
class NewAxis:
    """`None`: an axis of one element."""


@dataclass(frozen=True, slots=True)
class IntegerIndex:
    """An integer. `is_array`: a 0-d array, by which indexing copies. `inside`: surely not out of bounds."""

    index: Index
    is_array: bool = False
    inside: bool = True


@dataclass(frozen=True, slots=True)
class IntegerArrayIndex:
    """An array of integers, all counted from the front; `known` where it is a constant of the program.

    `check` makes the program raise where one is out of bounds; None where they are inside, or may be out of bounds.
    """

    value: Value
    known: np.ndarray | None = None
    check: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class MaskIndex:
    """A boolean array over as many axes as it has, whose elements are not known now; or that of a `slice`."""

    value: Value
    slice: SelectedPositions | None = None

    @property
    def is_slice(self) -> bool:
        """True for a slice of unknown length."""
        return self.slice is not None


Item = NewAxis | SliceIndex | IntegerIndex | IntegerArrayIndex | MaskIndex


@dataclass(frozen=True, slots=True)
class Indices:
    """A whole index. `elements`: it is made of integers alone, one for each axis."""

    items: tuple[Item, ...]
    elements: bool
    separated: bool
    """True if something other than integers and arrays stands between two of them."""

    @property
    def masks(self) -> list[MaskIndex]:
        """The masks among the items."""
        return [i for i in self.items if isinstance(i, MaskIndex)]

    @property
    def is_sliced(self) -> bool:
        """True if there is a slice of unknown length, and no array."""
        found = self.masks
        return (
            bool(found)
            and all(m.is_slice for m in found)
            and not any(isinstance(i, IntegerArrayIndex) for i in self.items)
        )

    @property
    def is_basic(self) -> bool:
        """True if there are integers, slices, None and ellipses only."""
        return not any(isinstance(i, IntegerArrayIndex | MaskIndex) for i in self.items)

    @property
    def copies(self) -> bool:
        """True if NumPy gives a copy though the index is basic."""
        return any(isinstance(i, IntegerIndex) and i.is_array for i in self.items)

    def check_indices(self) -> None:
        """Makes the program raise where one of an array of indices is out of bounds."""
        for item in self.items:
            if isinstance(item, IntegerArrayIndex) and item.check is not None:
                item.check()


_ELLIPSIS: Any = object()
_Entry = Any  # None, _ELLIPSIS, Slice, or a number or array that `ctx.read` gave


def parse(ctx: Context, index: Raw, shape: tuple[int, ...], jax: bool) -> Indices:
    """The index of an array of `shape`, by NumPy's rules or by JAX's."""
    entries = [entry_of(ctx, raw, jax) for raw in _listed(ctx, index)]
    if sum([e is _ELLIPSIS for e in entries]) > 1:
        ctx.raise_(IndexError("an index can only have a single ellipsis ('...')"))
    if jax:
        _check_convertible(ctx, entries)
    else:
        _check_representable(ctx, entries)
    used = sum([_axes_used(e) for e in entries])
    if used > len(shape):
        _too_many(ctx, len(shape), used, jax)
    separated = _is_separated(entries)
    elements = used == len(shape) and all(_is_integer(e) and not _is_0d(e) for e in entries)
    items: list[Item] = []
    axis = 0
    for entry in entries:
        if entry is _ELLIPSIS:
            skipped = len(shape) - used
            items += [SliceIndex(0, n, 1) for n in shape[axis : axis + skipped]]
            axis += skipped
        else:
            items += _items(ctx, entry, shape, axis, jax)
            axis += _axes_used(entry)
    items += [SliceIndex(0, n, 1) for n in shape[axis:]]
    if not jax:
        _check_rank(ctx, entries, len(shape) - used)
    return Indices(tuple(items), elements, separated)


def spelled_out(ctx: Context, index: Raw, rank: int) -> tuple[list[Raw], bool]:
    """The entries of an index of `rank` axes, with slices for an ellipsis; whether it is one integer for each axis.

    PS203 for a 0-d array of integers: what it gives of structured arrays is a view, of all others a copy.
    """
    raws = list(_listed(ctx, index))
    entries = [entry_of(ctx, raw, False) for raw in raws]
    if sum([e is _ELLIPSIS for e in entries]) > 1:
        ctx.raise_(IndexError("an index can only have a single ellipsis ('...')"))
    if any(map(_is_0d, entries)):
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="indexing", argument="0-d array"))
    used = sum([_axes_used(e) for e in entries])
    if used > rank:
        _too_many(ctx, rank, used, False)
    if _ELLIPSIS in entries:
        at = entries.index(_ELLIPSIS)
        raws[at : at + 1] = [SliceObject(NONE, NONE, NONE)] * (rank - used)
    return raws, used == rank and all(map(_is_integer, entries))


def _check_rank(ctx: Context, entries: Sequence[_Entry], others: int) -> None:
    """NumPy's exception for a result of too many axes, of which `others` have no entry."""
    sliced = sum(entry is None or isinstance(entry, SliceObject) for entry in entries)
    arrays = [e for e in entries if isinstance(e, Array | Bounded)]
    rank = others + sliced + max([1 if e.type.dtype == BOOL else e.rank for e in arrays], default=0)
    if rank > MOST_AXES:
        text = f"number of dimensions must be within [0, {MOST_AXES}], indexing result would have {rank}"
        ctx.raise_(IndexError(text))


def _check_representable(ctx: Context, entries: Sequence[_Entry]) -> None:
    """NumPy's exception for an integer that 64 bits with a sign do not hold, before any index is looked up.

    OverflowError for one of uint64; a larger or a smaller one is an object to NumPy, and so no index: IndexError.
    """
    for entry in entries:
        if isinstance(entry, Const) and not fits(int(entry.value), INT64):
            held = fits(int(entry.value), UINT64)
            ctx.raise_(OverflowError(*TOO_LARGE.args) if held else IndexError(_NUMPY_INVALID))
        if isinstance(entry, Array) and not entry.rank and entry.dtype == UINT64 and len(entries) > 1:
            check_representable(ctx, entry)


def _check_convertible(ctx: Context, entries: Sequence[_Entry]) -> None:
    """JAX's exception for a Python integer that its own integers do not hold."""
    dtype = canonical(INT64, ctx.x64)
    for entry in entries:
        if isinstance(entry, Const) and type(entry.value) is int and not fits(entry.value, dtype):
            ctx.raise_(OverflowError(f"Python int {entry.value} too large to convert to {dtype}"))


def _listed(ctx: Context, index: Raw) -> Sequence[Raw]:
    """The parts of an index: those of a tuple, else the index itself."""
    if isinstance(index, Tuple):
        return index.items
    if isinstance(index, Const) and isinstance(index.value, tuple):
        return [Const(v) for v in index.value]
    return [index]


def entry_of(ctx: Context, raw: Raw, jax: bool) -> _Entry:
    """One part of an index, classified."""
    if isinstance(raw, SliceObject | Bounded):
        return raw
    if isinstance(raw, Const):
        value = raw.value
        if value is None:
            return None
        if value is Ellipsis:
            return _ELLIPSIS
        if isinstance(value, slice):
            return SliceObject(Const(value.start), Const(value.stop), Const(value.step))
        if isinstance(value, bool | np.bool_):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="indexing", argument="single boolean"))
        if isinstance(value, int | np.integer):
            return raw
        if not isinstance(value, tuple):
            _invalid(ctx, value, jax)
    if jax:
        check_no_sequence(ctx, raw)
    known = known_sequence(ctx, raw)
    if known is not None:
        return _checked(ctx, Array(ctx.constant(known, known.dtype), Form.NDARRAY), jax, listed=True)
    read = ctx.read(raw)
    if isinstance(read, Const | Bounded):
        return read
    return _checked(ctx, read, jax, listed=_is_list(ctx, raw) or isinstance(raw, Tuple))


def _checked(ctx: Context, array: Array, jax: bool, listed: bool) -> Array:
    """An array that may index: of integers or booleans (a list without elements counts as integers)."""
    if array.dtype == BOOL and not array.rank:
        ctx.fail(ArgumentNotStaged(span=ctx.span, function="indexing", argument="single boolean"))
    if is_integer(array.dtype) or array.dtype == BOOL:
        return array
    if array.type.size == 0 and listed:
        return Array(ctx.constant(np.zeros(array.shape), INT64), Form.NDARRAY)
    if jax:
        ctx.raise_(
            TypeError(f"Indexer must have integer or boolean type, got indexer with type {array.dtype}")
        )
    if array.form is Form.NDARRAY and not listed:
        ctx.raise_(IndexError("arrays used as indices must be of integer (or boolean) type"))
    ctx.raise_(IndexError(_NUMPY_INVALID))


def check_no_sequence(ctx: Context, raw: Raw) -> None:
    """The program raises JAX's TypeError for a list or tuple as an index."""
    if isinstance(raw, Tuple) or _is_list(ctx, raw):
        text = "Using a non-tuple sequence for multidimensional indexing is not allowed"
        see = "See https://github.com/jax-ml/jax/issues/4564 for more information."
        ctx.raise_(TypeError(f"{text}; use `arr[array(seq)]` instead of `arr[seq]`. {see}"))


def _invalid(ctx: Context, value: object, jax: bool) -> None:
    if jax:
        kind = type(value).__name__
        ctx.raise_(TypeError(f"JAX does not support indexing with an object of type {kind}: {value!r}."))
    ctx.raise_(IndexError(_NUMPY_INVALID))


def _is_list(ctx: Context, raw: Raw) -> bool:
    return isinstance(raw, Ref) and isinstance(ctx.cell(raw), LISTS)


def known_sequence(ctx: Context, raw: Raw) -> np.ndarray | None:
    """A list or tuple (of lists …) of numbers that are all known now, as an array; else None."""
    value = plain_sequence(ctx, raw)
    if value is None:
        return None
    try:
        array = np.asarray(value)
    except ValueError as error:
        ctx.raise_(error)
    return array if array.dtype.kind in "biufc" else None


def plain_sequence(ctx: Context, raw: Raw) -> list[Any] | None:
    """A list or tuple (of lists …) of numbers that are all known now; else None."""
    if isinstance(raw, Const) and isinstance(raw.value, tuple):
        return list(raw.value)
    if isinstance(raw, Tuple) and raw.cls is tuple:
        items = raw.items
    elif _is_list(ctx, raw):
        items = list_items(ctx, ctx.cell(raw).items)
    else:
        return None
    parts: list[Any] = []
    for item in items:
        if isinstance(item, Const) and isinstance(item.value, bool | int | float | complex | np.generic):
            parts.append(item.value)
        else:
            inner = plain_sequence(ctx, item)
            if inner is None:
                return None
            parts.append(inner)
    return parts


def _is_0d(entry: _Entry) -> bool:
    return isinstance(entry, Array) and not entry.rank and entry.form is Form.NDARRAY


def _is_integer(entry: _Entry) -> bool:
    if isinstance(entry, Const):
        return True
    return isinstance(entry, Array) and not entry.rank


def _axes_used(entry: _Entry) -> int:
    """The number of axes of the array that an entry consumes."""
    if entry is None or entry is _ELLIPSIS:
        return 0
    if isinstance(entry, Array) and entry.dtype == BOOL:
        return entry.rank
    return 1


def _is_separated(entries: Sequence[_Entry]) -> bool:
    """True if the integers and arrays are not adjacent."""
    positions = [i for i, e in enumerate(entries) if isinstance(e, Array | Const)]
    return bool(positions) and positions[-1] - positions[0] + 1 != len(positions)


def _too_many(ctx: Context, rank: int, used: int, jax: bool) -> None:
    if jax:
        ctx.raise_(IndexError(f"Too many indices: array is {rank}-dimensional, but {used} were indexed"))
    text = f"too many indices for array: array is {rank}-dimensional, but {used} were indexed"
    ctx.raise_(IndexError(text))


def _items(ctx: Context, entry: _Entry, shape: tuple[int, ...], axis: int, jax: bool) -> list[Item]:
    """The item (of a known mask, the items) that an entry makes of the axes that it consumes."""
    if entry is None:
        return [NewAxis()]
    if isinstance(entry, SliceObject):
        part = part_of(ctx, entry, shape[axis])
        return [part if isinstance(part, SliceIndex) else MaskIndex(part.mask, part)]
    if isinstance(entry, Const):
        return [_known_item(ctx, int(entry.value), shape[axis], axis, jax, False)]
    assert isinstance(entry, Array)
    known = known_array(entry.value)
    if entry.dtype == BOOL:
        return _mask_items(ctx, entry, known, shape, axis)
    if known is not None and not entry.rank:
        return [_known_item(ctx, int(known), shape[axis], axis, jax, _is_0d(entry))]
    if known is not None:
        return [_known_indices(ctx, known, shape[axis], axis, jax)]
    if not entry.rank:
        low, high = ctx.range_of(entry)
        inside = -shape[axis] <= low <= high < shape[axis]
        front = from_front(ctx, entry, shape[axis])
        if not jax and not inside:
            _check(ctx, entry, front, shape[axis], axis)
        return [IntegerIndex(front, _is_0d(entry), inside)]
    front = from_front(ctx, entry, shape[axis])
    return [
        IntegerArrayIndex(front, check=None if jax else lambda: _check(ctx, entry, front, shape[axis], axis))
    ]


def _check(ctx: Context, entry: Array, front: Value, extent: int, axis: int) -> None:
    """Makes the program raise where one of the staged indices is out of bounds."""
    check_inside(ctx, entry, front, extent, outside_of_axis(axis, extent), TOO_LARGE)


def _mask_items(
    ctx: Context, entry: Array, known: np.ndarray | None, shape: tuple[int, ...], axis: int
) -> list[Item]:
    """A mask; one that is known now is the indices of its true elements."""
    for i, n in enumerate(entry.shape):
        if n != shape[axis + i]:
            text = "boolean index did not match"
            ctx.raise_(
                IndexError(
                    f"{text} indexed array along axis {axis + i}; size of axis is {shape[axis + i]} "
                    f"but size of corresponding boolean axis is {n}"
                )
            )
    if known is None:
        return [MaskIndex(entry.value)]
    return [IntegerArrayIndex(ctx.constant(i, INT64), i) for i in np.nonzero(known)]


def _known_indices(ctx: Context, known: np.ndarray, extent: int, axis: int, jax: bool) -> IntegerArrayIndex:
    """A constant array of indices; NumPy raises where one is out of bounds, JAX does not."""
    positions = known.astype(np.int64)
    outside = positions[(positions < -extent) | (positions >= extent)]
    positions = np.where(positions < 0, positions + extent, positions)
    found = IntegerArrayIndex(ctx.constant(positions, INT64), positions)
    if jax or not outside.size:
        return found
    return replace(found, check=lambda: _out_of_bounds(ctx, int(outside.flat[0]), axis, extent))


def _known_item(ctx: Context, index: int, extent: int, axis: int, jax: bool, is_array: bool) -> IntegerIndex:
    """A known index, counted from the front. JAX leaves it out of bounds: loads clamp it, stores drop it."""
    inside = -extent <= index < extent
    if not jax and not inside:
        _out_of_bounds(ctx, index, axis, extent)
    return IntegerIndex(index + extent if index < 0 else index, is_array, inside)


def _out_of_bounds(ctx: Context, index: int, axis: int, extent: int) -> None:
    ctx.raise_(IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}"))


def from_front(ctx: Context, index: Array, extent: int | Value) -> Value:
    """Staged indices as int64, negative ones counted from the end; no operation where none is negative.

    An array of uint64 is one of int64 with the same bits to NumPy; a single one of 2**63 or more is an error.
    """
    value = ctx.convert(index.value, INT64)
    low, high = ctx.range_of(index)
    wraps = index.dtype == UINT64 and index.rank
    if (index.dtype.kind == "u" or low >= 0) and not wraps:
        return value
    shape = value.type.shape
    size = ctx.constant(extent, INT64) if isinstance(extent, int) else extent
    moved = ctx.op(Add(), value, ctx.broadcast(size, shape))
    if high < 0:
        return moved
    negative = ctx.op(Compare("LT"), value, ctx.broadcast(ctx.constant(0, INT64), shape))
    return ctx.op(Select(), negative, moved, value)


def is_index(value: Abstract) -> bool:
    """True for an abstract value that is one integer."""
    if isinstance(value, Const):
        return isinstance(value.value, int | np.integer) and not isinstance(value.value, bool)
    return isinstance(value, Array) and not value.rank and is_integer(value.dtype)
