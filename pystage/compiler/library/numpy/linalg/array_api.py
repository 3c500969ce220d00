"""`np.linalg` under its Array-API names, products of stacked vectors, and powers of matrices.

Most are functions of `np` with other defaults, and call those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.types import BFLOAT16, is_complex
from ....values.lattice import Abstract, Const, Tuple
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...operands.libraries import NUMPY, as_ndarray
from ...operands.nested_sequences import nested
from ...registry import meaning
from ...rules.jax import integer, is_none
from ..indexing.stores import cast
from ..manipulation import shape_known
from ..ufuncs.elementwise import result_into
from .products import conjugate, places_of, product_dtype

_LAST_TWO = {"axis1": Const(-2), "axis2": Const(-1)}


# ---------------------------------------------------------------- products of stacked vectors


def _product(
    ctx: Context, name: str, subscripts: str, x1: Raw, x2: Raw, core: tuple[int, int], conjugated: bool
) -> Abstract:
    """`einsum` of two operands whose summed axes, `core` of each, must be equal."""
    left, right = [nested(ctx, NUMPY, x, name) for x in (x1, x2)]
    for which, (x, axis) in enumerate(((left, core[0]), (right, core[1]))):
        if x.rank < -axis:
            ctx.raise_(ValueError(f"{name}: Input operand {which} does not have enough dimensions"))
    if left.shape[core[0]] != right.shape[core[1]]:
        sizes = f"size {right.shape[core[1]]} is different from {left.shape[core[0]]}"
        ctx.raise_(ValueError(f"{name}: Input operand 1 has a mismatch in its core dimension 0 ({sizes})"))
    if conjugated and is_complex(left.dtype):
        x1 = NUMPY.array(ctx, conjugate(ctx, left.value))
    dtype = product_dtype(ctx, np.matmul, left, right)
    if BFLOAT16 in (left.dtype, right.dtype):  # which `einsum` does not know
        x1, x2 = [NUMPY.array(ctx, ctx.convert(x.value, dtype)) for x in (left, right)]
    return ctx.call(Const(np.einsum), [Const(subscripts), x1, x2])


def _since_2_2(name: str) -> list[Any]:
    """A function of NumPy 2.2 and later, if it exists."""
    return [getattr(np, name)] if hasattr(np, name) else []


def _stacked_product(
    function: Any, subscripts: str, core: tuple[int, int], ranks: tuple[int, int, int], conjugated: bool
) -> Callable[..., Abstract]:
    """The meaning of a product of stacks of vectors and matrices, with these numbers of core axes (`ranks`)."""
    name = function.__name__

    def call(
        ctx: Context,
        x1: Raw,
        x2: Raw,
        /,
        out: Raw = None,
        *,
        axes: Raw = None,
        axis: Raw = None,
        keepdims: Raw = False,
        dtype: Raw = None,
    ) -> Abstract:
        places = places_of(ctx, axes, name)
        if not is_none(axis):
            at = integer(ctx, axis, f"the axis of {name}")
            places = [(at,), (at,), ()]
        if (
            places is None
            and is_none(out)
            and is_none(dtype)
            and not ctx.known(keepdims, f"keepdims of {name}")
        ):
            return _product(ctx, name, subscripts, x1, x2, core, conjugated)
        x1, x2 = as_ndarray(ctx, x1), as_ndarray(ctx, x2)
        last = [_CORE[2 - rank :] for rank in ranks]
        if places is not None:
            x1, x2 = [
                ctx.call(Const(np.moveaxis), [x, Const(p), Const(c)])
                for x, p, c in zip((x1, x2), places, last)
            ]
        if not is_none(dtype):
            x1, x2 = [
                NUMPY.array(ctx, cast(ctx, nested(ctx, NUMPY, x, name).value, NUMPY.dtype(ctx, dtype, name)))
                for x in (x1, x2)
            ]
        made = _product(ctx, name, subscripts, x1, x2, core, conjugated)
        if ctx.known(keepdims, f"keepdims of {name}"):
            at = places[0] if places is not None else -1
            made = ctx.call(Const(np.expand_dims), [made, Const(at)])
        elif places is not None and last[2]:
            made = ctx.call(Const(np.moveaxis), [made, Const(last[2]), Const(places[2])])
        value = NUMPY.operand(ctx, made, name).value
        return result_into(ctx, out, value, f"np.{name}")

    call.__name__, call.__doc__ = name, f"`np.{name}`."
    return call


_CORE = (-2, -1)
"""The core axes of a matrix; of a vector it is the last one."""

_VECDOT = _stacked_product(np.vecdot, "...i,...i->...", (-1, -1), (1, 1, 0), True)
meaning(np.vecdot)(_VECDOT)
for _function in _since_2_2("matvec"):
    meaning(_function)(_stacked_product(_function, "...ij,...j->...i", (-1, -1), (2, 1, 1), False))
for _function in _since_2_2("vecmat"):
    meaning(_function)(_stacked_product(_function, "...i,...ij->...j", (-1, -2), (1, 2, 1), True))


@meaning(np.linalg.vecdot)
def linalg_vecdot(ctx: Context, x1: Raw, x2: Raw, /, *, axis: Raw = -1) -> Abstract:
    """`np.vecdot` along an axis."""
    at = Const(integer(ctx, axis, "the axis of vecdot"))
    moved = [ctx.call(Const(np.moveaxis), [x, at, Const(-1)]) for x in (x1, x2)]
    return _VECDOT(ctx, *moved)


# ---------------------------------------------------------------- functions of np with other defaults


@meaning(np.linalg.matmul)
def matmul(ctx: Context, x1: Raw, x2: Raw, /) -> Abstract:
    """`np.matmul`."""
    return ctx.call(Const(np.matmul), [x1, x2])


@meaning(np.linalg.outer)
def outer(ctx: Context, x1: Raw, x2: Raw, /) -> Abstract:
    """`np.outer` of vectors; ValueError for other ranks."""
    ranks = [nested(ctx, NUMPY, x, "outer").rank for x in (x1, x2)]
    if ranks != [1, 1]:
        text = (
            f"Input arrays must be one-dimensional, but they are x1.ndim={ranks[0]} and x2.ndim={ranks[1]}."
        )
        ctx.raise_(ValueError(text))
    return ctx.call(Const(np.outer), [x1, x2])


@meaning(np.linalg.tensordot)
def tensordot(ctx: Context, x1: Raw, x2: Raw, /, *, axes: Raw = 2) -> Abstract:
    """`np.tensordot`."""
    return ctx.call(Const(np.tensordot), [x1, x2], {"axes": abstract(axes)})


@meaning(np.linalg.cross)
def cross(ctx: Context, x1: Raw, x2: Raw, /, *, axis: Raw = -1) -> Abstract:
    """`np.cross`."""
    return ctx.call(Const(np.cross), [x1, x2], {"axis": abstract(axis)})


@meaning(np.linalg.trace)
def trace(ctx: Context, x: Raw, /, *, offset: Raw = 0, dtype: Raw = None) -> Abstract:
    """`np.trace` over the last two axes."""
    return ctx.call(Const(np.trace), [x, abstract(offset)], {**_LAST_TWO, "dtype": abstract(dtype)})


@meaning(np.linalg.diagonal)
def diagonal(ctx: Context, x: Raw, /, *, offset: Raw = 0) -> Abstract:
    """`np.diagonal` of the last two axes."""
    return ctx.call(Const(np.diagonal), [x, abstract(offset)], _LAST_TWO)


@meaning(np.linalg.matrix_transpose)
def matrix_transpose(ctx: Context, x: Raw, /) -> Abstract:
    """`np.matrix_transpose`."""
    return ctx.call(Const(np.matrix_transpose), [x])


@meaning(np.linalg.matrix_norm)
def matrix_norm(ctx: Context, x: Raw, /, *, keepdims: Raw = False, ord: Raw = "fro") -> Abstract:
    """`np.linalg.norm` over the last two axes."""
    axes = Tuple((Const(-2), Const(-1)))
    return _norm(ctx, x, abstract(ord), axes, keepdims)


@meaning(np.linalg.vector_norm)
def vector_norm(
    ctx: Context, x: Raw, /, *, axis: Raw = None, keepdims: Raw = False, ord: Raw = 2
) -> Abstract:
    """`np.linalg.norm` along an axis, or of all elements."""
    if not is_none(axis):
        if not isinstance(ctx.known(axis, "the axis of vector_norm"), int):
            ctx.fail(ArgumentNotStaged(span=ctx.span, function="np.linalg.vector_norm", argument="axis"))
        return _norm(ctx, x, abstract(ord), abstract(axis), keepdims)
    rank = len(shape_known(ctx, NUMPY, x, "vector_norm"))
    flat = ctx.call(Const(np.ravel), [x])
    made = _norm(ctx, flat, abstract(ord), Const(0), False)
    if not ctx.known(keepdims, "keepdims of vector_norm"):
        return made
    return ctx.call(Const(np.reshape), [made, Tuple((Const(1),) * rank)])


def _norm(ctx: Context, x: Raw, ord: Abstract, axis: Abstract, keepdims: Raw) -> Abstract:
    return ctx.call(Const(np.linalg.norm), [x, ord], {"axis": axis, "keepdims": abstract(keepdims)})


# ---------------------------------------------------------------- powers


def check_square(ctx: Context, shape: tuple[int, ...]) -> None:
    """LinAlgError in the program, with NumPy's context, for what is no square matrix, or several."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        try:
            np.linalg.det(np.broadcast_to(np.int8(0), shape))
        except np.linalg.LinAlgError as error:
            ctx.raise_(error)


@meaning(np.linalg.matrix_power)
def matrix_power(ctx: Context, a: Raw, n: Raw) -> Abstract:
    """`a @ a @ …`, by squaring; the exponent must be known. Negative ones are powers of the inverse."""
    exponent = integer(ctx, n, "the exponent of np.linalg.matrix_power")
    given = nested(ctx, NUMPY, a, "matrix_power")
    check_square(ctx, given.shape)
    if exponent == 1:
        return ctx.call(Const(np.asanyarray), [a])
    base: Abstract = NUMPY.array(ctx, given.value)
    if exponent < 0:
        base, exponent = ctx.call(Const(np.linalg.inv), [base]), -exponent
    if exponent == 0:
        unit = np.broadcast_to(np.eye(given.shape[-1], dtype=given.dtype), given.shape)
        return ctx.ndarray(ctx.constant(unit, given.dtype))
    if exponent == 3:  # NumPy's order, which rounds in its own way
        return matmul(ctx, matmul(ctx, base, base), base)
    result: Abstract | None = None
    while True:
        exponent, odd = divmod(exponent, 2)
        if odd:
            result = base if result is None else matmul(ctx, result, base)
        if not exponent:
            assert result is not None
            return result
        base = matmul(ctx, base, base)
