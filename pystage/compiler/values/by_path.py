"""Numbers that are of one kind on some paths and of another on others (`ByPath`): the number as one of each kind."""

from __future__ import annotations

import numpy as np

from ..hlo.builder import Builder
from ..hlo.ir import Value
from ..hlo.types import BOOL, DType, is_complex, is_integer
from ..ops import Compare, Constant, Convert, Real
from .intervals import Intervals
from .lattice import Array, ByPath


def converted(b: Builder, value: Value, dtype: DType) -> Value:
    """A scalar in another element type: of a complex number the real part, to a bool whether it is not 0."""
    if is_complex(value.type.dtype) and not is_complex(dtype):
        value = b.op(Real(), value)
    if value.type.dtype == dtype:
        return value
    if dtype == BOOL:
        return b.op(Compare("NE"), value, b.op(Constant(np.zeros((), value.type.dtype))))
    return b.op(Convert(dtype), value)


def option(b: Builder, number: ByPath, position: int) -> Array:
    """The number, where it is of the kind at `position`."""
    dtype, form = number.kinds[position]
    exact = number.whole if number.whole is not None and is_integer(dtype) else number.value
    return Array(converted(b, exact, dtype), form)


def narrowed(b: Builder, intervals: Intervals, number: ByPath) -> Array:
    """The number as one of its kind, where that is known here; otherwise as it is."""
    unknown = False
    for position, tag in enumerate(number.tags):
        holds = intervals.decides(tag)
        if holds:
            return option(b, number, position)
        unknown |= holds is None
    return number if unknown else option(b, number, len(number.tags))


def undecided(intervals: Intervals, number: ByPath) -> Value | None:
    """A bool of the program that says more of which kind the number is, and is not known here."""
    return next((tag for tag in number.tags if intervals.decides(tag) is None), None)
