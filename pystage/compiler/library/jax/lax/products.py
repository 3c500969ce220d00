"""`jax.lax`: products of arrays (`dot`, `dot_general`, `batch_matmul`) and convolutions.

A case that one StableHLO operation covers is emitted as that operation; mixed element types, complex convolutions and
dot algorithms become a `JaxCall`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from jax import lax

from ....diagnostics.codes_calls import NotServed
from ....diagnostics.codes_types import ShapeMismatch
from ....hlo.types import DType, is_complex
from ....ops import Convolution, DotGeneral
from ....values.lattice import Abstract, Array
from ...context import Context, Raw
from ...operands.contraction import lowered
from ...registry import meaning
from ...rules.jax import (
    UnservedPrecision,
    all_weak,
    checked,
    integer,
    is_none,
    jax_array,
    known_dtype,
    optional_ints,
    precision_name,
)
from ..traced_calls import jax_call
from .elementwise import same_dtypes

Ints = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


@meaning(lax.dot)
def dot(
    ctx: Context,
    lhs: Raw,
    rhs: Raw,
    *,
    dimension_numbers: Raw = None,
    precision: Raw = None,
    preferred_element_type: Raw = None,
) -> Abstract:
    """A product summed over the contracted axes; by default that of matrices and vectors."""
    left, right = jax_array(ctx, lhs, "lax.dot"), jax_array(ctx, rhs, "lax.dot")
    try:
        name = precision_name(ctx, precision, "lax.dot")
    except UnservedPrecision:
        name = ""
    if name == "" or left.dtype != right.dtype:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        return jax_call(ctx, lax.dot, [lhs, rhs], {"dimension_numbers": dimension_numbers, **options})
    contract, batch = _dot_axes(ctx, dimension_numbers, left, right)
    preferred = _preferred(ctx, preferred_element_type, "lax.dot")
    op = DotGeneral(batch[0], batch[1], contract[0], contract[1], lowered(name, left.dtype), preferred)
    weak = preferred is None and all_weak([left, right])
    return ctx.jax(checked(ctx, op, left.value, right.value), weak)


def _dot_axes(ctx: Context, raw: Raw, left: Array, right: Array) -> tuple[Sequence[Ints], Sequence[Ints]]:
    """Contracted and batch axes, of both operands each."""
    given = ctx.known(raw, "the dimension numbers of lax.dot")
    if given is None:
        ranks = {left.rank, right.rank}
        if not ranks <= {1, 2} or left.shape[-1] != right.shape[0]:
            text = f"lax.dot: {left.type} and {right.type} are no simple product of matrices or vectors"
            ctx.fail(ShapeMismatch(span=ctx.span, text=text))
        return ((left.rank - 1,), (0,)), ((), ())
    contract, batch = given
    return [tuple(map(int, axes)) for axes in contract], [tuple(map(int, axes)) for axes in batch]


def _preferred(ctx: Context, raw: Raw, function: str) -> DType | None:
    return None if is_none(raw) else known_dtype(ctx, raw, f"the element type of {function}")


@meaning(lax.dot_general)
def dot_general(
    ctx: Context,
    lhs: Raw,
    rhs: Raw,
    dimension_numbers: Raw,
    precision: Raw = None,
    preferred_element_type: Raw = None,
    out_sharding: Raw = None,
) -> Abstract:
    """`((lhs contracted, rhs contracted), (lhs batch, rhs batch))` axes; see `dot`."""
    if not is_none(out_sharding):
        why, instead = "pystage lays nothing out over devices", "leave it out"
        name = "out_sharding of lax.dot_general"
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=instead))
    return dot(
        ctx,
        lhs,
        rhs,
        dimension_numbers=dimension_numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@meaning(lax.batch_matmul)
def batch_matmul(ctx: Context, lhs: Raw, rhs: Raw, precision: Raw = None) -> Abstract:
    """A product of matrices for each index of the axes before the last two."""
    left, right = jax_array(ctx, lhs, "lax.batch_matmul"), jax_array(ctx, rhs, "lax.batch_matmul")
    if left.rank != right.rank or left.rank < 2:
        text = f"lax.batch_matmul: {left.type} and {right.type} need the same number of axes, 2 at least"
        ctx.fail(ShapeMismatch(span=ctx.span, text=text))
    batch = tuple(range(left.rank - 2))
    numbers = (((left.rank - 1,), (left.rank - 2,)), (batch, batch))
    return dot(ctx, left, right, dimension_numbers=numbers, precision=precision)


# ---------------------------------------------------------------- convolution


@meaning(lax.conv_general_dilated)
def conv_general_dilated(
    ctx: Context,
    lhs: Raw,
    rhs: Raw,
    window_strides: Raw,
    padding: Raw,
    lhs_dilation: Raw = None,
    rhs_dilation: Raw = None,
    dimension_numbers: Raw = None,
    feature_group_count: Raw = 1,
    batch_group_count: Raw = 1,
    precision: Raw = None,
    preferred_element_type: Raw = None,
) -> Abstract:
    """One convolution; every way in which JAX writes padding and dimension numbers is served."""
    name = "lax.conv_general_dilated"
    left, right = jax_array(ctx, lhs, name), jax_array(ctx, rhs, name)
    same_dtypes(ctx, name, [left, right])
    try:
        precise = precision_name(ctx, precision, name)
    except UnservedPrecision:
        precise = ""
    if is_complex(left.dtype) or precise == "":
        return _by_jax(ctx, left, right, locals())
    strides = optional_ints(ctx, window_strides, f"the strides of {name}") or ()
    dilated = optional_ints(ctx, lhs_dilation, f"lhs_dilation of {name}") or ()
    spread = optional_ints(ctx, rhs_dilation, f"rhs_dilation of {name}") or ()
    numbers = _conv_numbers(
        ctx, left, right, ctx.known(dimension_numbers, f"the dimension numbers of {name}")
    )
    pads = _conv_padding(
        ctx, left, right, ctx.known(padding, f"the padding of {name}"), strides, spread, numbers
    )
    preferred = _preferred(ctx, preferred_element_type, name)
    op = Convolution(
        strides,
        pads,
        dilated,
        spread,
        tuple(numbers.lhs_spec),
        tuple(numbers.rhs_spec),
        tuple(numbers.out_spec),
        integer(ctx, feature_group_count, f"feature_group_count of {name}"),
        integer(ctx, batch_group_count, f"batch_group_count of {name}"),
        lowered(precise, left.dtype),
        preferred,
    )
    weak = preferred is None and all_weak([left, right])
    return ctx.jax(checked(ctx, op, left.value, right.value), weak)


_CONV_OPTIONS = (
    "window_strides",
    "padding",
    "lhs_dilation",
    "rhs_dilation",
    "dimension_numbers",
    "feature_group_count",
    "batch_group_count",
    "precision",
    "preferred_element_type",
)


def _by_jax(ctx: Context, left: Array, right: Array, options: dict[str, Any]) -> Abstract:
    """The same call by JAX's own lowering."""
    return jax_call(
        ctx, lax.conv_general_dilated, [left, right], {key: options[key] for key in _CONV_OPTIONS}
    )


