"""Types of HLO values: an element type and a shape."""

from __future__ import annotations

import math
from functools import cache

import ml_dtypes
import numpy as np

from .immutable import immutable_value

DType = np.dtype[np.generic]

BOOL: DType = np.dtype(np.bool_)
INT8: DType = np.dtype(np.int8)
INT32: DType = np.dtype(np.int32)
INT64: DType = np.dtype(np.int64)
UINT8: DType = np.dtype(np.uint8)
UINT32: DType = np.dtype(np.uint32)
UINT64: DType = np.dtype(np.uint64)
FLOAT16: DType = np.dtype(np.float16)
BFLOAT16: DType = np.dtype(ml_dtypes.bfloat16)
FLOAT32: DType = np.dtype(np.float32)
FLOAT64: DType = np.dtype(np.float64)
COMPLEX64: DType = np.dtype(np.complex64)
COMPLEX128: DType = np.dtype(np.complex128)

SHORT_NAMES: dict[DType, str] = {
    BOOL: "pred",
    INT8: "s8",
    np.dtype(np.int16): "s16",
    INT32: "s32",
    INT64: "s64",
    UINT8: "u8",
    np.dtype(np.uint16): "u16",
    UINT32: "u32",
    UINT64: "u64",
    FLOAT16: "f16",
    BFLOAT16: "bf16",
    FLOAT32: "f32",
    FLOAT64: "f64",
    COMPLEX64: "c64",
    COMPLEX128: "c128",
}
"""HLO's short name of every element type that pystage stages."""


Shape = tuple[int, ...]


@cache
def is_floating(dtype: DType) -> bool:
    """True for real floating-point types, bfloat16 included."""
    return dtype.kind == "f" or dtype == BFLOAT16


@cache
def is_complex(dtype: DType) -> bool:
    """True for complex types."""
    return dtype.kind == "c"


def is_inexact(dtype: DType) -> bool:
    """True for the types that have NaN: floating-point and complex ones."""
    return is_floating(dtype) or is_complex(dtype)


@cache
def is_integer(dtype: DType) -> bool:
    """True for signed and unsigned integers; False for booleans."""
    return dtype.kind in "iu"


@cache
def is_unsigned(dtype: DType) -> bool:
    """True for unsigned integers."""
    return dtype.kind == "u"


@immutable_value
class ArrayType:
    """The type of a value: `dtype` and `shape`, as `f32[3,4]`."""

    dtype: DType
    shape: Shape = ()

    def __hash__(self) -> int:
        return hash(self.shape) ^ hash(self.dtype.num)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes the elements take."""
        return self.size * self.dtype.itemsize

    def with_shape(self, shape: Shape) -> ArrayType:
        """The same element type, another shape."""
        return ArrayType(self.dtype, shape)

    def with_dtype(self, dtype: DType) -> ArrayType:
        """The same shape, another element type."""
        return ArrayType(dtype, self.shape)

    def __str__(self) -> str:
        name = SHORT_NAMES.get(self.dtype, str(self.dtype))
        return f"{name}[{','.join(map(str, self.shape))}]"


class ShapeError(Exception):
    """Raised by a transfer function: operands of these types have no result. The text is for the user."""


MOST_BYTES = 1 << 47
"""An array of a program takes less: no process of a 64-bit machine can address more, and XLA, which counts bytes in 64
bits, ends the process where these overflow."""

MOST_AXES = 64
"""An array has no more axes: so it is for NumPy."""


class TooLarge(ShapeError):
    """An array of this type takes more memory than there can be, or has more axes than arrays have."""

    def __init__(self, type: ArrayType) -> None:
        super().__init__(f"an array of the shape {type.shape} and the element type {type.dtype}")
        self.type = type


def check_holdable(type: ArrayType) -> None:
    """Raises `TooLarge` for a type of `MOST_BYTES` or more, or of more than `MOST_AXES`; `ShapeError` for a negative extent.

    Extents of zero count as one, as XLA and NumPy multiply them.
    """
    size = type.dtype.itemsize
    for extent in type.shape:
        if extent < 0:
            raise ShapeError(f"an array has no negative extent, as in {type}")
        size *= extent or 1
    if size >= MOST_BYTES or len(type.shape) > MOST_AXES:
        raise TooLarge(type)
