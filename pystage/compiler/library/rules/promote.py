"""Promotion: the element types of an operation, and the kind of its result.

In: the kinds of the operands (element type, form, weakness). Out: a `LoopTypes`: the types that the operands are
converted to, the types of the results, and their form. NumPy's own resolver decides for NumPy (NEP 50), JAX's
public `result_type` for JAX; Python's rules are here. All alternatives of a `GatedNumber` must have the same loop,
otherwise the operation is split (`NeedsSplit`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import numpy as np

from ....records import dataclass
from ...diagnostics.codes_constant import IntegerTooLarge
from ...diagnostics.codes_types import DTypeNotStaged, NoSuchOperation, ShapesDoNotBroadcast
from ...hlo.ir import Value
from ...hlo.types import (
    BOOL,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    SHORT_NAMES,
    DType,
    is_complex,
    is_floating,
    is_integer,
    is_unsigned,
)
from ...ops import Compare, Constant, Convert
from ...values.boundary import Form
from ...values.gated import GatedNumber
from ...values.lattice import Abstract, Array, Const, NumberKind
from ..context import Context
from ..interfaces.operations import Operations
from .bounds import check_fits
from .jax import canonical
from .split import of_one_kind

Operand = Array | Const
"""One number, or the contents of an array; a `Const` holds a Python number or a NumPy scalar."""

PYTHON_DTYPES: dict[type, DType] = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}
"""How Python's numbers are represented."""

_WEAK: dict[DType, type] = {INT64: int, FLOAT64: float, COMPLEX128: complex}


@dataclass(frozen=True, slots=True)
class LoopTypes:
    """Types that an operation computes with. `form`: PYTHON, JAX, or NDARRAY for NumPy's results."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    form: Form
    weak: bool = False


Rule = Callable[[tuple[NumberKind, ...]], LoopTypes | None]
"""From kinds to a loop; None if the operation is not defined for them."""


# ---------------------------------------------------------------- kinds


def python_type(dtype: DType) -> type:
    """The Python type of the scalars that are represented in `dtype`."""
    return type(dtype.type(0).item())


def kinds_of(operand: Operand) -> tuple[NumberKind, ...]:
    """The kinds that an operand may have; mostly one."""
    if isinstance(operand, GatedNumber):
        return operand.kinds
    if isinstance(operand, Array):
        return (NumberKind(operand.dtype, operand.form, operand.weak),)
    value = operand.value
    if isinstance(value, np.generic):
        return (NumberKind(value.dtype, Form.SCALAR),)
    number = next(cls for cls in type(value).__mro__ if cls in PYTHON_DTYPES)
    return (NumberKind(PYTHON_DTYPES[number], Form.PYTHON),)


def shape_of(operand: Operand) -> tuple[int, ...]:
    """The shape of an operand."""
    return operand.shape if isinstance(operand, Array) else ()


def describe(operands: Sequence[Operand]) -> str:
    """The operands' types for an error text."""
    texts = []
    for operand in operands:
        text = " or ".join(dict.fromkeys(map(str, kinds_of(operand))))
        texts.append(
            f"{text} of shape {operand.shape}" if isinstance(operand, Array) and operand.rank else text
        )
    return " and ".join(texts)


def no_such(ctx: Operations, operation: str, operands: Sequence[Operand]) -> NoSuchOperation:
    """The diagnostic that the operation is not defined for these operands."""
    return NoSuchOperation(span=ctx.span, operation=operation, types=describe(operands))


def resolve(ctx: Operations, operation: str, operands: Sequence[Operand], rule: Rule) -> LoopTypes:
    """The loop that `rule` gives for the operands' kinds; `NeedsSplit` where the kinds need several loops."""
    choices = _beside_numpy(operands, [kinds_of(o) for o in operands])
    first, *others = itertools.product(*choices)
    loop = rule(first)
    gated = next((o for o in operands if isinstance(o, GatedNumber)), None)
    if gated is not None and (
        any(rule(row) != loop for row in others) or (loop and not all(map(_fits, operands, loop.inputs)))
    ):
        of_one_kind(ctx, gated, operation)
    if loop is None:
        ctx.fail(no_such(ctx, operation, operands))
    return _staged(ctx, operation, loop)


def _fits(operand: Operand, dtype: DType) -> bool:
    """False for a number of several kinds of which one may not fit into the target type."""
    if not isinstance(operand, GatedNumber):
        return True
    may_be_int = NumberKind(INT64, Form.PYTHON) in operand.kinds and is_integer(dtype)
    return operand.whole is None and (not may_be_int or np.can_cast(operand.dtype, dtype, "safe"))


