"""Selection between elements: `where`, `select`, `clip`, `nan_to_num`.

In: conditions, arrays and limits. Out: an array in the common type of the alternatives, by NumPy's rules for `np.*` and by
JAX's for `jnp.*`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...diagnostics.codes_types import ArgumentNotStaged, ShapeMismatch
from ...hlo.ir import Value
from ...hlo.types import BOOL, INT64, DType, is_complex, is_floating, is_integer
from ...ops import Compare, Complex, Imag, Maximum, Minimum, Real
from ...values.boundary import Form
from ...values.lattice import Abstract, Array, Const, NumberKind
from ..context import Context, Raw
from ..kernels import arithmetic as a
from ..kernels.structures import abstract
from ..operands.bounded_arguments import decided, whole_of
from ..operands.casting import cast_number
from ..operands.libraries import Rules, twins
from ..python.builtins import listed
from ..registry import meaning
from ..rules.bounds import ends_of
from ..rules.jax import is_none
from ..rules.promote import (
    SAME_KIND,
    LoopTypes,
    Operand,
    broadcast_shape,
    fits,
    jax_common,
    kinds_of,
    numpy_common,
    resolve,
    result,
    shape_of,
    value_of,
)
from .indexing.bounded_operands import broadcasting, elementwise
from .ufuncs import ufuncs as u
from .ufuncs.elementwise import apply_jax, jax_operands, result_into


def common_loop(ctx: Context, operation: str, operands: Sequence[Operand], jax: bool) -> LoopTypes:
    """The loop that brings operands to their common type, as `np.result_type` or JAX does."""

    def rule(kinds: tuple[NumberKind, ...]) -> LoopTypes:
        if jax:
            dtype, weak = jax_common(ctx, kinds)
            return LoopTypes((dtype,) * len(kinds), (dtype,), Form.JAX, weak)
        dtype = numpy_common(kinds)
        return LoopTypes((dtype,) * len(kinds), (dtype,), Form.NDARRAY)

    return resolve(ctx, operation, operands, rule)


# ---------------------------------------------------------------- where, select


def choose(
    ctx: Context, operation: str, conditions: Sequence[Raw], choices: Sequence[Raw], default: Raw, jax: bool
) -> tuple[Value, LoopTypes]:
    """The first choice whose condition holds, else the default, element by element.

    NumPy makes arrays of Python's numbers first, so that integers wrap around in the common type.
    """
    if jax:
        flags = jax_operands(ctx, operation, conditions)
        operands = jax_operands(ctx, operation, [*choices, default])
    else:
        flags, operands = [ctx.read(c) for c in conditions], [ctx.read(c) for c in (*choices, default)]
    loop = common_loop(ctx, operation, operands, jax)
    shape = broadcast_shape(ctx, operation, *[shape_of(o) for o in (*flags, *operands)])
    dtype = loop.outputs[0]
    numbers = [value_of(ctx, o, dtype, loop.form) if jax else cast_number(ctx, o, dtype) for o in operands]
    *values, chosen = [ctx.broadcast(number, shape) for number in numbers]
    for flag, value in list(zip(flags, values, strict=True))[::-1]:
        condition = ctx.broadcast(value_of(ctx, flag, BOOL), shape)
        chosen = a.select(ctx, condition, value, chosen)
    return chosen, loop


@twins(np.where, jnp.where, delegates=False)
def where(
    ctx: Context,
    rules: Rules,
    condition: Raw,
    x: Raw = None,
    y: Raw = None,
    *,
    size: Raw = None,
    fill_value: Raw = None,
) -> Abstract:
    """The elements of `x` or `y`; the places where the condition holds, where there are none."""
    if is_none(x) and is_none(y):
        sizes = {"size": size, "fill_value": fill_value}
        given = {name: abstract(n) for name, n in sizes.items() if not is_none(n)}
        return ctx.call(Const(rules.module.nonzero), [abstract(condition)], given)
    if is_none(x) or is_none(y) or not is_none(size):
        text = "one of two arrays" if is_none(size) else "`size`"
        ctx.fail(ArgumentNotStaged(span=ctx.span, function=f"{rules.name}.where", argument=text))

    def chosen(condition: Raw, x: Raw, y: Raw) -> Abstract:
        value, loop = choose(ctx, "where", [condition], [x], y, rules.is_jax)
        return rules.array(ctx, value, loop.weak)

    return elementwise(ctx, "np.where", broadcasting, chosen, condition, x, y)


def _select(jax: bool) -> Callable[..., Abstract]:
    def select(ctx: Context, condlist: Raw, choicelist: Raw, default: Raw = 0) -> Abstract:
        conditions = listed(ctx, decided(ctx, condlist), "the conditions of select")
        choices = listed(ctx, decided(ctx, choicelist), "the choices of select")
        if len(conditions) != len(choices) or not choices:
            text = f"select takes as many choices as conditions, not {len(choices)} and {len(conditions)}"
            if not jax:
                ctx.raise_(ValueError(text))
            ctx.fail(ShapeMismatch(span=ctx.span, text=text))
        if not jax:
            for i, condition in enumerate(conditions):
                if kinds_of(ctx.read(whole_of(condition)))[0].dtype != BOOL:
                    text = f"invalid entry {i} in condlist: should be boolean ndarray"
                    ctx.raise_(TypeError(text))

        def chosen(*operands: Raw) -> Abstract:
            flags, values = operands[: len(conditions)], operands[len(conditions) :]
            value, loop = choose(ctx, "select", flags, values[:-1], values[-1], jax)
            if not jax:
                _check_choices(ctx, [ctx.read(x) for x in values], loop.outputs[0])
            return ctx.jax(value, loop.weak) if jax else ctx.ndarray(value)

        return elementwise(ctx, "np.select", broadcasting, chosen, *conditions, *choices, default)

    return select


def _check_choices(ctx: Context, operands: Sequence[Operand], dtype: DType) -> None:
    """Raises NumPy's TypeError for a choice that it does not store into the result, as 300 into uint8."""
    kind = "array data" if any(shape_of(o) for o in operands) else "scalar"
    for choice in operands[:-1]:
        source = choice.dtype if isinstance(choice, Array) else np.asarray(choice.value).dtype
        if not np.can_cast(source, dtype, "same_kind"):
            pair = f"from {source!r} to {dtype!r} according to the rule 'same_kind'"
            ctx.raise_(TypeError(f"Cannot cast {kind} {pair}"))


