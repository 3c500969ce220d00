"""Transfer functions on shapes with extents that are not known while compiling."""

from __future__ import annotations

import pytest

from pystage.compiler import ops
from pystage.compiler.hlo.op import HloOp
from pystage.compiler.hlo.types import BOOL, FLOAT32, INT32, ArrayType, Shape, ShapeError, Symbol
from pystage.compiler.ops.elementwise.base import Binary, Elementwise

N, M = Symbol("n"), Symbol("m")


def f32(*shape: int | Symbol) -> ArrayType:
    return ArrayType(FLOAT32, shape)


INDEX = ArrayType(INT32)

TYPED: list[tuple[HloOp, tuple[ArrayType, ...], Shape]] = [
    (ops.Tanh(), (f32(N, 3),), (N, 3)),
    (ops.Add(), (f32(N, M), f32(N, M)), (N, M)),
    (ops.Compare("LT"), (f32(N), f32(N)), (N,)),
    (ops.Select(), (ArrayType(BOOL, (N,)), f32(N), f32(N)), (N,)),
    (ops.Clamp(), (f32(), f32(N), f32()), (N,)),
    (ops.Convert(INT32), (f32(N),), (N,)),
    (ops.BitcastConvert(INT32), (f32(N),), (N,)),
    (ops.Iota(f32(N, 2), 0), (), (N, 2)),
    (ops.Broadcast((N, 3), (1,)), (f32(3),), (N, 3)),
    (ops.Broadcast((M, N), (1,)), (f32(N),), (M, N)),
    (ops.Reshape((3, N)), (f32(N, 3),), (3, N)),
    (ops.Reshape((6, N, M)), (f32(M, 2, N, 3),), (6, N, M)),
    (ops.Transpose((1, 0)), (f32(N, 3),), (3, N)),
    (ops.Reverse((0,)), (f32(N),), (N,)),
    (ops.Concatenate(0), (f32(N, 2), f32(3, 2), f32(N, 2)), (Symbol("2*n+3"), 2)),
    (ops.Concatenate(0), (f32(M), f32(N)), (Symbol("m+n"),)),
    (ops.Pad((1,), (1,), (0,)), (f32(N), f32()), (Symbol("n+2"),)),
    (ops.Pad((0,), (0,), (1,)), (f32(N), f32()), (Symbol("2*n-1"),)),
    (ops.Slice((1, 0), (N, 3), (1, 1)), (f32(N, 3),), (Symbol("n-1"), 3)),
    (ops.Slice((0,), (N,), (1,)), (f32(N),), (N,)),
    (ops.Slice((0,), (N,), (2,)), (f32(N),), (Symbol("<n ceildiv 2>"),)),
    (ops.DynamicSlice((2, N)), (f32(5, N), INDEX, INDEX), (2, N)),
    (ops.DynamicUpdateSlice(), (f32(N, 3), f32(1, 3), INDEX, INDEX), (N, 3)),
    (ops.Reduce(ops.Add(), (1,)), (f32(N, M), f32()), (N,)),
]

REFUSED: list[tuple[HloOp, tuple[ArrayType, ...], str]] = [
    (ops.Add(), (f32(N), f32(M)), "not f32[n] and f32[m]"),
    (ops.Add(), (f32(N), f32(3)), "not f32[n] and f32[3]"),
    (ops.Reshape((M,)), (f32(N),), "f32[n] cannot be reshaped to f32[m]"),
    (ops.Reshape((N, 2)), (f32(N, N),), "f32[n,n] cannot be reshaped to f32[n,2]"),
    (ops.Concatenate(0), (f32(2, N), f32(2, M)), "other axes differ"),
    (ops.Broadcast((N,), (0,)), (f32(3),), "would need n elements, not 3"),
    (ops.Select(), (ArrayType(BOOL, (M,)), f32(N), f32(N)), "neither no axes nor the shape"),
]


def name(case: tuple[HloOp, tuple[ArrayType, ...], object]) -> str:
    return f"{type(case[0]).__name__}-{'-'.join(map(str, case[1]))}"


@pytest.mark.parametrize("case", TYPED, ids=name)
def test_result_shape(case: tuple[HloOp, tuple[ArrayType, ...], Shape]) -> None:
    op, operands, shape = case
    found = op.infer(*operands)
    assert isinstance(found, ArrayType)
    assert found.shape == shape


@pytest.mark.parametrize("case", REFUSED, ids=name)
def test_what_is_not_certainly_right_is_refused(case: tuple[HloOp, tuple[ArrayType, ...], str]) -> None:
    op, operands, text = case
    with pytest.raises(ShapeError) as raised:
        op.infer(*operands)
    assert text in str(raised.value)


def test_every_elementwise_operation_keeps_symbols() -> None:
    for op in ops.concrete(Elementwise):
        made = op.samples()[0].op
        operand = ArrayType(min(op.dtypes, key=str), (N, 3))
        arity = 2 if issubclass(op, Binary) else 1
        found = made.infer(*[operand] * arity)
        assert isinstance(found, ArrayType) and found.shape == (N, 3)
