"""The collective that combines the operands of all participants."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from jax import lax

from ....records import dataclass
from ...hlo.calculus import Calculus, Contribution, Cotangents, NotDifferentiable, Tangents
from ...hlo.ir import Op, Value
from ...hlo.op import ErrorSample, HloOp, Sample
from ...hlo.types import BOOL, FLOAT32, FLOAT64, INT32, ArrayType, DType, ShapeError, is_floating
from ..batching import as_one
from ..elementwise.binary import Add, Maximum, Minimum
from ..foreign.named_axes import NamedAxis
from ..reductions.reduce import Reduce
from ..sampling import grid
from ..structure.shapes import Constant
from .base import ONE, Collective, Varying
from .exchange import AllGather

_BY_JAX: dict[type[HloOp], Any] = {Add: lax.psum, Maximum: lax.pmax, Minimum: lax.pmin}
_BY_NUMPY: dict[type[HloOp], Any] = {Add: np.sum, Maximum: np.max, Minimum: np.min}


@dataclass(frozen=True)
class AllReduce(Collective):
    """The operands of all participants combined, element by element, by `combine`: Add, Maximum or Minimum.

    `checked`: JAX tracks over which axes values vary. The result does not vary over these, so that its cotangent is the
    same for all participants, and is that of each operand; otherwise each participant has a cotangent of its own, and
    theirs are summed. StableHLO: all_reduce.
    """

    combine: HloOp
    axes: tuple[NamedAxis, ...]
    checked: bool = False

    opcode = "all_reduce"
    replicated = True

    @property
    def linear(self) -> Collection[int]:  # type: ignore[override]
        """Sums are linear."""
        return (0,) if isinstance(self.combine, Add) else ()

    def infer(self, *operands: ArrayType) -> ArrayType:
        (operand,) = operands
        if type(self.combine) not in _BY_JAX:
            raise ShapeError(f"all_reduce cannot combine elements with {self.combine}")
        self.combine.infer(operand, operand)
        return operand

    def applied(self, *operands: Any) -> Any:
        return _BY_JAX[type(self.combine)](operands[0], self.names)

    def along(self, operands: np.ndarray) -> np.ndarray:
        combined = _BY_NUMPY[type(self.combine)](operands, axis=0)
        return np.broadcast_to(combined, operands.shape).astype(operands.dtype)

    def vjp(self, c: Calculus, op: Op, cotangents: Cotangents) -> Sequence[Contribution]:
        self._require_sum()
        (ct,) = cotangents
        assert ct is not None
        return (ct,) if self.checked else (c.op(self, ct),)

    def jvp(self, c: Calculus, op: Op, tangents: Tangents) -> Sequence[Value | None]:
        self._require_sum()
        return (c.op(self, *[t for t in tangents if t is not None]),)

    def _require_sum(self) -> None:
        if not isinstance(self.combine, Add):
            raise NotDifferentiable(
                f"`{self.opcode}` of a maximum or minimum, which has no derivative in JAX"
            )

    def collected(self, c: Calculus, operand: Value) -> Value:
        if isinstance(self.combine, Add):
            return c.sum(operand, (0,))
        start = c.op(Constant(_neutral(self.combine, operand.type.dtype)))
        return c.op(Reduce(self.combine, (0,)), operand, start)

    def varying(self, given: Varying) -> Varying:
        return given.difference(self.names)

    batch = as_one

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        floats, ints = grid(FLOAT32, (8, 2)), np.arange(8, dtype=INT32)
        kinds = (Add(), Maximum(), Minimum())
        made = [Sample(cls(kind, ONE), (x,)) for kind in kinds for x in (floats, ints)]
        return [*made, *[Sample(cls(Add(), ONE, flag), (grid(FLOAT64, (2, 3)),)) for flag in (False, True)]]

    @classmethod
    def error_samples(cls) -> Sequence[ErrorSample]:
        return [
            ErrorSample(cls(AllGather(0, ONE), ONE), (ArrayType(FLOAT32),), "cannot combine elements with")
        ]


def _neutral(combine: HloOp, dtype: DType) -> np.ndarray:
    """What changes nothing, as a number of that type."""
    low = isinstance(combine, Maximum)
    if is_floating(dtype):
        return np.array(-np.inf if low else np.inf).astype(dtype)
    if dtype == BOOL:
        return np.array(not low)
    limits = np.iinfo(dtype)  # type: ignore[type-var]
    return np.array(limits.min if low else limits.max, dtype)
