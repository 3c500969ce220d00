"""Real and imaginary parts in the module that is being emitted, with Python's operators.

So a formula of a complex function reads as it is printed in a paper. In: MLIR values of float32 or float64. Out: the same.
Numbers beside them become constants of their type. Nothing here knows a particular function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ...hlo.ir import Op
from ...hlo.mlir import Emitter
from ...hlo.types import BOOL, COMPLEX64, FLOAT32, FLOAT64, INT32, INT64, ArrayType


class Truth:
    """Booleans."""

    __slots__ = ("e", "type", "value")

    def __init__(self, e: Emitter, type: ArrayType, value: mlir_ir.Value) -> None:
        self.e, self.type, self.value = e, type, value

    def __and__(self, other: Truth) -> Truth:
        return self._made("and", other)

    def __or__(self, other: Truth) -> Truth:
        return self._made("or", other)

    def __invert__(self) -> Truth:
        return self._made("not")

    def _made(self, opcode: str, *others: Truth) -> Truth:
        operands = [self.value, *[o.value for o in others]]
        return Truth(self.e, self.type, self.e.create(opcode, [self.type], operands).results[0])


class Part:
    """Real numbers of one type: the real or the imaginary parts of an array."""

    __slots__ = ("e", "type", "value")

    def __init__(self, e: Emitter, type: ArrayType, value: mlir_ir.Value) -> None:
        self.e, self.type, self.value = e, type, value

    # ------------------------------------------------------------ arithmetic

    def __add__(self, other: Number) -> Part:
        return self.apply("add", other)

    def __radd__(self, other: Number) -> Part:
        return self._like(other).apply("add", self)

    def __sub__(self, other: Number) -> Part:
        return self.apply("subtract", other)

    def __rsub__(self, other: Number) -> Part:
        return self._like(other).apply("subtract", self)

    def __mul__(self, other: Number) -> Part:
        return self.apply("multiply", other)

    def __rmul__(self, other: Number) -> Part:
        return self._like(other).apply("multiply", self)

    def __truediv__(self, other: Number) -> Part:
        return self.apply("divide", other)

    def __rtruediv__(self, other: Number) -> Part:
        return self._like(other).apply("divide", self)

    def __neg__(self) -> Part:
        return self.apply("negate")

    def __abs__(self) -> Part:
        return self.apply("abs")

    def apply(self, opcode: str, *others: Number) -> Part:
        """The operation `opcode` on this and others."""
        operands = [self.value, *[self._like(o).value for o in others]]
        return Part(self.e, self.type, self.e.create(opcode, [self.type], operands).results[0])

    def _like(self, number: Number) -> Part:
        if isinstance(number, Part):
            return number
        constant = self.e.filled(np.asarray(number, self.type.dtype), self.type)
        return Part(self.e, self.type, constant)

    # ------------------------------------------------------------ tests

    def __lt__(self, other: Number) -> Truth:
        return self.compare("LT", other)

    def __le__(self, other: Number) -> Truth:
        return self.compare("LE", other)

    def __gt__(self, other: Number) -> Truth:
        return self.compare("GT", other)

    def __ge__(self, other: Number) -> Truth:
        return self.compare("GE", other)

    def equals(self, other: Number) -> Truth:
        """Where they are equal; zeros are, whatever their signs."""
        return self.compare("EQ", other)

    def compare(self, direction: str, other: Number) -> Truth:
        """A comparison of floating-point numbers."""
        attributes = {"comparison_direction": self.e.parse(f"#stablehlo<comparison_direction {direction}>")}
        flags = self.type.with_dtype(BOOL)
        operands = [self.value, self._like(other).value]
        return Truth(self.e, flags, self.e.create("compare", [flags], operands, attributes).results[0])

    def is_nan(self) -> Truth:
        """Where this is NaN."""
        return self.compare("NE", self)

    def is_infinite(self) -> Truth:
        """Where this is infinite."""
        return abs(self).equals(math.inf)

    def is_finite(self) -> Truth:
        """Where this is neither infinite nor NaN."""
        flags = self.type.with_dtype(BOOL)
        return Truth(self.e, flags, self.e.create("is_finite", [flags], [self.value]).results[0])

    def is_negative(self) -> Truth:
        """Where the sign bit is set."""
        bits = self.type.with_dtype(INT64 if self.type.dtype == FLOAT64 else INT32)
        word = self.e.create("bitcast_convert", [bits], [self.value]).results[0]
        zero = self.e.filled(np.zeros((), bits.dtype), bits)
        attributes = {
            "comparison_direction": self.e.parse("#stablehlo<comparison_direction LT>"),
            "compare_type": self.e.parse("#stablehlo<comparison_type SIGNED>"),
        }
        flags = self.type.with_dtype(BOOL)
        return Truth(self.e, flags, self.e.create("compare", [flags], [word, zero], attributes).results[0])

    # ------------------------------------------------------------ signs

    def turned(self, flag: Truth) -> Part:
        """The negative where `flag` holds."""
        return where(flag, -self, self)

    def signed(self, like: Part) -> Part:
        """This, which is not negative, with the sign of `like`."""
        return self.turned(like.is_negative())


Number = Part | float
Pair = tuple[Part, Part]
"""The real and the imaginary parts of complex numbers."""


def where(flag: Truth, on_true: Number, on_false: Number) -> Part:
    """`on_true` where `flag` holds; one of the two is no constant."""
    model = on_true if isinstance(on_true, Part) else on_false
    assert isinstance(model, Part)
    operands = [flag.value, model._like(on_true).value, model._like(on_false).value]
    made = model.e.create("select", [model.type], operands)
    return Part(model.e, model.type, made.results[0])


def constant(like: Part, number: float) -> Part:
    """`number` in the type of `like`."""
    return like._like(number)


def parts(e: Emitter, type: ArrayType, value: mlir_ir.Value) -> Pair:
    """The parts of complex numbers of a type."""
    part = type.with_dtype(FLOAT32 if type.dtype == COMPLEX64 else FLOAT64)
    real, imaginary = (Part(e, part, e.create(name, [part], [value]).results[0]) for name in ("real", "imag"))
    return real, imaginary


def emit_parts(
    e: Emitter, op: Op, operands: tuple[mlir_ir.Value, ...], formula: Callable[..., Pair]
) -> mlir_ir.Operation:
    """What `formula` makes of the parts of each operand, as the complex result of `op`."""
    given = [part for v, m in zip(op.operands, operands) for part in parts(e, v.type, m)]
    made = formula(*given)
    return e.create("complex", op.results, [part.value for part in made])


def repeated(count: int, step: Callable[..., Sequence[Part]], given: Sequence[Part]) -> list[Part]:
    """`given = step(*given)`, `count` times, in a loop: XLA emits a long chain of products again for each use of a link."""
    e, counter = given[0].e, ArrayType(INT32, ())
    types = [counter, *[part.type for part in given]]
    start = [e.constant(np.zeros((), INT32)), *[part.value for part in given]]
    loop = mlir_ir.Operation.create(
        "stablehlo.while", [e.type(t) for t in types], start, regions=2, loc=e.location
    )
    blocks = [region.blocks.append(*[e.type(t) for t in types], arg_locs=None) for region in loop.regions]
    with mlir_ir.InsertionPoint(blocks[0]):
        attributes = {
            "comparison_direction": e.parse("#stablehlo<comparison_direction LT>"),
            "compare_type": e.parse("#stablehlo<comparison_type SIGNED>"),
        }
        limit = e.constant(np.asarray(count, INT32))
        flags = [ArrayType(BOOL, ())]
        going = e.create("compare", flags, [blocks[0].arguments[0], limit], attributes).results[0]
        e.create("return", [], [going])
    with mlir_ir.InsertionPoint(blocks[1]):
        trip, *values = blocks[1].arguments
        following = e.create("add", [counter], [trip, e.constant(np.ones((), INT32))]).results[0]
        made = step(*[Part(e, part.type, value) for part, value in zip(given, values, strict=True)])
        e.create("return", [], [following, *[part.value for part in made]])
    return [Part(e, part.type, value) for part, value in zip(given, loop.results[1:], strict=True)]


def by_xla(opcode: str, x: Part, y: Part) -> Pair:
    """XLA's own operation `opcode` on complex numbers."""
    e = x.e
    type = x.type.with_dtype(np.dtype(f"c{2 * x.type.dtype.itemsize}"))
    whole = e.create("complex", [type], [x.value, y.value]).results[0]
    return parts(e, type, e.create(opcode, [type], [whole]).results[0])
