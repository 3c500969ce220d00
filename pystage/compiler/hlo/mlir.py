"""The only access to MLIR: types, attributes, constants and locations, cached per module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.interpreters import mlir as jax_mlir
from jax.interpreters.mlir import ir

from ..diagnostics.span import Span
from .ir import Function, Op, Region, Value
from .op import HloOp
from .types import BOOL, ArrayType, DType, Shape

_OPERATIONS = (ir.OpView, ir.Operation)


class ModuleCache:
    """The cached types, attributes and locations of one MLIR context, shared by its modules."""

    __slots__ = ("attributes", "elements", "locations", "types")

    def __init__(self) -> None:
        self.types: dict[tuple[DType, Shape], ir.Type] = {}
        self.elements: dict[DType, ir.Type] = {}
        self.attributes: dict[HloOp, dict[str, ir.Attribute]] = {}
        self.locations: dict[Span, ir.Location] = {}


class Emitter:
    """Emits HLO IR at an insertion point of an MLIR module.

    `symbol_of` gives the symbol name of a private function of the module, which it emits on demand.
    Must be used inside the MLIR context and an active insertion point (`with ir.InsertionPoint(block)`).
    """

    def __init__(
        self,
        symbol_of: Callable[[Function], str],
        location: ir.Location,
        lowering: Any = None,
        made: ModuleCache | None = None,
    ) -> None:
        self._symbol_of = symbol_of
        self._made = made or ModuleCache()
        self._quick: dict[int, tuple[Any, Any]] = {id(None): (None, location)}
        """By identity of a type or a span, which lives as long as this: its MLIR type or location."""
        self.values: dict[Value, ir.Value] = {}
        self.location = location
        self.lowering = lowering
        """JAX's lowering context (`LoweringRuleContext`), which `JaxCall` needs; None outside JAX."""

    def element(self, dtype: DType) -> ir.Type:
        """The MLIR element type of `dtype`."""
        found = self._made.elements.get(dtype)
        if found is None:
            found = self._made.elements[dtype] = jax_mlir.dtype_to_ir_type(dtype)
        return found

    def type(self, type: ArrayType) -> ir.Type:
        """The MLIR tensor type."""
        quick = self._quick.get(id(type))
        if quick is not None:
            return quick[1]
        key = (type.dtype, type.shape)
        found = self._made.types.get(key)
        if found is None:
            found = ir.RankedTensorType.get(type.shape, self.element(type.dtype), loc=self.location)
            self._made.types[key] = found
        self._quick[id(type)] = (type, found)
        return found

    def location_of(self, span: Span | None) -> ir.Location:
        """The MLIR location of a span: file, line and column, named after the function."""
        quick = self._quick.get(id(span))
        if quick is not None:
            return quick[1]
        assert span is not None
        found = self._made.locations.get(span)
        if found is None:
            found = ir.Location.file(span.file, span.line, span.column + 1)
            if span.function:
                found = ir.Location.name(span.function, found)
            self._made.locations[span] = found
        self._quick[id(span)] = (span, found)
        return found

    def create(
        self,
        opcode: str,
        results: Sequence[Value] | Sequence[ArrayType],
        operands: Sequence[ir.Value],
        attributes: dict[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        """One operation of the StableHLO dialect (or of another: `opcode` with a dot)."""
        name = opcode if "." in opcode else "stablehlo." + opcode
        types = [self.type(r.type if isinstance(r, Value) else r) for r in results]
        return ir.Operation.create(
            name, types, operands, attributes=attributes, regions=regions, loc=self.location
        )

    def attributes(
        self, kind: HloOp, make: Callable[[Emitter], dict[str, ir.Attribute]]
    ) -> dict[str, ir.Attribute]:
        """The attributes of an operation, built by `make`; memoised by static operands."""
        found = self._made.attributes.get(kind)
        if found is None:
            found = self._made.attributes[kind] = make(self)
        return found

    def emit_op(self, op: Op) -> None:
        """Emits one operation and remembers its results."""
        outer = self.location
        self.location = self.location_of(op.span)
        values = self.values
        given = [values[operand] for operand in op.operands]
        for i in op.kind.apart(op):
            given[i] = self._kept_apart(op.operands[i], given[i])
        made = op.kind.emit(self, op, *given)
        if not isinstance(made, _OPERATIONS):
            values.update(zip(op.results, made, strict=True))
        elif len(op.results) == 1:
            values[op.results[0]] = made.result
        else:
            values.update(zip(op.results, made.results, strict=True))
        self.location = outer

    def _kept_apart(self, value: Value, made: ir.Value) -> ir.Value:
        """`made`, which XLA does not see to be made by its operation: what it is made of, or itself, chooses it.

        Where that is NaN, so is the result: of exponentials, products and quotients what they are made of is enough.
        """
        owner, type_ = value.owner, value.type
        assert isinstance(owner, Op)
        operands = owner.operands
        is_by_constant = any(map(is_constant, operands))  # XLA sees that `x * 1.0` is `x`
        is_nan_of_nan = owner.kind.opcode in ("exponential", "multiply", "divide") and not is_by_constant
        if is_nan_of_nan and operands[0] in self.values:
            number = otherwise = self.values[operands[0]]
        else:
            number, otherwise = made, self.filled(np.array(np.nan, type_.dtype), type_)
        return self.create("select", [type_], [self.equal(type_, number, number), made, otherwise]).result

    def equal(self, type_: ArrayType, x: ir.Value, y: ir.Value) -> ir.Value:
        """Where the elements of two arrays of this type are equal."""
        direction = {"comparison_direction": self.parse("#stablehlo<comparison_direction EQ>")}
        return self.create("compare", [type_.with_dtype(BOOL)], [x, y], direction).result

    def emit_region(
        self, region: Region, into: ir.Region, terminator: str = "stablehlo.return", packed: bool = False
    ) -> None:
        """Emits `region` as the one block of `into`; `packed`: its parameters come in one tuple."""
        types = [self.type(p.type) for p in region.params]
        block = into.blocks.append(*[self.packed(types)] if packed else types, arg_locs=None)
        arguments = list(block.arguments)
        with ir.InsertionPoint(block):
            if packed:
                arguments = [self._element(arguments[0], i, type) for i, type in enumerate(types)]
            self.values.update(zip(region.params, arguments, strict=True))
            for op in region.ops:
                self.emit_op(op)
            results = [self.values[v] for v in region.results]
            ir.Operation.create(terminator, [], results, loc=self.location)

    def pack(self, values: Sequence[ir.Value]) -> ir.Value:
        """Values as one tuple."""
        type = self.packed([v.type for v in values])
        return ir.Operation.create("stablehlo.tuple", [type], values, loc=self.location).results[0]

    def _element(self, packed: ir.Value, index: int, type: ir.Type) -> ir.Value:
        attributes = {"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), index)}
        made = ir.Operation.create(
            "stablehlo.get_tuple_element", [type], [packed], attributes=attributes, loc=self.location
        )
        return made.results[0]

    def packed(self, types: Sequence[ir.Type]) -> ir.Type:
        """The type of a tuple of values of these types."""
        return ir.TupleType.get_tuple(list(types))

    def symbol(self, function: Function) -> ir.Attribute:
        """A reference to a private function of the module."""
        return ir.FlatSymbolRefAttr.get(self._symbol_of(function))

    def constant(self, array: np.ndarray) -> ir.Value:
        """A constant; one whose elements are all the same is stored as one element."""
        type = ArrayType(array.dtype, array.shape)
        return self.create("constant", [type], [], {"value": self.dense(array)}).results[0]

    def filled(self, value: np.ndarray, type: ArrayType) -> ir.Value:
        """An array of one value, which is an array of rank 0."""
        scalar = self.constant(value)
        if not type.shape:
            return scalar
        attributes = {"broadcast_dimensions": self.i64s(())}
        return self.create("broadcast_in_dim", [type], [scalar], attributes).results[0]

    def dense(self, array: np.ndarray) -> ir.Attribute:
        """A DenseElementsAttr of the array, bit by bit; MLIR itself sees where all elements are the same."""
        return ir.DenseElementsAttr.get(
            np.ascontiguousarray(array), type=self.element(array.dtype), shape=array.shape
        )

    def i64(self, value: int) -> ir.Attribute:
        """A 64-bit integer attribute."""
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)

    def i64s(self, values: Sequence[int]) -> ir.Attribute:
        """A DenseI64ArrayAttr."""
        return ir.DenseI64ArrayAttr.get(list(values))

    def matrix(self, rows: Sequence[tuple[int, int]]) -> ir.Attribute:
        """An i64 tensor attribute with rows of two, as `padding` wants it; there may be no rows."""
        return ir.DenseElementsAttr.get(np.asarray(rows, np.int64).reshape(len(rows), 2))

    def parse(self, text: str) -> ir.Attribute:
        """An attribute from its MLIR text, as `#stablehlo<…>`."""
        return ir.Attribute.parse(text)


def is_constant(value: Value) -> bool:
    """True for a constant, repeated or not, by which XLA would choose while it compiles."""
    owner = value.owner
    while isinstance(owner, Op) and owner.kind.opcode in ("broadcast_in_dim", "reshape"):
        owner = owner.operands[0].owner
    return isinstance(owner, Op) and owner.kind.opcode == "constant"
