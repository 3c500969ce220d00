"""Rules that the meanings of JAX functions share: conversion of operands, and dtypes under the x64 flag.

In: abstract values as passed to a library function. Out: `Array`s of form `JAX`, with JAX's element type (64 bits become
32 unless `jax_enable_x64` is set) and the weak type of Python scalars; and the static arguments of `jax.lax` as plain
tuples.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, cast

import jax
import numpy as np

from ...diagnostics.codes_types import BadAxis, DTypeNotStaged, NotNumeric, ShapeMismatch
from ...diagnostics.span import Span
from ...hlo.ir import Value
from ...hlo.op import HloOp
from ...hlo.types import (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    SHORT_NAMES,
    UINT32,
    UINT64,
    DType,
    ShapeError,
    TooLarge,
)
from ...values.boundary import Form
from ...values.bounded import Bounded
from ...values.lattice import Abstract, Array, Const, Tuple
from ..context import Context, Raw
from ..interfaces.operations import Operations

_NARROW: dict[DType, DType] = {INT64: INT32, UINT64: UINT32, FLOAT64: FLOAT32, COMPLEX128: COMPLEX64}


def canonical(dtype: DType, x64: bool) -> DType:
    """The element type that JAX has instead of `dtype`: 64 bits only under `jax_enable_x64`."""
    return dtype if x64 else _NARROW.get(dtype, dtype)


def index_dtype(ctx: Context) -> DType:
    """The type of JAX's indices: int32, or int64 under `jax_enable_x64`."""
    return INT64 if ctx.x64 else INT32


def as_dtype(given: Any) -> DType:
    """The element type that a dtype argument names; a class of dtypes (`np.dtypes.Float64DType`) names its own."""
    is_class = isinstance(given, type) and issubclass(given, np.dtype)
    dtype: DType = np.dtype(cast(Any, given)() if is_class else given)
    return dtype


def known_dtype(ctx: Context, raw: Raw, what: str) -> DType:
    """A dtype argument as JAX canonicalises it; PS211 where XLA has no such element type."""
    given = ctx.known(raw, what)
    try:
        dtype = canonical(as_dtype(given), ctx.x64)
    except TypeError:
        ctx.fail(DTypeNotStaged(span=ctx.span, what=what, dtype=repr(given)))
    if dtype not in SHORT_NAMES:
        ctx.fail(DTypeNotStaged(span=ctx.span, what=what, dtype=str(dtype)))
    return dtype


def jax_array(ctx: Context, raw: Raw, what: str) -> Array:
    """`raw` as JAX takes an array-like argument: an array, a NumPy scalar or a (weak) Python scalar.

    Lists and tuples are refused, as JAX does, and typed PRNG keys are no numbers.
    """
    if _is_canonical(ctx, raw):
        return raw  # type: ignore[no-any-return]
    if isinstance(raw, Tuple) or (not isinstance(raw, Abstract) and isinstance(raw, list | tuple)):
        ctx.fail(NotNumeric(span=ctx.span, what=what, kind="a tuple or list"))
    if is_list(ctx, raw):
        ctx.fail(NotNumeric(span=ctx.span, what=what, kind="a list"))
    read = ctx.read(raw)
    if isinstance(read, Const):
        return constant_array(ctx, read.value)
    if read.key_impl is not None:
        ctx.fail(NotNumeric(span=ctx.span, what=what, kind="a typed PRNG key"))
    weak = read.weak if read.form is Form.JAX else read.form is Form.PYTHON and read.dtype != BOOL
    return ctx.jax(ctx.convert(read.value, canonical(read.dtype, ctx.x64)), weak)


def _is_canonical(ctx: Context, raw: Raw) -> bool:
    """True for a `jax.Array` that needs no conversion."""
    if not isinstance(raw, Array) or raw.form is not Form.JAX or raw.key_impl is not None:
        return False
    return ctx.x64 or raw.dtype not in _NARROW


def is_list(ctx: Context, raw: Raw) -> bool:
    """True for a reference to something of the heap that is no ndarray (a list, a dict, an object)."""
    return (
        isinstance(raw, Abstract) and not isinstance(raw, Const | Array | Bounded) and not ctx.is_ndarray(raw)
    )


def constant_array(ctx: Context, value: Any) -> Array:
    """A number that is known now, as the array that JAX makes of it."""
    weak = isinstance(value, int | float | complex) and not isinstance(value, bool | np.generic)
    dtype = canonical(np.asarray(value).dtype, ctx.x64)
    try:
        return ctx.jax(ctx.constant(value, dtype), weak)
    except OverflowError:
        ctx.fail(ShapeMismatch(span=ctx.span, text=f"the Python integer {value} does not fit into {dtype}"))


