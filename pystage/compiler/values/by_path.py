"""What is one thing on some paths and another on others (`ByPath`, `OneOf`): each of them, and which is known."""

from __future__ import annotations

from ..analysis.intervals import Intervals
from ..hlo.builder import Builder
from ..hlo.ir import Value
from ..hlo.types import is_integer
from ..ops import Convert
from .lattice import Abstract, Array, ByPath, OneOf, Optional


def option(b: Builder, number: ByPath, position: int) -> Array:
    """The number, where it is of the kind at `position`."""
    dtype, form, weak = number.kinds[position]
    exact = number.whole if number.whole is not None and is_integer(dtype) else number.value
    return Array(exact if exact.type.dtype == dtype else b.op(Convert(dtype), exact), form, weak)


def alternatives(value: Abstract) -> list[Abstract]:
    """What a value may be, in the order of its tags; mostly itself alone."""
    found: list[Abstract] = []
    while isinstance(value, OneOf):
        found.append(value.first)
        value = value.second
    return [*found, value]


def narrowed(b: Builder, intervals: Intervals, value: Abstract) -> Abstract:
    """A number as one of its kind, or what is one of two things, where it is known here which; otherwise as it is."""
    if isinstance(value, OneOf):
        first = intervals.decides(value.tag)
        return value if first is None else narrowed(b, intervals, value.first if first else value.second)
    return narrowed_number(b, intervals, value) if isinstance(value, ByPath) else value


def narrowed_number(b: Builder, intervals: Intervals, number: ByPath) -> Array:
    """The number as one of its kind, where that is known here; otherwise as it is."""
    unknown = False
    for position, tag in enumerate(number.tags):
        holds = intervals.decides(tag)
        if holds:
            return option(b, number, position)
        unknown |= holds is None
    return number if unknown else option(b, number, len(number.tags))


def undecided(intervals: Intervals, value: ByPath | OneOf | Optional) -> Value | None:
    """A bool of the program that says more of which the value is, and is not known here."""
    match value:
        case OneOf(tag=tag) | Optional(missing=tag):
            tags: tuple[Value, ...] = (tag,)
        case ByPath():
            tags = value.tags
    return next((tag for tag in tags if intervals.decides(tag) is None), None)
