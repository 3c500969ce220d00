"""StableHLO's elementwise operations of two operands of one type, and those of the CHLO dialect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ...hlo.calculus import Calculus, Contribution, Cotangents, Partial, Reciprocal
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, ArrayType, DType, is_integer
from ..operands import ALL, COMPLEXES, FLOATS, INTEGERS
from ..structure.shapes import Broadcast, Constant, Reshape
from .base import Binary, IntegerBinary, LogicalBinary, OfComplex, made_by, makers
from .compare import Select
from .complex_arithmetic import numpy_power, python_power, quotient
from .convert import Convert
from .parts import Pair, emit_parts
from .unary import Log


class Add(Binary):
    """The sum; integers wrap around, of booleans the disjunction, as in NumPy. StableHLO: add.

    XLA takes `0.0 + x` for `x`, which -0.0 is not, so it is given a choice in place of a sum with zeros. It takes
    `(x + c) - c` for `x`, although the sum is rounded: the second constant is hidden from it. Of complex numbers it takes
    `x + (y - x)` for `y`, so it is given their parts.
    """

    opcode = "add"
    dtypes = ALL
    numpy = np.add

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        known = [known_elements(v) for v in op.operands]
        return _emit_sum(e, op.results[0].type, operands, known, _is_sum_with_constant(*op.operands))

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return 1, 1


class Subtract(Binary):
    """The difference; integers wrap around. StableHLO: subtract. That of a float and a constant is a sum, as of `Add`."""

    opcode = "subtract"
    dtypes = ALL - {BOOL}
    numpy = np.subtract

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        type, known = op.results[0].type, known_elements(op.operands[1])
        if type.dtype in COMPLEXES and known is None:
            return emit_parts(e, op, operands, lambda a, b, c, d: (a - c, b - d))
        if type.dtype not in _ROUNDED or known is None:
            return e.create(self.opcode, op.results, operands)
        opposite = e.create("negate", op.results, [operands[1]]).results[0]
        given = [operands[0], opposite]
        return _emit_sum(e, type, given, [None, np.negative(known)], _is_sum_with_constant(op.operands[0]))

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return 1, -1


class Multiply(Binary):
    """The product; integers wrap around, of booleans the conjunction, as in NumPy. StableHLO: multiply.

    XLA takes `1 * z` for `z`, which it is not of infinite parts and of -0.0, so it is given the parts of complex products
    with constants. Of products of products with constants it multiplies the constants first, so that
    `(x * 1e200) * 1e-200` would not overflow: one factor is hidden from it.
    """

    opcode = "multiply"
    dtypes = ALL
    numpy = np.multiply

    def apart(self, op: Op) -> Sequence[int]:
        return (0,) if len(made_by(op, "exponential")) == 2 else ()

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        known, type = [known_elements(v) for v in op.operands], op.results[0].type
        scaled = [k is not None or _is_by_constant(v, Multiply | Divide) for k, v in zip(known, op.operands)]
        if type.dtype in _ROUNDED and all(scaled) and (known[0] is None or known[1] is None):
            operands = tuple(_with_hidden(e, type, *(operands if known[0] is None else operands[::-1])))
        if type.dtype in COMPLEXES and (known[0] is not None or known[1] is not None):
            return emit_parts(e, op, operands, lambda a, b, c, d: (a * c - b * d, a * d + b * c))
        return e.create(self.opcode, op.results, operands)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        x, y = op.operands
        return y, x


class Divide(OfComplex, Binary):
    """The quotient; of integers it is truncated, and -1 (all bits set) where the divisor is 0.

    StableHLO: divide, which leaves the integer division by zero open; the value is XLA's, as it computes it. XLA
    ends the process where it divides constants by zero while it compiles, so it is not given such a division.

    XLA multiplies by the reciprocal where it divides floats by a constant, or by what it broadcasts, so that 49 / 49 is less
    than 1 and `int` of it 0. Such a divisor is hidden from it: what is divided chooses it, by being a number. What is
    broadcast is hidden only among float64, since XLA:CPU has fusions of float32 that it would miss.
    """

    opcode = "divide"
    dtypes = INTEGERS | FLOATS | COMPLEXES
    formula = quotient

    def apart(self, op: Op) -> Sequence[int]:
        return (0,) if len(made_by(op, "exponential")) == 2 else made_by(op, "divide")

    def emit(
        self, e: Emitter, op: Op, *operands: mlir_ir.Value
    ) -> mlir_ir.Operation | Sequence[mlir_ir.Value]:
        left, right = op.operands
        if left.type.dtype in COMPLEXES:
            if known_elements(right) is not None and _is_by_constant(left, Multiply | Divide):
                operands = tuple(_with_hidden(e, left.type, *operands))
            return super().emit(e, op, *operands)
        if left.type.dtype in INTEGERS:
            missing = np.invert(np.zeros((), left.type.dtype))
            return _by_no_zero(e, self.opcode, op, operands, lambda: e.filled(missing, left.type))
        divisor = known_elements(right) if left.type.dtype in FLOATS else None
        if divisor is None:
            is_seen = left.type.dtype == FLOAT64 and _is_broadcast(right)
        else:
            is_seen = not _has_exact_reciprocals(divisor, left.type.dtype)
        if not is_seen:
            return e.create(self.opcode, op.results, operands)
        return e.create(self.opcode, op.results, _with_hidden(e, left.type, *operands))

    def reference(self, *operands: np.ndarray) -> Any:
        left, right = operands
        if not is_integer(left.dtype):
            return np.divide(left, right).astype(left.dtype, copy=False)
        return np.where(right == 0, _all_bits(left), _truncated_quotient(left, right))

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        (_, y), (r,) = op.operands, op.results
        return Reciprocal(y), c.neg(c.div(r, y))


def _emit_sum(
    e: Emitter,
    type: ArrayType,
    operands: Sequence[mlir_ir.Value],
    known: Sequence[np.ndarray | None],
    chained: bool,
) -> mlir_ir.Operation:
    """The sum of two operands of which the elements may be known; `chained`: the other is itself a sum with a constant."""
    if type.dtype in COMPLEXES:
        part_type = type.with_dtype(FLOAT32 if type.dtype == COMPLEX64 else FLOAT64)
        sums = []
        for name in ("real", "imag"):
            given = [e.create(name, [part_type], [v]).results[0] for v in operands]
            elements = [None if k is None else getattr(k, name) for k in known]
            sums.append(_emit_sum(e, part_type, given, elements, chained).results[0])
        return e.create("complex", [type], sums)
    left, right = [type.dtype in FLOATS and _are_positive_zeros(k) for k in known]
    if left != right:
        x, zero = reversed(operands) if left else operands
        return e.create("select", [type], [e.equal(type, x, zero), zero, x])
    if chained and type.dtype in FLOATS and (known[0] is None) != (known[1] is None):
        operands = _with_hidden(e, type, *(operands if known[0] is None else reversed(operands)))
    return e.create("add", [type], operands)


_ROUNDED = FLOATS | COMPLEXES


def _is_sum_with_constant(*values: Value) -> bool:
    """True if one of the values is a sum or a difference of which one operand is known."""
    return any(_is_by_constant(value, Add | Subtract) for value in values)


def _is_by_constant(value: Value, kinds: type[HloOp] | UnionType) -> bool:
    """True if XLA may see a value to be the result of such an operation of which one operand is known."""
    return any(
        isinstance(maker.kind, kinds) and any(known_elements(v) is not None for v in maker.operands)
        for maker in makers(value)
    )


def _with_hidden(
    e: Emitter, type: ArrayType, x: mlir_ir.Value, constant: mlir_ir.Value
) -> list[mlir_ir.Value]:
    """`x`, and a constant that XLA does not see to be one: `x` chooses it by being a number."""
    hidden = e.create("select", [type], [e.equal(type, x, x), constant, x]).results[0]
    return [x, hidden]


def _are_positive_zeros(elements: np.ndarray | None) -> bool:
    """True for elements that are known to be 0.0."""
    return elements is not None and elements.size > 0 and not (elements.any() or np.signbit(elements).any())


def _by_no_zero(
    e: Emitter,
    opcode: str,
    op: Op,
    operands: Sequence[mlir_ir.Value],
    otherwise: Callable[[], mlir_ir.Value],
) -> mlir_ir.Operation:
    """A division of integers of which XLA sees only divisors that are not 0; `otherwise` is what the others give."""
    (x, y), type = operands, op.results[0].type
    divisor = known_elements(op.operands[1])
    if divisor is not None and divisor.all():
        return e.create(opcode, op.results, operands)
    none = e.equal(type, y, e.filled(np.zeros((), type.dtype), type))
    safe = e.create("select", [type], [none, e.filled(np.ones((), type.dtype), type), y]).results[0]
    made = e.create(opcode, [type], [x, safe]).results[0]
    return e.create("select", op.results, [none, otherwise(), made])


def known_elements(value: Value) -> np.ndarray | None:
    """The elements of a value that XLA sees to be a constant, or one that is broadcast or reshaped; else None.

    They have the shape of the constant.
    """
    kind = getattr(_source(value, Broadcast, Reshape).owner, "kind", None)
    return kind.data if isinstance(kind, Constant) else None


def _is_broadcast(value: Value) -> bool:
    """True for an array that is seen to repeat the elements of a smaller one."""
    return _source(value, Broadcast, Reshape, Convert).type.size < value.type.size


def _source(value: Value, *through: type[HloOp]) -> Value:
    """What XLA sees that a value has its elements from, `through` such operations."""
    while isinstance(owner := value.owner, Op):
        if isinstance(owner.kind, Select):
            _, chosen, other = owner.operands
            if _before_stop(chosen) is not _before_stop(other):
                break
            value = chosen
        elif isinstance(owner.kind, through) or owner.kind.opcode == "stop_gradient":
            (value,) = owner.operands
        else:
            break
    return value


def _before_stop(value: Value) -> Value:
    """What a derivative is kept from, which is what XLA sees."""
    owner = value.owner
    if isinstance(owner, Op) and owner.kind.opcode == "stop_gradient":
        return owner.operands[0]
    return value


def _has_exact_reciprocals(divisor: np.ndarray, dtype: DType) -> bool:
    """True for powers of two, and for 0, infinity and NaN: products with their reciprocals are quotients."""
    greatest = 14 if dtype.itemsize == 2 else 100  # so that no reciprocal is subnormal
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(divisor.astype(np.float64))
    common = (np.abs(mantissa) == 0.5) & (np.abs(exponent) < greatest)
    return bool(np.all(common | (divisor == 0) | ~np.isfinite(mantissa)))


class Remainder(Binary):
    """What a truncated division leaves, with the sign of the dividend; of integers, the dividend where
    the divisor is 0. StableHLO: remainder, with the divisions that XLA is not given as for `Divide`.
    """

    opcode = "remainder"
    dtypes = INTEGERS | FLOATS

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        if op.results[0].type.dtype in INTEGERS:
            return _by_no_zero(e, self.opcode, op, operands, lambda: operands[0])
        return e.create(self.opcode, op.results, operands)

    def reference(self, *operands: np.ndarray) -> Any:
        left, right = operands
        if not is_integer(left.dtype):
            return np.fmod(left, right)
        rest = left - (_truncated_quotient(left, right) * right).astype(left.dtype)
        return np.where(right == 0, left, rest)

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        x, y = op.operands
        return 1, c.div(c.sub(op.results[0], x), y)  # a whole number


class Power(OfComplex, Binary):
    """`x` to the power `y`, of real or complex floating-point numbers. StableHLO: power.

    Integers are refused although StableHLO takes them: XLA:CPU reads only the six lowest bits of an
    integer exponent, so `2**64` would be 1. The library squares repeatedly instead.
    """

    opcode = "power"
    dtypes = FLOATS | COMPLEXES
    numpy = np.power
    by_exponent: ClassVar[Callable[[complex | None], Callable[..., Pair]]] = numpy_power
    """The formula for what all exponents are known to be, or None."""

    def apart(self, op: Op) -> Sequence[int]:
        return [i for i in made_by(op, "exponential", "power") if i == 0]

    def reference(self, *operands: np.ndarray) -> Any:
        """As of many numbers: NumPy takes a root where one exponent for all, repeated without a copy, is 0.5."""
        many = [np.ascontiguousarray(each).reshape(-1) for each in operands]
        return np.power(*many).reshape(operands[0].shape)

    def emit(
        self, e: Emitter, op: Op, *operands: mlir_ir.Value
    ) -> mlir_ir.Operation | Sequence[mlir_ir.Value]:
        exponents = op.operands[1]
        if self.by_xla or exponents.type.dtype not in COMPLEXES:
            return super().emit(e, op, *operands)
        known = known_elements(exponents)
        one = known is not None and known.size == 1
        exponent = complex(known.item()) if known is not None and one else None
        return emit_parts(e, op, operands, type(self).by_exponent(exponent))

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        x, y = op.operands
        zero, one = c.zeros(x.type), c.filled(x.type, 1)
        below = c.op(self, x, c.select(c.compare("EQ", y, zero), one, c.sub(y, one)))
        base = c.select(c.compare("EQ", x, zero), one, x)
        return c.mul(y, below), c.mul(c.op(Log(), base), op.results[0])


class PythonPower(Power):
    """`x ** y` of Python's complex numbers, which CPython computes by size and angle. StableHLO: power."""

    dtypes = COMPLEXES
    by_exponent = python_power

    def reference(self, *operands: np.ndarray) -> Any:
        return np.asarray(_of_numbers(*operands)).astype(operands[0].dtype)

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        floats = ArrayType(FLOAT64, (3,))
        return [ErrorSample(cls(), (floats, floats), "takes complex numbers")]


