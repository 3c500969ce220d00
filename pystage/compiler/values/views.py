"""Views: steps from an array to a part or a rearrangement of its memory.

A view reads its array from the value of its base, and writes a new array back into the base: a store through
any name of a piece of memory updates the cell that owns it.
"""

from __future__ import annotations

import numpy as np

from ...records import dataclass
from .. import ops
from ..hlo.builder import Builder
from ..hlo.ir import Value
from ..hlo.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT64, ArrayType, DType
from .node import TreeNode

Index = int | Value
"""A start: known now, or a scalar of the program."""


def index_value(b: Builder, index: Index) -> Value:
    """An index as a scalar of the program."""
    return ops.constant(b, index, INT64) if isinstance(index, int) else index


def broadcast(b: Builder, value: Value, shape: tuple[int, ...]) -> Value:
    """`value` broadcast to `shape` by NumPy's rules; they must fit."""
    if value.type.shape == shape:
        return value
    own = value.type.shape
    offset = len(shape) - len(own)
    kept = [i for i, n in enumerate(own) if n == shape[offset + i]]
    if len(kept) != len(own):
        value = b.op(ops.Reshape(tuple([own[i] for i in kept])), value)
    return b.op(ops.Broadcast(shape, tuple([offset + i for i in kept])), value)


@dataclass(frozen=True, slots=True)
class View(TreeNode):
    """One step from a base array to a view of it."""

    def read(self, b: Builder, base: Value) -> Value:
        """The value of the view, from that of the base."""
        raise NotImplementedError

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        """The value of the base after the view is set to `new`."""
        raise NotImplementedError

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        """The view's shape."""
        raise NotImplementedError

    def dtype(self, base: DType) -> DType:
        """The view's element type."""
        return base

    @property
    def read_only(self) -> bool:
        """True if NumPy refuses stores through the view."""
        return False


@dataclass(frozen=True, slots=True)
class Window(View):
    """The box of `sizes` elements that begins at `starts` (NumPy slices of step 1, and integers)."""

    starts: tuple[Index, ...]
    sizes: tuple[int, ...]

    @property
    def static(self) -> bool:
        """True if all starts are known."""
        return all(isinstance(s, int) for s in self.starts)

    def read(self, b: Builder, base: Value) -> Value:
        if self.sizes == base.type.shape:
            return base
        if self.static:
            starts = tuple([int(s) for s in self.starts])  # type: ignore[arg-type]
            limits = tuple([s + n for s, n in zip(starts, self.sizes)])
            return b.op(ops.Slice(starts, limits, (1,) * len(starts)), base)
        return b.op(ops.DynamicSlice(self.sizes), base, *[index_value(b, s) for s in self.starts])

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        if self.sizes == base.type.shape:
            return new
        if 0 in self.sizes:
            return base
        return b.op(ops.DynamicUpdateSlice(), base, new, *[index_value(b, s) for s in self.starts])

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return self.sizes


def entire(shape: tuple[int, ...]) -> Window:
    """A view of all elements of an array of `shape`, as another object (`x[:]`)."""
    return Window((0,) * len(shape), shape)


def is_entire(view: View) -> bool:
    """True for a box that begins at the first element: all of an array of its sizes."""
    return isinstance(view, Window) and view.static and not any(view.starts)


@dataclass(frozen=True, slots=True)
class Strided(View):
    """Every `strides`-th element from `starts` up to `limits` (NumPy slices of a known step above 1)."""

    starts: tuple[int, ...]
    limits: tuple[int, ...]
    strides: tuple[int, ...]

    def read(self, b: Builder, base: Value) -> Value:
        return b.op(ops.Slice(self.starts, self.limits, self.strides), base)

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        if new.type.size == 0:
            return base
        interior = tuple([s - 1 for s in self.strides])
        spread = [(n - 1) * s + 1 for n, s in zip(new.type.shape, self.strides)]
        high = tuple([n - a - e for n, a, e in zip(base.type.shape, self.starts, spread)])
        pad = ops.Pad(self.starts, high, interior)
        here = ops.constant(b, np.ones(new.type.shape, BOOL))
        mask = b.op(pad, here, ops.constant(b, False, BOOL))
        values = b.op(pad, new, ops.constant(b, 0, new.type.dtype))
        return b.op(ops.Select(), mask, values, base)

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return tuple([len(range(a, e, s)) for a, e, s in zip(self.starts, self.limits, self.strides)])