def _beside_numpy(
    operands: Sequence[Operand], choices: list[tuple[NumberKind, ...]]
) -> list[tuple[NumberKind, ...]]:
    """The operands' kinds, where a number of a subclass (`IntEnum`) beside NumPy's counts as NumPy's, not weak."""
    inherits = [
        isinstance(o, Const) and not isinstance(o.value, np.generic) and type(o.value) not in PYTHON_DTYPES
        for o in operands
    ]
    if not any(inherits):
        return choices
    forms = {kind.form for kinds in choices for kind in kinds}
    if forms == {Form.PYTHON} or Form.JAX in forms:
        return choices
    return [
        tuple([k._replace(form=Form.SCALAR) for k in kinds]) if inherited else kinds
        for inherited, kinds in zip(inherits, choices)
    ]


def _staged(ctx: Operations, operation: str, loop: LoopTypes) -> LoopTypes:
    for dtype in loop.outputs:
        if dtype not in SHORT_NAMES:
            ctx.fail(DTypeNotStaged(span=ctx.span, what=operation, dtype=str(dtype)))
    return loop


# ---------------------------------------------------------------- NumPy


Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
"""A rule of casts, as the argument `casting` of a ufunc names it."""
SAME_KIND: Casting = "same_kind"
"""The rule of ufuncs unless told otherwise: to the same kind, or a wider one."""


@functools.cache
def numpy_loop(
    ufunc: np.ufunc, kinds: tuple[NumberKind, ...], dtype: DType | None = None, casting: Casting = SAME_KIND
) -> LoopTypes | None:
    """NumPy's loop: Python scalars are weak, `jax.Array`s count as arrays of their element type.

    `dtype` and `casting` are the ufunc's arguments of these names.
    """
    tokens = [_token(k) for k in kinds]
    options: dict[str, Any] = {"casting": casting}
    if dtype is not None:
        options["signature"] = (*[None] * ufunc.nin, *[dtype] * ufunc.nout)
    try:
        types = ufunc.resolve_dtypes((*tokens, *[None] * ufunc.nout), **options)
    except TypeError:
        return None
    return LoopTypes(types[: ufunc.nin], types[ufunc.nin :], Form.NDARRAY)


def _token(kind: NumberKind) -> DType | type:
    if kind.form is Form.PYTHON:
        return _WEAK.get(kind.dtype, kind.dtype)
    return kind.dtype


@functools.cache
def numpy_common(kinds: tuple[NumberKind, ...]) -> DType:
    """`np.result_type` of operands of these kinds."""
    samples = [python_type(k.dtype)(0) if k.form is Form.PYTHON else k.dtype for k in kinds]
    return np.result_type(*samples)


# ---------------------------------------------------------------- JAX


def jax_common(ctx: Context, kinds: tuple[NumberKind, ...]) -> tuple[DType, bool]:
    """`jax.numpy.result_type` of operands of these kinds, and whether it is weak."""
    found = _jax_common(kinds, ctx.x64, str(jax.config.jax_numpy_dtype_promotion))
    if isinstance(found, Exception):
        ctx.raise_(found)
    return found


@functools.cache
def _jax_common(kinds: tuple[NumberKind, ...], x64: bool, mode: str) -> tuple[DType, bool] | Exception:
    """The cached computation; `mode` is `jax_numpy_dtype_promotion`, in force when this is called."""
    samples: list[Any] = []
    for kind in kinds:
        if kind.form is Form.PYTHON or kind.weak:
            samples.append(python_type(kind.dtype)(0))
        else:
            samples.append(canonical(kind.dtype, x64))
    with jax.enable_x64(x64):
        try:
            found, weak = jax.dtypes.result_type(*samples, return_weak_type_flag=True)
        except jax.dtypes.TypePromotionError as error:
            failure: Exception = error
            return failure
    if len(kinds) == 1 and kinds[0].form is not Form.PYTHON:
        dtype: DType = canonical(kinds[0].dtype, x64)
    else:
        dtype = np.dtype(found)
    return dtype, bool(weak)


def numeric(dtype: DType) -> DType:
    """The type in which JAX's arithmetic computes: int32 for booleans."""
    return INT32 if dtype == BOOL else dtype


def inexact(dtype: DType) -> DType:
    """The type in which JAX's floating-point functions compute."""
    if is_floating(dtype) or is_complex(dtype):
        return dtype
    return FLOAT64 if is_integer(dtype) and dtype.itemsize == 8 else FLOAT32


# ---------------------------------------------------------------- shapes and values


