"""Conversion of numbers to the element type of an array: checked or wrapping.

In: a number, an array, or a nested list of them, and the element type. Out: a value of that type. NumPy checks the range of
Python's integers, and converts Python's floats to integers first: `np.array(300, np.int8)` and `np.array(nan, int)`
raise. So do its own scalars where they become signed integers as elements of a list, or through a basic index. All
others, and elements of arrays, are cast, so that integers wrap around.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ...hlo.ir import Value
from ...hlo.types import FLOAT64, INT64, DType, is_floating, is_integer
from ...values.boundary import Form
from ...values.lattice import Array, Const
from ...values.packing import stacked
from ..context import Context, Raw
from ..numpy.indexing.indices import plain_sequence
from ..numpy.indexing.stores import cast, check_float, stored_value
from ..rules.bounds import check_element
from .libraries import NUMPY
from .nested_sequences import elements, is_sequence, nested


def cast_number(ctx: Context, read: Array | Const, dtype: DType) -> Value:
    """A number cast as by `np.asarray`: integers wrap around. OverflowError for values beyond 64 bits."""
    if isinstance(read, Array):
        return cast(ctx, read.value, dtype)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return ctx.constant(np.asarray(read.value).astype(dtype), dtype)
        except OverflowError as error:
            ctx.raise_(error)


def filling_value(ctx: Context, read: Array | Const, dtype: DType, what: str) -> Value:
    """A number that `np.full` or `np.copyto` stores: Python integers must fit, others are cast."""
    if isinstance(read, Const):
        python = type(read.value) is int
    else:
        python = read.form is Form.PYTHON and read.dtype == INT64
    return stored_value(ctx, read, dtype, what) if python else cast_number(ctx, read, dtype)


def element_value(ctx: Context, read: Array | Const, dtype: DType, what: str) -> Value:
    """A number that is assigned, or is an element of a list that becomes an array of `dtype`."""
    if isinstance(read, Const):
        if isinstance(read.value, np.generic):
            return ctx.reshape(_array(ctx, [read.value], dtype), ())
        return stored_value(ctx, read, dtype, what)
    if read.form is Form.SCALAR and dtype.kind == "i":
        check_element(ctx, read, dtype)
        if is_floating(read.dtype):
            check_float(ctx, replace(read, value=ctx.convert(read.value, FLOAT64), form=Form.PYTHON), dtype)
        return cast(ctx, read.value, dtype)
    return stored_value(ctx, read, dtype, what)


def _array(ctx: Context, values: list[Any], dtype: DType) -> Value:
    """A nested list of known numbers as an array of `dtype`; what NumPy raises in the program."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return ctx.constant(np.array(values, dtype), dtype)
        except (TypeError, ValueError, OverflowError) as error:
            ctx.raise_(error)


def array_value(ctx: Context, raw: Raw, dtype: DType, what: str) -> Value:
    """The elements of `np.asarray(raw, dtype)`: those of a list must fit, arrays and NumPy's scalars are cast."""
    if not is_sequence(ctx, raw):
        return stored_value(ctx, raw, dtype, what)
    plain = plain_sequence(ctx, raw)
    if plain is not None:
        return _array(ctx, plain, dtype)
    given = nested(ctx, NUMPY, raw, what)
    if given.dtype == dtype or not is_integer(dtype):
        return cast(ctx, given.value, dtype)
    return _stacked(ctx, raw, dtype, what)


def _stacked(ctx: Context, raw: Raw, dtype: DType, what: str) -> Value:
    """A nested sequence whose rows have one shape, element by element."""
    items = elements(ctx, raw)
    if items is None:
        read = ctx.read(raw)
        return ctx.reshape(
            element_value(ctx, read, dtype, what), read.shape if isinstance(read, Array) else ()
        )
    return stacked(ctx.b, [_stacked(ctx, item, dtype, what) for item in items])


def assigned_value(ctx: Context, raw: Raw, dtype: DType, what: str) -> Value:
    """The value that `x[i] = raw` and `x.fill(raw)` store: NumPy's scalars must fit signed integers, like list elements."""
    if is_sequence(ctx, raw):
        return array_value(ctx, raw, dtype, what)
    return element_value(ctx, ctx.read(raw), dtype, what)
