"""Checks of operands for transfer functions, with the text that the user reads where one fails.

The texts name types as HLO writes them (`f32[3,4]`) and speak of axes, shapes and element types, as NumPy does. Nothing
here knows a particular operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..hlo.types import (
    BFLOAT16,
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    SHORT_NAMES,
    ArrayType,
    DType,
    ShapeError,
    is_complex,
    is_integer,
    is_unsigned,
)

ALL = frozenset(SHORT_NAMES)
"""Every element type."""
BOOLS = frozenset({BOOL})
FLOATS = frozenset({FLOAT16, BFLOAT16, FLOAT32, FLOAT64})
COMPLEXES = frozenset(d for d in ALL if is_complex(d))
INTEGERS = frozenset(d for d in ALL if is_integer(d))
UNSIGNED = frozenset(d for d in ALL if is_unsigned(d))
SIGNED = INTEGERS - UNSIGNED

_FAMILIES = (
    (BOOLS, "booleans"),
    (INTEGERS, "integers"),
    (SIGNED, "signed integers"),
    (FLOATS, "floating-point numbers"),
    (COMPLEXES, "complex numbers"),
)


def describe(dtypes: frozenset[DType]) -> str:
    """A set of element types in words, as `integers or complex numbers`."""
    names = []
    rest = dtypes
    for family, name in _FAMILIES:
        if family <= rest:
            names.append(name)
            rest = rest - family
    names += sorted(SHORT_NAMES[d] for d in rest)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def require(condition: bool, text: str) -> None:
    """Raises `ShapeError(text)` unless `condition` holds. For texts that need not be made first."""
    if not condition:
        raise ShapeError(text)


def require_dtype(name: str, type: ArrayType, dtypes: frozenset[DType]) -> None:
    """The operand has one of the element types."""
    if type.dtype not in dtypes:
        raise ShapeError(f"{name} takes {describe(dtypes)}, not {type}")


def require_same_dtype(name: str, types: Sequence[ArrayType]) -> None:
    """All operands have one element type."""
    first = types[0].dtype
    for type in types:
        if type.dtype != first:
            raise ShapeError(f"{name} takes operands of one element type, not {listing(types)}")


def require_same_type(name: str, types: Sequence[ArrayType]) -> None:
    """All operands have one element type and one shape."""
    first = types[0]
    for type in types:
        if type == first:
            continue
        require_same_dtype(name, types)
        if type.shape != first.shape:
            raise ShapeError(f"{name} takes operands of one shape, not {listing(types)}")


def require_scalar(name: str, what: str, type: ArrayType) -> None:
    """The operand has no axes."""
    if type.shape:
        raise ShapeError(f"{name} takes a scalar as {what}, not {type}")


def require_axes(name: str, axes: Iterable[int], rank: int) -> None:
    """The axes exist in an array of that rank, counted from 0, none of them twice."""
    axes = tuple(axes)
    if not axes or (min(axes) >= 0 and max(axes) < rank and len(set(axes)) == len(axes)):
        return
    seen = set()
    for axis in axes:
        if not 0 <= axis < rank:
            raise ShapeError(f"{name}: there is no axis {axis} in an array with {axes_of(rank)}")
        if axis in seen:
            raise ShapeError(f"{name}: axis {axis} is named twice")
        seen.add(axis)


def require_per_axis(name: str, what: str, values: Sequence[object], rank: int) -> None:
    """There is one value for each axis."""
    if len(values) != rank:
        raise ShapeError(f"{name}: {len(values)} {what} for an array with {axes_of(rank)}")


def axes_of(rank: int) -> str:
    """`no axes`, `1 axis`, `2 axes`."""
    return "no axes" if rank == 0 else "1 axis" if rank == 1 else f"{rank} axes"


def listing(types: Sequence[ArrayType]) -> str:
    """Types in words: `f32[3] and s32[3]`."""
    names = list(map(str, types))
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