class Extremum(Binary):
    """One of two numbers, by their order; NaN if either is. Complex numbers are in lexicographic order.

    XLA:CPU has no extremum of complex numbers (it ends the process where it simplifies one): they are compared part
    by part.
    """

    dtypes = ALL
    direction: ClassVar[str]

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        type = op.results[0].type
        if type.dtype not in COMPLEXES:
            return e.create(self.opcode, op.results, operands)
        flags = [ArrayType(BOOL, type.shape)]
        part_type = [ArrayType(FLOAT32 if type.dtype == COMPLEX64 else FLOAT64, type.shape)]

        def compared(direction: str, x: mlir_ir.Value, y: mlir_ir.Value) -> mlir_ir.Value:
            attribute = e.parse(f"#stablehlo<comparison_direction {direction}>")
            return e.create("compare", flags, [x, y], {"comparison_direction": attribute}).results[0]

        def both(opcode: str, x: mlir_ir.Value, y: mlir_ir.Value) -> mlir_ir.Value:
            return e.create(opcode, flags, [x, y]).results[0]

        parts = [[e.create(part, part_type, [v]).results[0] for v in operands] for part in ("real", "imag")]
        by_part = [compared(self.direction, *part) for part in parts]
        ordered = e.create("select", flags, [compared("EQ", *parts[0]), *reversed(by_part)]).results[0]
        x, y = operands
        kept = both("or", compared("NE", x, x), both("and", ordered, compared("EQ", y, y)))
        return e.create("select", op.results, [kept, *operands])

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        return _shares(c, op)


