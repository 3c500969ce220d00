"""The base class of all HLO operations.

An operation is a frozen dataclass: its fields are the static operands; the dynamic operands are the values that an
`ir.Op` applies it to. Its class holds all its rules: the shape transfer function, the emission to StableHLO, the NumPy
reference, the derivatives, the batching rule, and the samples that the generic tests run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ...records import dataclass
from .calculus import Calculus, Contribution, Cotangents, NotBatched, NotDifferentiable, Tangents
from .types import ArrayType

if TYPE_CHECKING:
    from .builder import Builder
    from .ir import Op, Region, Value
    from .mlir import Emitter

ResultTypes = ArrayType | tuple[ArrayType, ...]
RunRegion = Callable[["Region", Sequence[np.ndarray]], tuple[np.ndarray, ...]]
BuildRegions = Callable[["Builder", Sequence["Value"]], Sequence["Region"]]


@dataclass(frozen=True)
class Sample:
    """One application for the generic tests: an operation, NumPy operands, and what builds its regions.

    `regions` gets the builder and the operands as values; the regions may use those.
    """

    op: HloOp
    operands: tuple[np.ndarray, ...]
    regions: BuildRegions | None = None


@dataclass(frozen=True)
class ErrorSample:
    """One application that the transfer function must refuse, with a part of what it says."""

    op: HloOp
    operands: tuple[ArrayType, ...]
    match: str
    regions: BuildRegions | None = None


@dataclass(frozen=True)
class OnHost:
    """The NumPy implementation of an operation on the host.

    `function(*operands)` gives those results of the operation that stand at `places`. The function takes arrays that it must
    not change, is pure, and compares equal to what computes the same.
    """

    function: Callable[..., Sequence[np.ndarray]]
    operands: tuple[Value, ...]
    places: tuple[int, ...]


@dataclass(frozen=True)
class HloOp:
    """One HLO operation with its static operands."""

    opcode: ClassVar[str] = ""
    """StableHLO's name of the operation, without the dialect prefix; empty for abstract classes."""
    pure: ClassVar[bool] = True
    """False if it must run, once and in order, even when its results are unused."""
    lowered_by_jax: ClassVar[bool] = False
    """True if its emission takes part in a lowering of JAX's, so that it needs JAX's lowering context."""
    linear: ClassVar[Collection[int]] = ()
    """The operands in which, taken together, the operation is linear."""
    regions: ClassVar[int] = 0
    """How many regions it holds; -1 for a number that varies."""

    @property
    def shareable(self) -> bool:
        """True if one operation may stand for equal ones; false where each allocates memory that is stored into."""
        return self.pure

    def infer(self, *operands: ArrayType) -> ResultTypes:
        """Shape transfer function: operand types to result type(s); `ShapeError` if they do not fit."""
        raise NotImplementedError(f"{type(self).__name__}.infer")

    def infer_regions(self, operands: Sequence[ArrayType], regions: Sequence[Region]) -> ResultTypes:
        """Shape transfer function of an operation with regions."""
        return self.infer(*operands)

    def apart(self, op: Op) -> Sequence[int]:
        """The operands of which XLA must not see how they are made: `log(exp(x))` is not `x` where `exp(x)` overflows."""
        return ()

    def emit(
        self, e: Emitter, op: Op, *operands: mlir_ir.Value
    ) -> mlir_ir.Operation | Sequence[mlir_ir.Value]:
        """Emits the operation at the emitter's insertion point; by default one StableHLO op `opcode`."""
        return e.create(self.opcode, op.results, operands)

    def reference(self, *operands: np.ndarray) -> Any:
        """The result(s) as NumPy computes them: an array, or a tuple of arrays."""
        raise NotImplementedError(f"{type(self).__name__}.reference")

    def reference_regions(
        self, run: RunRegion, operands: Sequence[np.ndarray], regions: Sequence[Region]
    ) -> Any:
        """The result(s) of an operation with regions; `run` evaluates one of them."""
        return self.reference(*operands)

    def on_host(self, op: Op, used: Sequence[bool]) -> OnHost | None:
        """The host function, if NumPy beats XLA:CPU by more than the cost of a call; `used`: which results have uses."""
        return None

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        """Cotangents of the operands from those of the results, not all of which are zero, built with `c`.

        The transpose of `jvp`, without conjugation, as JAX has it. `NotDifferentiable` if there is no rule.
        """
        raise NotDifferentiable(f"`{self.opcode}`")

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        """Tangents of the results from those of the operands, not all of which are zero, built with `c`.

        An operation that is `linear` in all operands that have tangents needs no rule.
        `NotDifferentiable` if there is none.
        """
        raise NotDifferentiable(f"`{self.opcode}`")

    def batch(
        self, c: Calculus, op: Op, operands: Sequence[Value], batched: Sequence[bool], batch_size: int
    ) -> Sequence[Value]:
        """The batching rule: the results of `batch_size` applications, each with the batch dimension in front.

        `operands` are those of `op`; the `batched` ones have the batch dimension in front, the others are shared.
        At least one is batched. `NotBatched` where nothing is better than a loop over the elements.
        """
        raise NotBatched(f"`{self.opcode}`")

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        """Applications that the generic tests run against NumPy, XLA and the verifier."""
        return ()

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        """Applications that the transfer function refuses."""
        return ()