@dataclass(frozen=True, slots=True)
class Flipped(View):
    """The elements in reverse along `axes` (NumPy slices of a negative step)."""

    axes: tuple[int, ...]

    def read(self, b: Builder, base: Value) -> Value:
        return b.op(ops.Reverse(self.axes), base)

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        return b.op(ops.Reverse(self.axes), new)

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return base.shape


@dataclass(frozen=True, slots=True)
class Permuted(View):
    """The axes in another order (`.T`, `transpose`, `swapaxes`)."""

    permutation: tuple[int, ...]

    def read(self, b: Builder, base: Value) -> Value:
        return b.op(ops.Transpose(self.permutation), base)

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        inverse = tuple([int(i) for i in np.argsort(self.permutation)])
        return b.op(ops.Transpose(inverse), new)

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return tuple([base.shape[i] for i in self.permutation])


@dataclass(frozen=True, slots=True)
class Reshaped(View):
    """The same elements in another shape (`reshape` where NumPy gives a view, `ravel`, `None`, integers).

    `packed`: of `ravel`, which copies what has gaps, also where `reshape` does not.
    """

    new_shape: tuple[int, ...]
    packed: bool = False

    def read(self, b: Builder, base: Value) -> Value:
        return b.op(ops.Reshape(self.new_shape), base)

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        return b.op(ops.Reshape(base.type.shape), new)

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return self.new_shape


_PARTS = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
"""The element type of the parts of complex numbers."""


@dataclass(frozen=True, slots=True)
class RealOrImaginary(View):
    """The real or the imaginary part of a complex array (`.real`, `.imag`)."""

    imaginary: bool

    def read(self, b: Builder, base: Value) -> Value:
        return b.op(ops.Imag() if self.imaginary else ops.Real(), base)

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        if self.imaginary:
            return b.op(ops.Complex(), b.op(ops.Real(), base), new)
        return b.op(ops.Complex(), new, b.op(ops.Imag(), base))

    def dtype(self, base: DType) -> DType:
        return _PARTS.get(base, base)

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return base.shape


@dataclass(frozen=True, slots=True)
class Diagonal(View):
    """A diagonal of the last two axes, as the last axis; it begins in column `offset`, or in row `-offset`.

    That of `np.diagonal` is read-only (`frozen`), that of `np.einsum` is not.
    """

    offset: int
    frozen: bool

    def read(self, b: Builder, base: Value) -> Value:
        return read_path(b, base, self._steps(base.type))

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        return write_path(b, base, self._steps(base.type), new)

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        *outer, rows, columns = base.shape
        k = self.offset
        return *outer, max(min(rows, columns - k) if k >= 0 else min(rows + k, columns), 0)

    @property
    def read_only(self) -> bool:
        return self.frozen

    def _steps(self, base: ArrayType) -> tuple[View, View]:
        """The elements of each matrix in a row, and those at the diagonal's distance."""
        *outer, size = self.shape(base)
        rows, columns = base.shape[-2:]
        start = (self.offset if self.offset >= 0 else -self.offset * columns) if size else 0
        limit = start + (size - 1) * (columns + 1) + 1 if size else 0
        at = Strided((*[0] * len(outer), start), (*outer, limit), (*[1] * len(outer), columns + 1))
        return Reshaped((*outer, rows * columns)), at


@dataclass(frozen=True, slots=True)
class Repeated(View):
    """The elements repeated along axes (`np.broadcast_to`). Such a view is read-only."""

    new_shape: tuple[int, ...]

    @property
    def read_only(self) -> bool:
        return True

    def read(self, b: Builder, base: Value) -> Value:
        return broadcast(b, base, self.new_shape)

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return self.new_shape


