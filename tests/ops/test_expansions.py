"""Expansions give what NumPy gives where XLA's own operation does not."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.types import FLOAT32, INT32, ArrayType, DType, ShapeError
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops.expansions import integer_power
from pystage.compiler.ops.operands import INTEGERS

from .running import run_xla


def power_function(type: ArrayType) -> Function:
    body = Region((type, type))
    body.results = (integer_power(Builder(body), *body.params),)
    return Function("power", body)


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
def test_integer_power_wraps_around_for_all_exponents(dtype: DType) -> None:
    bases = np.array(
        [0, 1, 2, 3, 7, 100, -1, -2, -3] if dtype.kind == "i" else [0, 1, 2, 3, 7, 100, 250], dtype
    )
    exponents = np.array([0, 1, 2, 5, 31, 62, 63, 64, 65, 100, 127], dtype)
    base, exponent = np.repeat(bases, exponents.size), np.tile(exponents, bases.size)
    wanted = np.power(base, exponent)
    function = power_function(ArrayType(dtype, base.shape))
    verify(function)
    for found in (run_xla(function, (base, exponent))[0], interpret(function, (base, exponent))[0]):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)], ids=str)
def test_integer_power_of_any_shape(shape: tuple[int, ...]) -> None:
    base, exponent = np.full(shape, 3, INT32), np.full(shape, 70, INT32)
    (found,) = run_xla(power_function(ArrayType(INT32, shape)), (base, exponent))
    np.testing.assert_array_equal(found, np.power(base, exponent))


def test_integer_power_refuses_other_types() -> None:
    with pytest.raises(ShapeError, match="integer power takes integers, not f32\\[3\\]"):
        power_function(ArrayType(FLOAT32, (3,)))