meaning(np.select)(_select(False))
meaning(jnp.select)(_select(True))

# ---------------------------------------------------------------- clip


_FORBIDDEN = "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."


@meaning(np.clip)
def np_clip(
    ctx: Context,
    a: Raw,
    a_min: Raw = np._NoValue,
    a_max: Raw = np._NoValue,
    out: Raw = None,
    *,
    min: Raw = np._NoValue,
    max: Raw = np._NoValue,
    casting: Raw = SAME_KIND,
) -> Abstract:
    """`np.clip(a, a_min, a_max)`. A limit beyond the range of the integer type of `a` has no effect."""
    rule = ctx.known(casting, "casting of np.clip")
    missing = [name for name, given in (("a_min", a_min), ("a_max", a_max)) if given is np._NoValue]
    if len(missing) == 1:
        ctx.raise_(TypeError(f"clip() missing 1 required positional argument: {missing[0]!r}"))
    if not missing and not (min is np._NoValue and max is np._NoValue):
        ctx.raise_(ValueError(_FORBIDDEN))
    low, high = [None if x is np._NoValue else x for x in ((min, max) if missing else (a_min, a_max))]
    operand = ctx.read(a)
    limits = [None if is_none(x) else ctx.read(x) for x in (low, high)]
    limits = [_within(ctx, operand, limit, i) for i, limit in enumerate(limits)]
    given: list[Operand] = [operand, *[limit for limit in limits if limit is not None]]
    loop = common_loop(ctx, "np.clip", given, False)
    shape = broadcast_shape(ctx, "np.clip", *[shape_of(o) for o in given])
    value, *bounds = [ctx.broadcast(value_of(ctx, o, loop.outputs[0]), shape) for o in given]
    if limits[0] is not None:
        value = ctx.op(Maximum(), value, bounds.pop(0))
    if limits[1] is not None:
        value = ctx.op(Minimum(), value, bounds.pop(0))
    return result_into(ctx, out, value, "np.clip", rule, a)


