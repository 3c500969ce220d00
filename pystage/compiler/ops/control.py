"""Control flow: branches, loops and calls as operations with regions, and the optimisation barrier.

Regions of `If`, `Case` and `While` may use the values of the regions around them freely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ...records import dataclass
from ..diagnostics.diagnostic import Diagnostic
from ..hlo.builder import Builder
from ..hlo.calculus import Calculus, Contribution, Cotangents, Tangents
from ..hlo.ir import Function, Op, Region, Value
from ..hlo.mlir import Emitter
from ..hlo.op import ErrorSample, HloOp, ResultTypes, RunRegion, Sample
from ..hlo.types import BOOL, FLOAT32, FLOAT64, INT32, ArrayType, ShapeError
from .batching import as_one
from .elementwise.binary import Add, Multiply, Subtract
from .elementwise.compare import Compare
from .elementwise.unary import Negate, Sine
from .operands import listing, require
from .sampling import grid
from .structure.shapes import Constant


class Branching(HloOp):
    """One of several regions runs, chosen by the operand; they have no parameters and equal results."""

    def infer(self, *operands: ArrayType) -> ResultTypes:
        raise ShapeError(f"{self.opcode} without branches")

    def infer_regions(self, operands: Sequence[ArrayType], regions: Sequence[Region]) -> ResultTypes:
        (selector,) = operands
        self.check_selector(selector)
        first = [r.type for r in regions[0].results]
        for region in regions:
            if region.params:
                raise ShapeError(f"a branch of {self.opcode} takes no arguments")
            types = [r.type for r in region.results]
            if types != first:
                raise ShapeError(f"the branches of {self.opcode} give {_words(first)} and {_words(types)}")
        return tuple(first)

    def check_selector(self, selector: ArrayType) -> None:
        """`ShapeError` unless the operand can choose a branch."""
        raise NotImplementedError

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        made = e.create(self.opcode, op.results, operands, regions=len(op.regions))
        for region, into in zip(op.regions, made.regions, strict=True):
            e.emit_region(region, into)
        return made


class If(Branching):
    """The results of the first region if the operand, a boolean scalar, is true, else of the second.

    Only the region that is chosen runs. StableHLO: if.
    """

    opcode = "if"
    regions = 2

    def check_selector(self, selector: ArrayType) -> None:
        if selector != ArrayType(BOOL):
            raise ShapeError(f"if takes one boolean as its condition, not {selector}")

    def reference_regions(
        self, run: RunRegion, operands: Sequence[np.ndarray], regions: Sequence[Region]
    ) -> Any:
        return run(regions[0] if operands[0] else regions[1], ())

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        def build(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return [_branch(b, Sine(), operands[0]), _branch(b, Negate(), operands[0])]

        def build_empty(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return [Region(), Region()]

        flags = [np.array(True), np.array(False)]
        return [*[Sample(cls(), (f,), build) for f in flags], Sample(cls(), (flags[0],), build_empty)]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        def build(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return [_branch(b, Sine(), operands[0]), _branch(b, Compare("EQ"), operands[0])]

        def with_param(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return [Region((ArrayType(FLOAT32),)), Region()]

        return [
            ErrorSample(cls(), (ArrayType(INT32),), "one boolean as its condition, not s32[]", build),
            ErrorSample(cls(), (ArrayType(BOOL, (2,)),), "one boolean as its condition", build),
            ErrorSample(cls(), (ArrayType(BOOL),), "the branches of if give f64[3] and pred[3]", build),
            ErrorSample(cls(), (ArrayType(BOOL),), "takes no arguments", with_param),
        ]


class Case(Branching):
    """The results of the region that the operand, an int32 scalar, counts; of the last if there is none.

    StableHLO: case.
    """

    opcode = "case"
    regions = -1

    def check_selector(self, selector: ArrayType) -> None:
        if selector != ArrayType(INT32):
            raise ShapeError(f"case takes one s32[] to choose a branch, not {selector}")

    def reference_regions(
        self, run: RunRegion, operands: Sequence[np.ndarray], regions: Sequence[Region]
    ) -> Any:
        index = int(operands[0])
        return run(regions[index if 0 <= index < len(regions) else -1], ())

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        def build(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return [_branch(b, kind, operands[0]) for kind in (Sine(), Negate(), Add())]

        return [Sample(cls(), (np.array(i, INT32),), build) for i in (0, 1, 2, 3, -1)]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        def build(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return [_branch(b, Sine(), operands[0]), _branch(b, Compare("EQ"), operands[0])]

        def build_none(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return []

        return [
            ErrorSample(cls(), (ArrayType(BOOL),), "to choose a branch, not pred[]", build),
            ErrorSample(cls(), (ArrayType(INT32),), "the branches of case give", build),
            ErrorSample(cls(), (ArrayType(INT32),), "case without branches", build_none),
        ]


@dataclass(frozen=True)
class While(HloOp):
    """The second region applied to the operands as long as the first, of the same values, gives true.

    `trip_count` is the greatest number of iterations, where it is known while compiling; it changes no result.
    StableHLO: while.
    """

    trip_count: int | None = None

    opcode = "while"
    regions = 2

    def infer_regions(self, operands: Sequence[ArrayType], regions: Sequence[Region]) -> ResultTypes:
        carried = list(operands)
        condition, body = regions
        for region, name in ((condition, "condition"), (body, "body")):
            params = [p.type for p in region.params]
            if params != carried:
                raise ShapeError(
                    f"the {name} of while takes {_words(params)}, but {_words(carried)} is carried"
                )
        decides = [r.type for r in condition.results]
        if decides != [ArrayType(BOOL)]:
            raise ShapeError(f"the condition of while gives {_words(decides)}, not one boolean")
        given = [r.type for r in body.results]
        if given != carried:
            raise ShapeError(f"the body of while gives {_words(given)}, but {_words(carried)} is carried")
        return tuple(operands)

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        made = e.create(self.opcode, op.results, operands, regions=2)
        for region, into in zip(op.regions, made.regions, strict=True):
            e.emit_region(region, into)
        return made

    def reference_regions(
        self, run: RunRegion, operands: Sequence[np.ndarray], regions: Sequence[Region]
    ) -> Any:
        condition, body = regions
        carried = tuple(operands)
        while run(condition, carried)[0]:
            carried = run(body, carried)
        return carried

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        made = []
        for trips in (0, 1, 5):
            operands = (np.array(0, INT32), np.array(trips, INT32), grid(FLOAT32, (2, 3)))
            made.append(Sample(cls(), operands, _count_up))
        return [
            *made,
            Sample(cls(4), (np.array(0, INT32), np.array(4, INT32), grid(FLOAT64, (0,))), _count_up),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        index = ArrayType(INT32)

        def build(b: Builder, operands: Sequence[Value]) -> list[Region]:
            body = _count_up(b, operands)[1]
            return [body, body]

        def grow(b: Builder, operands: Sequence[Value]) -> list[Region]:
            condition, body = _count_up(b, operands)
            body.results = (body.results[0], body.results[0], body.results[0])
            return [condition, body]

        def swap(b: Builder, operands: Sequence[Value]) -> list[Region]:
            return _count_up(b, (operands[0], operands[1], operands[1]))

        carried = (index, index, ArrayType(FLOAT32, (3,)))
        return [
            ErrorSample(cls(), carried, "the condition of while gives s32[], s32[] and f32[3]", build),
            ErrorSample(cls(), carried, "the body of while gives s32[], s32[] and s32[]", grow),
            ErrorSample(cls(), carried, "the condition of while takes s32[], s32[] and s32[], but", swap),
        ]


@dataclass(frozen=True, eq=False)
class VjpFunctions:
    """The forward and the backward function of a custom VJP rule.

    `forward` takes the operands of the call, and gives its results and then residuals. `backward` takes the
    operands, the residuals and the cotangents of the results `seeds`, and gives those of the operands `wrt`. The
    rule has no derivative with respect to the operands `others`.
    """

    forward: Function
    backward: Function
    seeds: tuple[int, ...]
    wrt: tuple[int, ...]
    others: frozenset[int]
    is_transpose: bool = False
    """The backward function is the transpose of a JVP rule, linear in the cotangents: forward mode transposes it back."""


@dataclass(eq=False, repr=False)
class VjpRule:
    """The custom VJP rule of a call: its functions, or the diagnostic that says why it has none.

    The functions of a rule may call the same function with this very rule, so `vjp` is set after construction.
    """

    name: str
    vjp: VjpFunctions | Diagnostic | None = None

    def __repr__(self) -> str:
        return f"of {self.name}"


@dataclass(frozen=True)
class Call(HloOp):
    """A call of another function of the program, with its parameters as operands. MLIR: func.call.

    Emitted as a private function of the module, once however often it is called. Functions are equal
    only if they are the same object. `recompute`: its pullback keeps only its operands, and runs it
    once more. `rule`: its derivative is not that of the function; such a call stays one until it is emitted.
    """

    function: Function
    recompute: bool = False
    rule: VjpRule | None = None

    opcode = "func.call"

    def infer(self, *operands: ArrayType) -> ResultTypes:
        wanted = self.function.param_types
        if operands != wanted:
            raise ShapeError(f"{self.function.name} takes {_words(wanted)}, not {_words(operands)}")
        if self.rule is not None and isinstance(self.rule.vjp, VjpFunctions):
            _check_vjp(self.rule.vjp, wanted, self.function.result_types)
        return self.function.result_types

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> mlir_ir.Operation:
        attributes = {"callee": e.symbol(self.function)}
        if self.function.kernel:
            attributes["mhlo.frontend_attributes"] = e.parse(
                '{inlineable = "false", xla_cpu_small_call = "true"}'
            )
            operands = (e.pack(operands),)
        elif self.function.fence:
            attributes["mhlo.frontend_attributes"] = e.parse('{inlineable = "false"}')
        return e.create(self.opcode, op.results, operands, attributes)

    def reference_regions(
        self, run: RunRegion, operands: Sequence[np.ndarray], regions: Sequence[Region]
    ) -> Any:
        return run(self.function.body, operands)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        function = _sample_function()
        operands = (grid(FLOAT32, (3,)), grid(FLOAT32, (3,), 1, 2))
        ruled = cls(function, rule=VjpRule("sample", _sample_vjp(function)))
        return [
            Sample(cls(function), operands),
            Sample(cls(function), operands[::-1]),
            Sample(ruled, operands),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        function = _sample_function()
        three = ArrayType(FLOAT32, (3,))
        vjp = _sample_vjp(function)
        swapped = VjpRule("sample", replace(vjp, forward=vjp.backward))
        return [
            ErrorSample(cls(function), (three,), "sample takes f32[3] and f32[3], not f32[3]"),
            ErrorSample(cls(function), (three, ArrayType(FLOAT64, (3,))), "not f32[3] and f64[3]"),
            ErrorSample(cls(function, rule=swapped), (three, three), "sample_bwd takes f32[3] and f32[3]"),
        ]


class OptimizationBarrier(HloOp):
    """Its operands, which XLA computes before anything that uses the results.

    StableHLO: optimization_barrier.
    """

    opcode = "optimization_barrier"

    def infer(self, *operands: ArrayType) -> ResultTypes:
        require(bool(operands), "a barrier of nothing")
        return tuple(operands)

    def reference(self, *operands: np.ndarray) -> Any:
        return operands

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [
            Sample(cls(), (grid(FLOAT32, (3,)),)),
            Sample(cls(), (grid(INT32, (2, 2)), grid(BOOL, (0,)), np.array(2))),
        ]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [ErrorSample(cls(), (), "a barrier of nothing")]

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        return cotangents

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        return tangents


class StopGradient(HloOp):
    """The operand itself, through which no derivative goes. Nothing is emitted for it."""

    opcode = "stop_gradient"

    def infer(self, *operands: ArrayType) -> ArrayType:
        if len(operands) != 1:
            raise ShapeError(f"stop_gradient takes one operand, not {len(operands)}")
        return operands[0]

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        return operands

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        return (None,)

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        return (None,)

    def reference(self, *operands: np.ndarray) -> Any:
        return operands[0]

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return [Sample(cls(), (grid(FLOAT32, (3,)),)), Sample(cls(), (grid(INT32, (0, 2)),))]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        three = ArrayType(FLOAT32, (3,))
        return [ErrorSample(cls(), (three, three), "takes one operand, not 2")]


def _check_vjp(vjp: VjpFunctions, takes: tuple[ArrayType, ...], gives: tuple[ArrayType, ...]) -> None:
    """`ShapeError` unless these are the rule of a call that takes and gives these types."""
    forward, backward = vjp.forward, vjp.backward
    made = forward.result_types
    if forward.param_types != takes:
        raise ShapeError(f"{forward.name} takes {_words(takes)}")
    if made[: len(gives)] != gives:
        raise ShapeError(f"{forward.name} gives {_words(gives)} first")
    given = (*takes, *made[len(gives) :], *[gives[i] for i in vjp.seeds])
    wanted = tuple([takes[i] for i in vjp.wrt])
    if backward.param_types != given:
        raise ShapeError(f"{backward.name} takes {_words(given)}")
    if backward.result_types != wanted:
        raise ShapeError(f"{backward.name} gives {_words(wanted)}")


def _words(types: Sequence[ArrayType]) -> str:
    """Types in words; `nothing` if there are none."""
    return listing(types) if types else "nothing"


def _branch(b: Builder, kind: HloOp, selector: Value) -> Region:
    """A sample branch: `kind` applied to an array from outside, which the selector is also part of."""
    outer = b.op(Constant(np.array([1.0, 2.0, 4.0])))
    region = Region()
    with b.region(region):
        arity = 2 if isinstance(kind, Add | Compare) else 1
        region.results = (b.op(kind, *[outer] * arity),)
    return region


def _count_up(b: Builder, operands: Sequence[Value]) -> list[Region]:
    """Sample regions of `while`: add a value from outside to an array, from a counter up to a limit."""
    types = tuple([v.type for v in operands])
    step = b.op(Constant(np.array(1, INT32)))
    condition, body = Region(types), Region(types)
    with b.region(condition):
        condition.results = (b.op(Compare("LT"), condition.params[0], condition.params[1]),)
    with b.region(body):
        counter, limit, array = body.params
        body.results = (b.op(Add(), counter, step), limit, b.op(Add(), array, operands[2]))
    return [condition, body]


def _sample_function() -> Function:
    """A function of two vectors: their difference times the first."""
    three = ArrayType(FLOAT32, (3,))
    body = Region((three, three))
    b = Builder(body)
    left, right = body.params
    body.results = (b.op(Multiply(), b.op(Subtract(), left, right), left),)
    return Function("sample", body)


def _sample_vjp(function: Function) -> VjpFunctions:
    """The derivative of the sample function, with its first operand as a further residual."""
    three = ArrayType(FLOAT32, (3,))
    forward, backward = Region((three, three)), Region((three, three, three, three))
    b = Builder(forward)
    forward.results = (*b.apply(Call(function), forward.params).results, forward.params[0])
    b = Builder(backward)
    left, right, kept, seed = backward.params
    slope = b.op(Subtract(), b.op(Add(), kept, left), right)
    by_right = b.op(Negate(), b.op(Multiply(), seed, kept))
    backward.results = (b.op(Multiply(), seed, slope), by_right)
    made = Function("sample_fwd", forward), Function("sample_bwd", backward)
    return VjpFunctions(*made, (0,), (0, 1), frozenset())