class Maximum(Extremum):
    """The greater one. StableHLO: maximum."""

    opcode = "maximum"
    numpy = np.maximum
    direction = "GE"


class Minimum(Extremum):
    """The lesser one. StableHLO: minimum."""

    opcode = "minimum"
    numpy = np.minimum
    direction = "LE"


class Atan2(Binary):
    """The angle of the point (`y` = the second operand's axis, `x`), as `np.arctan2`. StableHLO: atan2."""

    opcode = "atan2"
    dtypes = FLOATS
    numpy = np.arctan2

    def partials(self, c: Calculus, op: Op) -> Sequence[Partial]:
        y, x = op.operands
        square = c.add(c.mul(x, x), c.mul(y, y))
        return c.div(x, square), c.neg(c.div(y, square))


class And(LogicalBinary):
    """The conjunction, bit by bit. StableHLO: and."""

    opcode = "and"
    numpy = np.bitwise_and


class Or(LogicalBinary):
    """The disjunction, bit by bit. StableHLO: or."""

    opcode = "or"
    numpy = np.bitwise_or


class Xor(LogicalBinary):
    """The exclusive disjunction, bit by bit. StableHLO: xor."""

    opcode = "xor"
    numpy = np.bitwise_xor


class Shift(IntegerBinary):
    """A shift; the distance is read as unsigned, and one that is not less than the width leaves no bit."""

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = list(super().samples())
        for dtype in sorted(cls.dtypes, key=str):
            width = dtype.itemsize * 8
            value = np.array([0x5A, 0x5A, 0x5A, 1, 3, 0x7F], np.uint8).astype(dtype)
            distance = np.array([1, width - 1, width, width + 1, 0, 2], dtype)
            made += [Sample(cls(), (value, distance)), Sample(cls(), (np.invert(value), distance))]
        return made


