"""Checks of computed sizes: operands whose sizes do not agree raise what the plain run's function raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .....records import dataclass
from ....diagnostics.codes_types import MaskedUse
from ....diagnostics.errors import StagingError
from ....hlo.ir import Value
from ....hlo.types import FLOAT32, INT64, DType
from ....ops import And, Compare, Not, Or
from ....values.boundary import Form
from ....values.bounded import Bounded, Extent
from ....values.lattice import Array
from ...context import Context, Raw
from .bounded import belonging, count, is_known_false, same_number

Axis = Extent | int


@dataclass(frozen=True, slots=True)
class AlignedOperand:
    """An operand: an array and its axes, some of which may be bounded."""

    value: Value
    axes: tuple[Axis, ...]
    form: Form
    weak: bool

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.value.type.dtype

    def position(self, back: int) -> int:
        """The axis that is the `back`-th from the last."""
        return len(self.axes) - back

    def extent(self, back: int) -> int:
        """The extent of the whole there."""
        return self.value.type.shape[-back]


def operand(ctx: Context, raw: Raw) -> AlignedOperand | None:
    """An argument as an operand; None for a number, which needs no alignment."""
    if isinstance(raw, Bounded):
        return AlignedOperand(belonging(ctx, raw), raw.axes, raw.form, raw.weak)
    read = ctx.read(raw)
    if not isinstance(read, Array):
        return None
    return AlignedOperand(read.value, read.shape, read.form, read.weak)


class SizeChecks:
    """The sizes of operands, and the exceptions of the plain run's function for sizes that differ."""

    def __init__(
        self, ctx: Context, name: str, plain: Callable[..., Any], operands: Sequence[AlignedOperand | None]
    ) -> None:
        self.ctx = ctx
        self.name = name
        self.plain = plain
        self.operands = operands

    def check(self, ours: Value, theirs: Value, broadcasts: bool = False) -> Value | None:
        """Makes the program raise what the function raises for such sizes; PS221 where it raises nothing.

        With `broadcasts`, one element may stand for all: a bool of the program that says whether it does.
        """
        ctx, name, span = self.ctx, self.name, self.ctx.span
        if same_number(ctx, ours, theirs):
            return None
        bad = ctx.op(Compare("NE"), ours, theirs)
        if is_known_false(bad):
            return None
        once: Value | None = None
        single = [ctx.op(Compare("EQ"), size, ctx.constant(1, INT64)) for size in (ours, theirs)]
        if broadcasts:
            once = single[0]
            bad = ctx.op(And(), bad, ctx.op(Not(), once))
        shapes, counts = self._shapes()
        plain = self.plain

        def check(*sizes: int) -> None:
            rest = iter(sizes)
            samples = [
                None
                if shape is None
                else sample([next(rest) if n is None else n for n in shape[0]], *shape[1:])
                for shape in shapes
            ]
            with np.errstate(all="ignore"):
                plain(*[1 if s is None else s for s in samples])
            text = f"{name} of one selected element and {max(sizes)}"
            raise StagingError((MaskedUse(span=span, what=text),))

        if self._serves_one():  # a refusal, which no handler of the program catches
            refused = ctx.op(And(), bad, ctx.op(Or(), *single))
            ctx.check(refused, StagingError(()), check, counts)
            bad = ctx.op(And(), bad, ctx.op(Not(), refused))
        ctx.check(bad, self._raised(), check, counts)
        return once

    def _shapes(self) -> tuple[list[tuple[list[int | None], DType, Form] | None], list[Array]]:
        """The shapes of all operands, None for each size that the program computes, and those sizes."""
        ctx = self.ctx
        shapes: list[tuple[list[int | None], DType, Form] | None] = []
        counts: list[Array] = []
        for o in self.operands:
            if o is None:
                shapes.append(None)
                continue
            shapes.append(([a if isinstance(a, int) else None for a in o.axes], o.dtype, o.form))
            counts += [
                _count_of(ctx, o, i, axis) for i, axis in enumerate(o.axes) if isinstance(axis, Extent)
            ]
        return shapes, counts

    def _raised(self) -> BaseException:
        """An instance of the exception that the function raises for sizes that differ."""
        error = self._error_of(2, 3, 2)
        return TypeError("shape mismatch") if isinstance(error, TypeError) else ValueError("shape mismatch")

    def _serves_one(self) -> bool:
        """True if the function broadcasts one element."""
        return self._error_of(1, 3, 1) is None or self._error_of(3, 1, 3) is None

    def _error_of(self, *sizes: int) -> Exception | None:
        """The exception of the function for vectors of these sizes."""
        kinds = [(FLOAT32, Form.NDARRAY) if o is None else (o.dtype, o.form) for o in self.operands]
        try:
            with np.errstate(all="ignore"):
                self.plain(*[sample([n], *kind) for n, kind in zip(sizes, kinds)])
        except Exception as error:
            return error
        return None


def _count_of(ctx: Context, o: AlignedOperand, at: int, axis: Extent) -> Array:
    if axis.size is not None:
        return ctx.python(axis.size)
    whole = ctx.jax(o.value)
    moved = replace(axis, axis=at)
    return count(ctx, Bounded(whole, o.value.type, (moved,)), moved)


def sample(shape: Sequence[int], dtype: DType, form: Form) -> Any:
    """An array of `shape`, for calls of the plain run's functions."""
    if form is Form.JAX:
        with jax.enable_x64(True):
            return jnp.zeros(tuple(shape), dtype)
    return np.broadcast_to(np.zeros((), dtype), tuple(shape))
