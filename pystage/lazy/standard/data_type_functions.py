"""Functions of element types."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...compiler.hlo.types import BFLOAT16
from ...records import dataclass
from ..array import LazyTensor
from .data_types import DType, letter, named, promoted, scalar_of, with_scalar
from .operands import array, copied

KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
"""The kinds that `isdtype` and the inspection functions know, by the letters of element types."""


@dataclass(frozen=True, slots=True)
class FloatingInfo:
    """Properties of a floating-point type, as Python floats; of a complex one those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IntegerInfo:
    """Properties of an integer type."""

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_of(value: Any) -> DType:
    found = value.dtype if isinstance(value, LazyTensor) else named(value)
    if found is None:
        raise TypeError("None is no element type")
    return found


def astype(x: LazyTensor, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> LazyTensor:
    """`x` with another element type. `copy=False` gives `x` itself, where type and device are those asked for."""
    array("astype", x)
    target = _dtype_of(dtype)
    if letter(x.dtype) == "c" and letter(target) not in "bc":
        raise TypeError(f"`astype` does not drop the imaginary part of {x.dtype}; take `real` or `imag`")
    moved = x.to(device) if device is not None else x
    if moved is not x and x.dtype == target:
        return moved
    if not copy and moved.dtype == target:
        return moved
    return copied(moved, target)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """True if promotion can give `to` from the element type `from_`, or that of an array."""
    source, target = _dtype_of(from_), _dtype_of(to)
    try:
        return promoted([source, target]) == target
    except TypeError:
        return False


def finfo(type: Any, /) -> FloatingInfo:
    """Properties of a floating-point type, or of that of an array."""
    dtype = _dtype_of(type)
    if letter(dtype) not in "fc":
        raise TypeError(f"{dtype} is no floating-point type")
    if dtype == BFLOAT16:
        return FloatingInfo(
            16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127, 2.0**-126, dtype
        )
    info = np.finfo(dtype)
    return FloatingInfo(
        info.bits,
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
        np.dtype(info.dtype),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """Properties of an integer type, or of that of an array."""
    dtype = _dtype_of(type)
    if letter(dtype) not in "iu":
        raise TypeError(f"{dtype} is no integer type")
    info = np.iinfo(dtype)
    return IntegerInfo(info.bits, info.max, info.min, dtype)


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """True if an element type is `kind`, is of the kind of that name, or of one of a tuple of these."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"no kind {kind!r} of element types; there are {', '.join(map(repr, KINDS))}")
        return letter(_dtype_of(dtype)) in KINDS[kind]
    return _dtype_of(dtype) == _dtype_of(kind)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The element type of an operation on arrays, element types and Python scalars."""
    scalars = [scalar_of(x) for x in arrays_and_dtypes]
    dtypes = [_dtype_of(x) for x, scalar in zip(arrays_and_dtypes, scalars, strict=True) if scalar is None]
    if not dtypes:
        raise TypeError("`result_type` takes at least one array or element type")
    dtype = promoted(dtypes)
    for scalar in scalars:
        if scalar is not None:
            dtype = with_scalar(dtype, scalar)
    return dtype
