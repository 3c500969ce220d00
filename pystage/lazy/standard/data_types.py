"""The element types of the standard, its kinds of them, and type promotion."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compiler.hlo.types import BFLOAT16, SHORT_NAMES
from ...records import dataclass

DType = np.dtype[Any]

bool = np.dtype(np.bool_)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)

NAMES = {
    "bool": bool,
    **{str(t): t for t in (int8, int16, int32, int64, uint8, uint16, uint32, uint64)},
    **{str(t): t for t in (float32, float64, complex64, complex128)},
}
"""The standard's element types by their names."""


@dataclass(frozen=True, slots=True)
class Category:
    """Element types by the letters of their kinds, under the name that the standard has for them."""

    name: str
    letters: str

    def __contains__(self, dtype: object) -> builtins.bool:
        return isinstance(dtype, np.dtype) and letter(dtype) in self.letters


ANY = Category("any", "biufc")
BOOLEAN = Category("boolean", "b")
INTEGER = Category("integer", "iu")
INTEGER_OR_BOOLEAN = Category("integer or boolean", "biu")
NUMERIC = Category("numeric", "iufc")
REAL = Category("real-valued", "iuf")
FLOATING = Category("floating-point", "fc")
REAL_FLOATING = Category("real-valued floating-point", "f")
COMPLEX = Category("complex floating-point", "c")


def letter(dtype: DType) -> str:
    """The kind of an element type: one of `biufc`."""
    return "f" if dtype == BFLOAT16 else dtype.kind


def named(dtype: Any) -> DType | None:
    """What somebody gave as an element type. TypeError for what lazy tensors cannot hold."""
    if dtype is None:
        return None
    found: DType = np.dtype(dtype)
    if found not in SHORT_NAMES:
        raise TypeError(f"lazy tensors have no element type {found}")
    return found


def promoted(dtypes: Sequence[DType]) -> DType:
    """The element type that others have in common, TypeError for those that the standard does not mix."""
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = _common(result, dtype)
    return result


def _common(first: DType, second: DType) -> DType:
    if first == second:
        return first
    kinds = {letter(first), letter(second)}
    numbers = kinds <= {"f", "c"} or kinds <= {"i", "u"}
    common: DType | None = np.result_type(first, second) if numbers else None
    if common is None or (kinds <= {"i", "u"} and letter(common) == "f"):
        raise TypeError(
            f"the Array API standard does not mix {first} and {second}; convert one, as with `astype`"
        )
    return common


_SCALARS: dict[type, str] = {
    builtins.bool: "b",
    int: "iufc",
    float: "fc",
    complex: "fc",
}
"""The kinds of element types that a Python scalar fits."""


def scalar_of(value: Any) -> Any:
    """A Python scalar as one of its own four classes, None for what is none."""
    for cls in _SCALARS:
        if issubclass(type(value), cls):
            return value if type(value) is cls else cls(value)
    return None


def with_scalar(dtype: DType, scalar: Any) -> DType:
    """The element type of an operation of an array and a Python scalar, TypeError where the scalar does not fit."""
    if letter(dtype) not in _SCALARS[type(scalar)]:
        raise TypeError(f"the Array API standard does not mix {dtype} and a Python {type(scalar).__name__}")
    if type(scalar) is complex:
        wide: DType = np.result_type(dtype, complex64)
        return wide
    return dtype