@dataclass(frozen=True, slots=True)
class SlidingWindows(View):
    """All windows of `sizes` along `axes`, as axes behind the others (`sliding_window_view`). Such a view is read-only."""

    sizes: tuple[int, ...]
    axes: tuple[int, ...]

    @property
    def read_only(self) -> bool:
        return True

    def read(self, b: Builder, base: Value) -> Value:
        if 0 in self.shape(base.type):
            return broadcast(b, ops.constant(b, 0, base.type.dtype), self.shape(base.type))
        for size, axis in zip(self.sizes, self.axes):
            base = self._windows(b, base, size, axis)
        return base

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        extents = list(base.shape)
        for size, axis in zip(self.sizes, self.axes):
            extents[axis] -= size - 1
        return *extents, *self.sizes

    @staticmethod
    def _windows(b: Builder, base: Value, size: int, axis: int) -> Value:
        """The windows along one axis, by copies of it in a row, in which rows of `count + 1` elements are shifted by one."""
        rank = base.type.rank
        others = [at for at in range(rank) if at != axis]
        line = b.op(ops.Transpose((*others, axis)), base)
        *outer, count = line.type.shape
        copies = b.op(ops.Broadcast((*outer, size + 1, count), (*range(rank - 1), rank)), line)
        flat = b.op(ops.Reshape((*outer, (size + 1) * count)), copies)
        start, steps = (0,) * rank, (1,) * (rank + 1)
        flat = b.op(ops.Slice(start, (*outer, size * (count + 1)), steps[1:]), flat)
        shifted = b.op(ops.Reshape((*outer, size, count + 1)), flat)
        found = b.op(ops.Slice((*start, 0), (*outer, size, count - size + 1), steps), shifted)
        order = list(range(rank - 1))
        order.insert(axis, rank)
        return b.op(ops.Transpose((*order, rank - 1)), found)


@dataclass(frozen=True, slots=True)
class FieldOf(View):
    """The elements of one field of records, whose axes are the first `rank`: `spacing` bytes lie between two records."""

    spacing: int
    rank: int

    def read(self, b: Builder, base: Value) -> Value:
        return base

    def write(self, b: Builder, base: Value, new: Value) -> Value:
        return new

    def shape(self, base: ArrayType) -> tuple[int, ...]:
        return base.shape


def leading(view: View, inner: int) -> View:
    """The effect of a view on the axes before the last `inner` ones, which it does not change."""
    if not inner:
        return view
    match view:
        case Window(starts, sizes):
            return Window(starts[:-inner], sizes[:-inner])
        case Strided(starts, limits, strides):
            return Strided(starts[:-inner], limits[:-inner], strides[:-inner])
        case Permuted(permutation):
            return Permuted(permutation[:-inner])
        case Reshaped(shape, packed):
            return Reshaped(shape[:-inner], packed)
    return view


def read_path(b: Builder, base: Value, path: tuple[View, ...]) -> Value:
    """The array at the end of `path`."""
    for view in path:
        base = view.read(b, base)
    return base


def path_type(base: ArrayType, path: tuple[View, ...]) -> ArrayType:
    """Element type and shape of the array at the end of `path`, without an operation."""
    for view in path:
        base = ArrayType(view.dtype(base.dtype), view.shape(base))
    return base


def may_be_one(a: tuple[View, ...], b: tuple[View, ...]) -> bool:
    """True unless two paths certainly lead to different memory: offsets may be computed."""
    return len(a) == len(b) and all(map(_may_be_one_step, a, b))


def _may_be_one_step(a: View, b: View) -> bool:
    if not isinstance(a, Window) or not isinstance(b, Window):
        return a == b
    known = [(x, y) for x, y in zip(a.starts, b.starts) if isinstance(x, int) and isinstance(y, int)]
    return a.sizes == b.sizes and all(x == y for x, y in known)


def write_path(b: Builder, base: Value, path: tuple[View, ...], new: Value) -> Value:
    """The value of the base after the array at the end of `path` is set to `new`."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    return first.write(b, base, write_path(b, first.read(b, base), rest, new) if rest else new)