def ints(ctx: Context, raw: Raw, what: str) -> tuple[int, ...]:
    """A sequence of integers that must be known now; a single integer counts as one."""
    given = ctx.known(raw, what)
    if isinstance(given, tuple | list) or (isinstance(given, np.ndarray) and given.ndim):
        return tuple([_index(ctx, i) for i in given])
    return (_index(ctx, given),)


def _index(ctx: Context, value: object) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError as error:
        ctx.raise_(error)


def optional_ints(ctx: Context, raw: Raw, what: str) -> tuple[int, ...] | None:
    """As `ints`, None where None is given."""
    return None if is_none(raw) else ints(ctx, raw, what)


def integer(ctx: Context, raw: Raw, what: str) -> int:
    """An integer that must be known now."""
    return _index(ctx, ctx.known(raw, what))


def is_jax(raw: Raw) -> bool:
    """True for a `jax.Array` of the program, which may be bounded."""
    return isinstance(raw, Array | Bounded) and raw.form is Form.JAX


def is_none(raw: Raw) -> bool:
    """True for None, given or left out."""
    return raw is None or (isinstance(raw, Const) and raw.value is None)


class AxisProblem(Exception):
    """An axis that an array does not have, or one that is named twice, as the function's library reports it.

    `prefix` and `repeated` are what NumPy writes: the name of the argument, and the text for a second mention.
    """

    def __init__(
        self, function: str, axis: object, rank: int, prefix: str | None = None, repeated: str | None = None
    ) -> None:
        super().__init__(axis)
        self._function, self._axis, self._rank = function, axis, rank
        self._prefix, self._repeated = prefix, repeated

    @property
    def is_beyond_c(self) -> bool:
        """True for an axis that is no C `int`, for which NumPy's exception depends on the function and the size."""
        given = self._axis if isinstance(self._axis, tuple | list) else (self._axis,)
        return any(isinstance(n, int) and not -(1 << 31) <= n < 1 << 31 for n in given)

    def in_numpy(self) -> Exception:
        """The exception that NumPy raises."""
        if self._repeated is not None:
            return ValueError(self._repeated)
        return np.exceptions.AxisError(self._axis, self._rank, self._prefix)  # type: ignore[call-overload,no-any-return]

    def in_jax(self, span: Span | None) -> BadAxis:
        """Raises PS205: JAX has texts of its own."""
        return BadAxis(span=span, function=self._function, axis=str(self._axis), rank=self._rank)


def axis_of(ctx: Context, raw: Raw, rank: int, function: str, prefix: str | None = None) -> int:
    """An axis counted from 0; `AxisProblem` where an array of that rank has no such axis."""
    axis = integer(ctx, raw, f"the axis of {function}")
    if not -rank <= axis < rank:
        raise AxisProblem(function, axis, rank, prefix)
    return axis % rank


def axes_of(
    ctx: Context,
    raw: Raw,
    rank: int,
    function: str,
    prefix: str | None = None,
    repeated: str = "repeated axis",
) -> tuple[int, ...]:
    """Axes counted from 0, none twice."""
    given = ints(ctx, raw, f"the axes of {function}")
    axes = tuple([axis_of(ctx, a, rank, function, prefix) for a in given])
    if len(set(axes)) != len(axes):
        raise AxisProblem(function, given, rank, prefix, repeated)
    return axes


def items(ctx: Context, raw: Raw, what: str) -> list[Abstract]:
    """The elements of a sequence argument, as `lax.concatenate` takes them."""
    listed = ctx.iterate(raw) if isinstance(raw, Abstract) else None
    if listed is None:
        ctx.fail(NotNumeric(span=ctx.span, what=what, kind="something other than a list of arrays"))
    return listed


def checked(ctx: Operations, op: HloOp, *operands: Value) -> Value:
    """`ctx.op`, with PS206 where the operation does not take operands of these shapes and types."""
    try:
        return ctx.op(op, *operands)
    except TooLarge:
        raise
    except ShapeError as error:
        ctx.fail(ShapeMismatch(span=ctx.span, text=str(error)))


def all_weak(arrays: Sequence[Array]) -> bool:
    """The weak type of a result: weak if all operands are."""
    return all(a.weak for a in arrays)


def precision_name(ctx: Context, raw: Raw, function: str) -> str | None:
    """A `precision` argument as StableHLO names it; None for the backend's choice.

    A pair of unequal precisions and dot algorithms are not served: NotImplementedError names none of them,
    so the caller hands the whole call to JAX.
    """
    given = ctx.known(raw, f"the precision of {function}")
    if given is None:
        given = jax.config.jax_default_matmul_precision  # the user's setting, which JAX reads here too
    if given is None:
        return None
    if isinstance(given, tuple):
        if len(given) != 2 or given[0] != given[1]:
            raise UnservedPrecision
        given = given[0]
    try:
        return str(jax.lax.Precision(given).name)
    except ValueError:
        raise UnservedPrecision from None


class UnservedPrecision(Exception):
    """Raised for a precision that `precision_name` cannot express in one word."""
