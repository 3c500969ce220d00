"""The program that is built: operations, constants, what is known of ranges here."""

from __future__ import annotations

import abc
from typing import Any, NoReturn

import numpy as np

from ...analysis.differences import difference
from ...analysis.intervals import Intervals
from ...analysis.ranges import ANY, Interval, meet, open_ends
from ...diagnostics.diagnostic import Diagnostic, DiagnosticError
from ...diagnostics.span import Span
from ...hlo.builder import Builder
from ...hlo.ir import Value
from ...hlo.op import HloOp
from ...hlo.types import DType
from ...ops import Convert, Reshape, constant
from ...values.lattice import Array, Const
from ...values.views import broadcast

Raw = Any
"""An abstract value, or a plain Python object (from a default) that means the constant."""


class Operations(abc.ABC):
    """The program that is built: operations, constants, what is known of ranges here."""

    b: Builder
    intervals: Intervals
    """What is known of the range of values, here."""

    @property
    def span(self) -> Span | None:
        """The source of the current instruction."""
        return self.b.span

    def op(self, kind: HloOp, *operands: Value) -> Value:
        """Applies an operation of one result."""
        return self.b.op(kind, *operands)

    def constant(self, value: object, dtype: DType | type) -> Value:
        """A constant of the program, of `dtype`."""
        return constant(self.b, value, dtype)

    def convert(self, value: Value, dtype: DType) -> Value:
        """`value` with the element type `dtype` (no operation if it has it)."""
        return value if value.type.dtype == dtype else self.b.op(Convert(dtype), value)

    def broadcast(self, value: Value, shape: tuple[int, ...]) -> Value:
        """`value` broadcast to `shape` by NumPy's rules; they must fit."""
        return broadcast(self.b, value, shape)

    def reshape(self, value: Value, shape: tuple[int, ...]) -> Value:
        """`value` in another shape of the same size."""
        return value if value.type.shape == shape else self.b.op(Reshape(shape), value)

    def range_of(self, x: Array | Const) -> Interval:
        """The range of an integer, or of each of an array, here: under the conditions that led here.

        An end that only its 64 bits set is infinite, as those of Python's integers are. As all that inference knows, it
        holds unless the program has raised.
        """
        if isinstance(x, Const):
            is_integer = isinstance(x.value, int | np.integer | np.bool_)
            return (int(x.value), int(x.value)) if is_integer else ANY
        if x.dtype.kind not in "biu":
            return ANY
        found = meet(x.range, self.intervals(x.value))
        return open_ends(found, x.dtype) if x.dtype.itemsize == 8 else found

    def difference(self, a: Array | Const, b: Array | Const) -> Interval:
        """The range of `a - b` of two scalar integers, here; what is on both sides cancels out."""
        first, second = [x.value if isinstance(x, Array) else int(x.value) for x in (a, b)]
        return difference(first, second, self.intervals)

    def fail(self, diagnostic: Diagnostic) -> NoReturn:
        """Gives up on the current value for the reason `diagnostic`."""
        raise DiagnosticError(diagnostic)