class ShiftLeft(Shift):
    """`x << y`; 0 where `y` is not less than the width. StableHLO: shift_left."""

    opcode = "shift_left"
    numpy = np.left_shift


class ShiftRightLogical(Shift):
    """`x >> y` with zeros moved in. StableHLO: shift_right_logical."""

    opcode = "shift_right_logical"

    def reference(self, *operands: np.ndarray) -> Any:
        return _shifted_right("u", *operands)


class ShiftRightArithmetic(Shift):
    """`x >> y` with copies of the highest bit moved in, of unsigned integers too.

    StableHLO: shift_right_arithmetic.
    """

    opcode = "shift_right_arithmetic"

    def reference(self, *operands: np.ndarray) -> Any:
        return _shifted_right("i", *operands)


class Complex(Binary):
    """The complex number of a real and an imaginary part. StableHLO: complex."""

    opcode = "complex"
    linear = (0, 1)
    dtypes = frozenset({FLOAT32, FLOAT64})

    def infer(self, *operands: ArrayType) -> ArrayType:
        part = super().infer(*operands)
        return part.with_dtype(COMPLEX128 if part.dtype == FLOAT64 else COMPLEX64)

    def reference(self, *operands: np.ndarray) -> Any:
        real, imaginary = operands
        result = np.empty(real.shape, COMPLEX128 if real.dtype == FLOAT64 else COMPLEX64)
        result.real = real
        result.imag = imaginary
        return result

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        (ct,) = cotangents
        assert ct is not None
        return c.real(ct), c.neg(c.imag(ct))


