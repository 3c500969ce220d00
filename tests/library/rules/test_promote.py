"""Promotion: NumPy's and JAX's result types, and values that a type does not hold."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from library.harness import Known, PlainContext, Raised, check_call
from pystage.compiler.hlo.types import SHORT_NAMES, DType
from pystage.compiler.library.rules.promote import (
    NumberKind,
    inexact,
    jax_common,
    numeric,
    numpy_common,
    numpy_loop,
)
from pystage.compiler.values.boundary import Form

STAGED = [d for d in SHORT_NAMES if d.name != "bfloat16"]
PYTHON = [(True, "bool"), (1, "int64"), (1.5, "float64"), (1j, "complex128")]


def test_numpy_common_type() -> None:
    for left, right in itertools.product(STAGED, STAGED):
        kinds = (NumberKind(left, Form.NDARRAY), NumberKind(right, Form.SCALAR))
        assert numpy_common(kinds) == np.result_type(left, right)
    for left, (value, dtype) in itertools.product(STAGED, PYTHON):
        kinds = (NumberKind(left, Form.NDARRAY), NumberKind(np.dtype(dtype), Form.PYTHON))
        assert numpy_common(kinds) == (np.ones(2, left) * value).dtype


@pytest.mark.parametrize("x64", [False, True])
def test_jax_common_type(x64: bool) -> None:
    """With weak and strong operands, as `jnp.add` gives it."""
    with jax.enable_x64(x64):
        ctx = PlainContext()
        types: list[DType] = [np.dtype(d) for d in ("bool", "int8", "uint32", "int32", "float16", "float32")]
        types += [np.dtype(d) for d in (("int64", "float64") if x64 else ())]
        for (left, right), weak in itertools.product(itertools.product(types, types), (False, True)):
            if weak and right.name not in ("int32", "float32"):
                continue
            x, y = jax.ShapeDtypeStruct((), left), jax.ShapeDtypeStruct((), right, weak_type=weak)
            expected = jax.eval_shape(lambda a, b: jnp.where(True, a, b), x, y)
            kinds = (NumberKind(left, Form.JAX), NumberKind(right, Form.JAX, weak))
            assert jax_common(ctx, kinds) == (expected.dtype, expected.weak_type), (left, right, weak)


def test_jax_function_types() -> None:
    for x64 in (False, True):
        with jax.enable_x64(x64):
            for name in ("bool", "int8", "uint8", "int32", "float16", "float32", "complex64"):
                like = jax.ShapeDtypeStruct((), np.dtype(name))
                assert jax.eval_shape(jnp.sin, like).dtype == inexact(np.dtype(name))
                assert jax.eval_shape(jnp.square, like).dtype == numeric(np.dtype(name))


def test_strict_promotion_is_jax_s_error() -> None:
    with jax.numpy_dtype_promotion("strict"):
        ctx = PlainContext()
        kinds = (NumberKind(np.dtype(np.int32), Form.JAX), NumberKind(np.dtype(np.float32), Form.JAX))
        with pytest.raises(Raised) as caught:
            jax_common(ctx, kinds)
        assert isinstance(caught.value.exception, jax.dtypes.TypePromotionError)


def test_no_loop_for_what_numpy_refuses() -> None:
    boolean = NumberKind(np.dtype(np.bool_), Form.NDARRAY)
    assert numpy_loop(np.subtract, (boolean, boolean)) is None
    assert numpy_loop(np.add, (boolean, boolean)) is not None


@pytest.mark.parametrize("value", [2**31, 2**40, -(2**31) - 1])
def test_python_integers_that_jax_does_not_hold(value: int) -> None:
    check_call(jnp.add, jnp.asarray([1, 2]), Known(value))
    with jax.enable_x64(True):
        check_call(jnp.add, jnp.asarray([1, 2]), Known(value))
