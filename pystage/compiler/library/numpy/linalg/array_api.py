"""`np.linalg` under its Array-API names, products of stacked vectors, and powers of matrices.

Most are functions of `np` with other defaults, and call those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....diagnostics.codes_types import ArgumentNotStaged
from ....hlo.types import is_complex
from ....values.bounded import Bounded
from ....values.lattice import Abstract, Const, Tuple
from ...context import Context, Raw
from ...kernels.structures import abstract
from ...operands.libraries import NUMPY, as_ndarray
from ...operands.nested_sequences import nested
from ...registry import meaning
from ...rules.jax import integer, is_none
from ..indexing.stores import cast
from ..manipulation import as_array, axes_known, rank_of
from ..ufuncs.elementwise import result_into
from .products import places_of

_LAST_TWO = {"axis1": Const(-2), "axis2": Const(-1)}


# ---------------------------------------------------------------- products of stacked vectors


def _product(
    ctx: Context, name: str, x1: Raw, x2: Raw, ranks: tuple[int, int, int], conjugated: bool
) -> Abstract:
    """`matmul` of two operands with these numbers of core axes, of which those that are summed must be equal."""
    x1, x2 = [abstract(as_array(ctx, NUMPY, x, name)) for x in (x1, x2)]
    left, right = [axes_known(ctx, NUMPY, x, name) for x in (x1, x2)]
    for which, (axes, core) in enumerate(((left, ranks[0]), (right, ranks[1]))):
        if len(axes) < core:
            ctx.raise_(ValueError(f"{name}: Input operand {which} does not have enough dimensions"))
    ours, theirs = left[-1], right[-ranks[1]]
    if isinstance(ours, int) and isinstance(theirs, int) and ours != theirs:
        sizes = f"size {theirs} is different from {ours}"
        ctx.raise_(ValueError(f"{name}: Input operand 1 has a mismatch in its core dimension 0 ({sizes})"))
    dtype = x1.type.dtype if isinstance(x1, Bounded) else NUMPY.operand(ctx, x1, name).dtype
    if conjugated and is_complex(dtype):
        x1 = ctx.call(Const(np.conjugate), [x1])
    added = []
    if ranks[1] == 1 and len(right) > 1:  # a stack of columns
        x2, added = ctx.call(Const(np.expand_dims), [x2, Const(-1)]), [-1]
    if ranks[0] == 1 and len(left) > 1 and len(right) > 1:  # a stack of rows
        x1, added = ctx.call(Const(np.expand_dims), [x1, Const(-2)]), [-2, *added]
    made = ctx.call(Const(np.matmul), [x1, x2])
    return ctx.call(Const(np.squeeze), [made, Const(tuple(added))]) if added else made


def _since_2_2(name: str) -> list[Any]:
    """A function of NumPy 2.2 and later, if it exists."""
    return [getattr(np, name)] if hasattr(np, name) else []


def _stacked_product(function: Any, ranks: tuple[int, int, int], conjugated: bool) -> Callable[..., Abstract]:
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
            return _product(ctx, name, x1, x2, ranks, conjugated)
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
        made = _product(ctx, name, x1, x2, ranks, conjugated)
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

_VECDOT = _stacked_product(np.vecdot, (1, 1, 0), True)
meaning(np.vecdot)(_VECDOT)
for _function in _since_2_2("matvec"):
    meaning(_function)(_stacked_product(_function, (2, 1, 1), False))
for _function in _since_2_2("vecmat"):
    meaning(_function)(_stacked_product(_function, (1, 2, 1), True))


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
    rank = rank_of(ctx, NUMPY, x, "vector_norm")
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
