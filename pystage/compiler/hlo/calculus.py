"""`Calculus`: the builder interface that derivative and batching rules are written with.

The rules stand in the classes of the operations (`HloOp.vjp`, `HloOp.jvp`, `Elementwise.partials`, `HloOp.batch`), which
cannot all import each other; `compiler/ad` implements this and applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, Union

from ...records import dataclass
from ..diagnostics.span import Span
from .types import ArrayType, DType

if TYPE_CHECKING:
    from .ir import Op, Value
    from .op import HloOp


class NotDifferentiable(Exception):
    """Raised by a derivative rule; says what cannot be differentiated, and `at` which source location."""

    at: Span | None = None


class NotBatched(Exception):
    """Raised by a batching rule that does not cover the case: the elements are computed one after another."""


@dataclass(frozen=True, slots=True)
class Into:
    """A cotangent of a part of an operand, which is added in place: `add(whole)` is the new whole.

    So what a loop reads one element at a time takes one element's work at each trip.
    """

    add: Callable[[Value], Value]


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """The partial derivative `1 / of`: what it multiplies is divided instead."""

    of: Value


Partial = Union["Value", Reciprocal, int, None]
"""A partial derivative, element by element: a value, a reciprocal, 1 or -1, or zero (None)."""
Contribution = Union["Value", Into, None]
"""A rule's contribution to the cotangent of an operand: a value, an in-place accumulation, or zero (None)."""
Cotangents = Sequence["Value | None"]
"""One for each result of an operation; None is zero."""
Tangents = Sequence["Value | None"]
"""One for each operand of an operation; None is zero."""


class Calculus(Protocol):
    """Operations of the program that is being built. Operands of elementwise ones have one type."""

    def op(self, kind: HloOp, *operands: Value) -> Value:
        """Applies an operation of one result."""
        ...

    def apply(self, kind: HloOp, operands: Sequence[Value]) -> Op:
        """Applies an operation without regions."""
        ...

    def filled(self, type: ArrayType, value: complex) -> Value:
        """An array of `type` with the same number everywhere."""
        ...

    def zeros(self, type: ArrayType) -> Value:
        """An array of zeros."""
        ...

    def iota(self, dtype: DType, shape: tuple[int, ...], axis: int) -> Value:
        """The index along `axis` of each element."""
        ...

    def add(self, x: Value, y: Value) -> Value:
        """`x + y`."""
        ...

    def sub(self, x: Value, y: Value) -> Value:
        """`x - y`."""
        ...

    def mul(self, x: Value, y: Value) -> Value:
        """`x * y`."""
        ...

    def div(self, x: Value, y: Value) -> Value:
        """`x / y`."""
        ...

    def neg(self, x: Value) -> Value:
        """`-x`."""
        ...

    def times(self, x: Value, number: float) -> Value:
        """`x * number`."""
        ...

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        """A comparison, as `Compare` names it."""
        ...

    def both(self, x: Value, y: Value) -> Value:
        """The conjunction of booleans."""
        ...

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        """`x` where the condition holds, else `y`."""
        ...

    def convert(self, x: Value, dtype: DType) -> Value:
        """`x` in another element type; of complex numbers the real part where that is real."""
        ...

    def real(self, x: Value) -> Value:
        """The real part of complex numbers."""
        ...

    def imag(self, x: Value) -> Value:
        """The imaginary part of complex numbers."""
        ...

    def complex(self, real: Value, imag: Value) -> Value:
        """Complex numbers of two parts."""
        ...

    def conj(self, x: Value) -> Value:
        """The conjugate of complex numbers; real ones as they are."""
        ...

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """The same elements in another shape."""
        ...

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        """The axes in another order."""
        ...

    def broadcast(self, x: Value, shape: Sequence[int], axes: Sequence[int]) -> Value:
        """`x` repeated to `shape`; its axis `i` becomes axis `axes[i]`."""
        ...

    def sum(self, x: Value, axes: Sequence[int]) -> Value:
        """The sum over `axes`, which are dropped."""
        ...

    def slice(
        self, x: Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None
    ) -> Value:
        """A static slice."""
        ...

    def pad(
        self, x: Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int] | None = None
    ) -> Value:
        """`x` with zeros around it and between its elements; negative widths cut off."""
        ...

    def concatenate(self, parts: Sequence[Value], axis: int) -> Value:
        """The parts one after another."""
        ...

    def dynamic_slice(self, x: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
        """A dynamic slice."""
        ...

    def scatter_add(self, gather: HloOp, whole: Value, indices: Value, updates: Value) -> Value:
        """`whole` with `updates` added where a `Gather` takes slices with these indices, which are in bounds."""
        ...

    def update(self, x: Value, part: Value, starts: Sequence[Value]) -> Value:
        """`x` with a dynamic slice replaced."""
        ...