class NextAfter(Binary):
    """The next number from `x` on the way to `y`. CHLO: next_after, which JAX expands to StableHLO."""

    opcode = "chlo.next_after"
    dtypes = FLOATS
    numpy = np.nextafter


@np.vectorize(otypes=[complex])
def _of_numbers(x: complex, y: complex) -> complex:
    """CPython's power; NaN where it raises."""
    try:
        return complex(x) ** complex(y)
    except ArithmeticError:
        return complex(np.nan, np.nan)


def _all_bits(like: np.ndarray) -> np.ndarray:
    """All bits set: -1, or the greatest unsigned integer."""
    bits: np.ndarray = np.invert(np.zeros_like(like))
    return bits


def _truncated_quotient(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Integer division towards zero; anything where the divisor is 0."""
    divisor = np.where(right == 0, right.dtype.type(1), right)
    quotient = np.floor_divide(left, divisor)
    exact = (quotient * divisor).astype(left.dtype) == left
    truncated: np.ndarray = np.where(~exact & ((left < 0) != (divisor < 0)), quotient + 1, quotient)
    return truncated.astype(left.dtype)


def _shifted_right(kind: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """`left >> right` of the bits read as signed ("i") or unsigned ("u") integers."""
    dtype = f"{kind}{left.itemsize}"
    shifted: np.ndarray = np.right_shift(left.view(dtype), right.view(dtype))
    return np.asarray(shifted).view(left.dtype)


def _shares(c: Calculus, op: Op) -> Sequence[Value]:
    """How much of the result each operand is: 0 or 1, a half each where they are equal."""
    x, y = op.operands
    equal, half = c.compare("EQ", x, y), c.filled(x.type, 0.5)
    chosen = [c.convert(c.compare("EQ", v, op.results[0]), v.type.dtype) for v in (x, y)]
    return [c.select(equal, half, share) for share in chosen]
