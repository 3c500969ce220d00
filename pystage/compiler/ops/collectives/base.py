"""What all collectives have in common: their named axes, emission by JAX's lowering, the rules over their own axes.

A collective computes from the operands of all participants of some named axes. Inside `jax.shard_map` these are devices,
and JAX's lowering says which; under `jax.vmap` with an axis name they are elements of the batch, and the batching rule
over that name (`collected`) leaves no collective behind.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from jax.interpreters.mlir import ir as mlir_ir

from ...hlo.calculus import Calculus
from ...hlo.ir import Op, Value
from ...hlo.mlir import Emitter
from ...hlo.op import HloOp
from ..foreign.jax_call import emit_by_jax
from ..foreign.named_axes import NamedAxis, in_force

Varying = frozenset[Hashable]
"""The named axes over which a value differs between participants."""
ONE = (NamedAxis("i", 1),)
"""For samples: an axis with one participant."""


class Collective(HloOp):
    """An operation of one result among the participants of `axes`."""

    lowered_by_jax = True
    replicated: ClassVar[bool] = False
    """True if all participants of the axes get the same result."""

    axes: tuple[NamedAxis, ...]

    @property
    def participants(self) -> int:
        """How many participants there are."""
        return math.prod([axis.size for axis in self.axes])

    @property
    def names(self) -> tuple[Hashable, ...]:
        """The names of the axes, as JAX takes them."""
        return tuple([axis.name for axis in self.axes])

    def over(self, axes: Iterable[NamedAxis]) -> Collective:
        """The same among the participants of other axes."""
        changed: dict[str, Any] = {"axes": tuple(axes)}
        return replace(self, **changed)

    def applied(self, *operands: Any) -> Any:
        """The result for one participant by JAX's own function, in a trace of JAX's."""
        raise NotImplementedError(f"{type(self).__name__}.applied")

    def __call__(self, *operands: Any) -> list[Any]:
        """The result in a trace of JAX's."""
        return [self.applied(*operands)]

    def emit(self, e: Emitter, op: Op, *operands: mlir_ir.Value) -> Sequence[mlir_ir.Value]:
        """What JAX's lowering of its own function emits: it knows which devices the participants are."""
        with in_force(self.axes):
            return emit_by_jax(e, op, self, operands)

    def along(self, operands: np.ndarray) -> np.ndarray:
        """The results of all participants for the operands of all, stacked in front in the order of the axes."""
        raise NotImplementedError(f"{type(self).__name__}.along")

    def reference(self, *operands: np.ndarray) -> Any:
        """The result of the only participant."""
        return self.along(operands[0][None])[0]

    def collected(self, c: Calculus, operand: Value) -> Value:
        """The batching rule over the axes themselves: the results of all participants, which stand in front of the operand.

        Of an operation that is `replicated` it is the one result.
        """
        raise NotImplementedError(f"{type(self).__name__}.collected")

    def varying(self, given: Varying) -> Varying:
        """Over which axes the result varies, if the operand varies over `given`."""
        return given.union(self.names)