def _within(ctx: Context, operand: Operand, limit: Operand | None, side: int) -> Operand | None:
    """The limit, unless it is a Python integer beyond the range of `operand`'s integers, which has no effect."""
    dtype = kinds_of(operand)[0].dtype
    array = isinstance(operand, Array) and operand.form is not Form.PYTHON
    if not array or limit is None or not is_integer(dtype):
        return limit
    if isinstance(limit, Array):
        if limit.form is not Form.PYTHON or limit.dtype != INT64:
            return limit
        end = ends_of(dtype)[side]
        if not fits(end, INT64):
            return limit
        kind = Minimum() if side else Maximum()
        return Array(ctx.op(kind, limit.value, ctx.constant(end, INT64)), Form.PYTHON)
    if type(limit.value) is not int:
        return limit
    beyond = not fits(limit.value, dtype)
    below = limit.value < 0
    return None if beyond and below == (side == 0) else limit


@meaning(jnp.clip)
def jnp_clip(ctx: Context, arr: Raw, /, min: Raw = None, max: Raw = None) -> Abstract:
    """`jnp.clip(arr, min, max)`."""
    result = abstract(arr)
    if not is_none(min):
        result = apply_jax(ctx, u.MAXIMUM, jax_operands(ctx, "clip", (min, result)))
    if not is_none(max):
        result = apply_jax(ctx, u.MINIMUM, jax_operands(ctx, "clip", (max, result)))
    return apply_jax(ctx, u.POSITIVE, jax_operands(ctx, "clip", (result,)))


# ---------------------------------------------------------------- nan_to_num


def _replaced(ctx: Context, x: Value, nan: float, posinf: float | None, neginf: float | None) -> Value:
    """`x` without NaN and infinities; each part of a complex number by itself."""
    if is_complex(x.type.dtype):
        parts = [_replaced(ctx, ctx.op(part, x), nan, posinf, neginf) for part in (Real(), Imag())]
        return ctx.op(Complex(), *parts)
    if not is_floating(x.type.dtype):
        return x
    info: Any = jnp.finfo(x.type.dtype)
    limits = (
        (math.inf, info.max if posinf is None else posinf),
        (-math.inf, info.min if neginf is None else neginf),
    )
    result = a.select(ctx, a.is_nan(ctx, x), a.like(ctx, x, nan), x)
    for infinity, replacement in limits:
        here = ctx.op(Compare("EQ"), x, a.like(ctx, x, infinity))
        result = a.select(ctx, here, a.like(ctx, x, replacement), result)
    return result


def _nan_to_num(jax: bool) -> Callable[..., Abstract]:
    def nan_to_num(
        ctx: Context, x: Raw, copy: Raw = True, nan: Raw = 0.0, posinf: Raw = None, neginf: Raw = None
    ) -> Abstract:
        if not jax and not ctx.known(copy, "copy of np.nan_to_num"):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.nan_to_num", argument="copy=False"))
        numbers = [ctx.known(v, "a replacement of nan_to_num") for v in (nan, posinf, neginf)]
        (operand,) = jax_operands(ctx, "nan_to_num", (x,)) if jax else [ctx.read(x)]
        loop = common_loop(ctx, "nan_to_num", [operand], jax)
        return result(ctx, _replaced(ctx, value_of(ctx, operand, loop.outputs[0], loop.form), *numbers), loop)

    return nan_to_num


meaning(np.nan_to_num)(_nan_to_num(False))
meaning(jnp.nan_to_num)(_nan_to_num(True))
