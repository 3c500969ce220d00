"""The types of a program's inputs, as keys of JAX's cache distinguish them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ...compiler.hlo.types import COMPLEX128, FLOAT64, INT64, ArrayType, DType
from ...compiler.values.boundary import Form
from .columns import Column

TypeKey = tuple[tuple[int, ...], DType, bool]
"""Shape, dtype and weak type of an input."""

_NUMBERS: dict[type, TypeKey] = {
    int: ((), INT64, False),
    float: ((), FLOAT64, False),
    complex: ((), COMPLEX128, False),
}


def is_key(dtype: Any) -> bool:
    """True for the dtype of typed PRNG keys."""
    return not isinstance(dtype, np.dtype) and bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def key_data_type(shape: tuple[int, ...], dtype: Any) -> ArrayType:
    """The type of the data of typed PRNG keys."""
    data = jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(shape, dtype))
    return ArrayType(np.dtype(data.dtype), data.shape)


def type_key(value: Any, form: Form) -> TypeKey:
    """The type of an input."""
    if form is Form.PYTHON and type(value) in _NUMBERS:
        return _NUMBERS[type(value)]
    return value.shape, value.dtype, form is Form.JAX and bool(getattr(value, "weak_type", False))


def value_key(value: Any) -> Any:
    """What tells the values of an input that can be a constant apart, among those of its type."""
    if type(value) is int:
        return value
    return value.tobytes() if type(value) is Column else repr(value)


def trace_key(value: Any, form: Form) -> TypeKey:
    """The type of a tracer that JAX passes for an input, or of the input itself under `jax.disable_jit`."""
    aval = jax.typeof(value)
    return aval.shape, aval.dtype, form is Form.JAX and bool(aval.weak_type)