def _conv_numbers(ctx: Context, left: Array, right: Array, given: Any) -> lax.ConvDimensionNumbers:
    if isinstance(given, list):
        given = tuple(given)
    if isinstance(given, tuple) and not isinstance(given[0], str):
        given = lax.ConvDimensionNumbers(*map(tuple, given))
    try:
        return _known_numbers(left.rank, right.rank, given)
    except (TypeError, ValueError) as error:
        ctx.fail(ShapeMismatch(span=ctx.span, text=f"convolution of {left.type} with {right.type}: {error}"))


@functools.lru_cache(maxsize=256)
def _known_numbers(left: int, right: int, given: Any) -> lax.ConvDimensionNumbers:
    """JAX's reading of dimension numbers; of the shapes it looks at the ranks only."""
    return lax.conv_dimension_numbers((1,) * left, (1,) * right, given)


def _conv_padding(
    ctx: Context,
    left: Array,
    right: Array,
    given: Any,
    strides: Ints,
    spread: Ints,
    numbers: lax.ConvDimensionNumbers,
) -> Pads:
    """The padding of each spatial axis; a name is worked out from extents, strides and dilations."""
    if not isinstance(given, str):
        return tuple([(int(low), int(high)) for low, high in given])
    image = [left.shape[a] for a in numbers.lhs_spec[2:]]
    kernel = [right.shape[a] for a in numbers.rhs_spec[2:]]
    reach = [(n - 1) * d + 1 for n, d in zip(kernel, spread or (1,) * len(kernel), strict=True)]
    return padding_of(ctx, image, reach, strides, given)


def padding_of(ctx: Context, shape: Sequence[int], window: Sequence[int], strides: Ints, name: str) -> Pads:
    """The padding that "SAME", "SAME_LOWER" or "VALID" stands for."""
    if name == "VALID":
        return ((0, 0),) * len(shape)
    try:
        return _known_padding(tuple(shape), tuple(window), strides, name)
    except (TypeError, ValueError, RuntimeError) as error:
        ctx.fail(ShapeMismatch(span=ctx.span, text=f"padding {name!r}: {error}"))


@functools.lru_cache(maxsize=1024)
def _known_padding(shape: Ints, window: Ints, strides: Ints, name: str) -> Pads:
    return tuple([(int(low), int(high)) for low, high in lax.padtype_to_pads(shape, window, strides, name)])


@meaning(lax.conv)
def conv(
    ctx: Context,
    lhs: Raw,
    rhs: Raw,
    window_strides: Raw,
    padding: Raw,
    precision: Raw = None,
    preferred_element_type: Raw = None,
) -> Abstract:
    """A convolution in JAX's default layout (NCHW, OIHW)."""
    return conv_general_dilated(
        ctx,
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@meaning(lax.conv_with_general_padding)
def conv_with_general_padding(
    ctx: Context,
    lhs: Raw,
    rhs: Raw,
    window_strides: Raw,
    padding: Raw,
    lhs_dilation: Raw,
    rhs_dilation: Raw,
    precision: Raw = None,
    preferred_element_type: Raw = None,
) -> Abstract:
    """A convolution in JAX's default layout, with dilations."""
    return conv_general_dilated(
        ctx,
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
