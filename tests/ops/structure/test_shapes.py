"""Constants are values: copied, immutable, equal bit by bit; and what holds of emitted modules."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.types import BFLOAT16, FLOAT32, ArrayType
from pystage.compiler.ops import Add, Call, Constant, Multiply

from ..running import application, run_xla, stablehlo


def test_a_constant_is_a_copy_that_cannot_be_written_to() -> None:
    data = np.arange(3.0)
    constant = Constant(data)
    data[0] = 7
    assert constant.data.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        constant.data[0] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        constant.data.flags.writeable = True


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.float32(0.0), np.float32(-0.0)),
        (np.float32(1), np.float64(1)),
        (np.float32(1), np.array([1], np.float32)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.int32(0), np.float32(0)),
        (np.array(1, BFLOAT16), np.array(1, np.float16)),
    ],
    ids=str,
)
def test_constants_that_differ(left: np.ndarray, right: np.ndarray) -> None:
    assert Constant(left) != Constant(right)


@pytest.mark.parametrize(
    "data", [np.float32(2), np.array(np.nan), np.zeros((0, 2)), np.arange(6).reshape(2, 3)], ids=str
)
def test_constants_that_are_equal(data: np.ndarray) -> None:
    assert Constant(data) == Constant(np.array(data))
    assert hash(Constant(data)) == hash(Constant(np.array(data)))
    assert Constant(data) != Add()


def test_row_major_order_is_what_counts() -> None:
    data = np.arange(6).reshape(2, 3)
    assert Constant(np.asfortranarray(data)) == Constant(data)


def test_a_constant_of_one_value_is_stored_once() -> None:
    function = application(Constant(np.full((1000, 1000), -0.0, np.float32)))
    assert "dense<-0.000000e+00> : tensor<1000x1000xf32>" in stablehlo(function)


def test_a_function_called_twice_is_emitted_once() -> None:
    type = ArrayType(FLOAT32, (3,))
    inner = Region((type,))
    inner.results = (Builder(inner).op(Add(), inner.params[0], inner.params[0]),)
    twice = Function("twice", inner)
    body = Region((type,))
    b = Builder(body)
    once = b.op(Call(twice), body.params[0])
    body.results = (b.op(Multiply(), b.op(Call(twice), once), once),)
    function = Function("main", body)
    text = stablehlo(function)
    assert text.count("func.func private") == 1 and text.count("call @") == 2
    (found,) = run_xla(function, [np.arange(3, dtype=np.float32)])
    assert found.tolist() == [0, 8, 32]