def broadcast_shape(ctx: Operations, operation: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape by NumPy's rules; PS201 where there is none."""
    common = shapes[0]
    for shape in shapes[1:]:
        if shape == common or not shape:
            continue
        if len(shape) > len(common):
            common, shape = shape, common
        start = len(common) - len(shape)
        pairs = list(zip(common[start:], shape))
        if any(a != b and a != 1 and b != 1 for a, b in pairs):
            texts = " and ".join(map(str, dict.fromkeys(s for s in shapes if s)))
            ctx.fail(ShapesDoNotBroadcast(span=ctx.span, operation=operation, shapes=texts))
        common = (*common[:start], *[b if a == 1 else a for a, b in pairs])
    return common


def fits(value: int, dtype: DType) -> bool:
    """True if an integer type holds `value`."""
    bits = int(dtype.itemsize) * 8
    return 0 <= value < 1 << bits if is_unsigned(dtype) else -(1 << bits - 1) <= value < 1 << bits - 1


def value_of(ctx: Context, operand: Operand, dtype: DType, form: Form = Form.NDARRAY) -> Value:
    """The operand as a value of `dtype`, as an operation of the loop's `form` converts it.

    A Python integer that the type does not hold raises OverflowError, as in NumPy, a known one as in JAX.
    """
    if isinstance(operand, Const):
        number = operand.value
        if type(number) is float:
            return ctx.op(_float(number, math.copysign(1.0, number), dtype))
        return ctx.constant(_known_array(ctx, number, dtype, form), dtype)
    if form is not (jax := Form.JAX):
        check_fits(ctx, operand, dtype)
    elif operand.form is not jax:
        return convert(ctx, convert(ctx, operand.value, canonical(operand.dtype, ctx.x64)), dtype)
    elif dtype != BOOL and (operand.dtype == BOOL or (is_floating(operand.dtype) and is_integer(dtype))):
        return ctx.op(Convert(dtype, by_xla=True), operand.value)
    return convert(ctx, operand.value, dtype)


@functools.lru_cache(maxsize=1024)
def _float(number: float, sign: float, dtype: DType) -> Constant:
    """A Python float as a constant of another type, cached with its sign, which distinguishes -0.0 from 0.0."""
    with np.errstate(all="ignore"):
        return Constant(np.asarray(number).astype(dtype))


def convert(ctx: Operations, value: Value, dtype: DType) -> Value:
    """`value` in another element type, as `astype` converts real numbers; to a boolean: is it not 0?"""
    source = value.type.dtype
    if source == dtype:
        return value
    if dtype == BOOL:
        return ctx.op(Compare("NE"), value, ctx.broadcast(ctx.constant(0, source), value.type.shape))
    return ctx.op(Convert(dtype), value)


def _known_array(ctx: Context, value: Any, dtype: DType, form: Form) -> np.ndarray:
    if type(value) is int:
        if form is Form.JAX:
            _check_jax_integer(ctx, value)
        elif form is Form.PYTHON and not fits(value, INT64) and dtype == INT64:
            ctx.fail(IntegerTooLarge(span=ctx.span, value=value))
        elif is_integer(dtype) and not fits(value, dtype):
            ctx.raise_(out_of_bounds(value, dtype))
        if not fits(value, INT64):
            return _unlimited(ctx, value, dtype)
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)


def out_of_bounds(value: int, dtype: DType) -> OverflowError:
    """NumPy's exception for a Python integer that an integer type does not hold."""
    if not fits(value, INT64):
        return OverflowError("Python int too large to convert to C long")
    return OverflowError(f"Python integer {value} out of bounds for {dtype}")


def _unlimited(ctx: Context, value: int, dtype: DType) -> np.ndarray:
    """An integer beyond 64 bits with sign, as a floating-point number or an unsigned integer."""
    if is_integer(dtype):
        return np.asarray(value, dtype)
    try:
        return np.asarray(float(value)).astype(dtype)
    except OverflowError as error:
        ctx.raise_(error)


def _check_jax_integer(ctx: Context, value: int) -> None:
    if not fits(value, canonical(INT64, ctx.x64)):
        ctx.raise_(OverflowError(f"Python integer {value} out of bounds for {canonical(INT64, ctx.x64)}"))


def result(ctx: Context, value: Value, loop: LoopTypes) -> Abstract:
    """The abstract result for a computed value, by the loop's form."""
    match loop.form:
        case Form.PYTHON:
            return ctx.python(value)
        case Form.JAX:
            return ctx.jax(value, loop.weak)
        case _:
            return ctx.new(value)
