"""Programs are printed as people read them."""

from __future__ import annotations

import numpy as np

from pystage.compiler.hlo.builder import Builder
from pystage.compiler.hlo.ir import Function, Region
from pystage.compiler.hlo.printer import print_function
from pystage.compiler.hlo.types import FLOAT32, ArrayType
from pystage.compiler.ops import Add, Call, Constant, Convert, Iota, OptimizationBarrier, Reduce

from .programs import VECTOR, branch, loop, square


def test_branches_and_callees() -> None:
    assert print_function(branch(), spans=False) == (
        "function branch(%0: f32[4], %1: s32[]) -> (f32[4]) {\n"
        "  %2: s32[] = constant(3)\n"
        "  %3: pred[] = compare(LT) %1, %2\n"
        "  %4: f32[4] = if %3 {\n"
        "    %5: f32[4] = call(@square) %0\n"
        "    %6: f32[4] = negate %5\n"
        "    yield %6\n"
        "  } {\n"
        "    yield %0\n"
        "  }\n"
        "  return %4\n"
        "}\n"
        "\n"
        "function square(%0: f32[4]) -> (f32[4]) {\n"
        "  %1: f32[4] = multiply %0, %0\n"
        "  return %1\n"
        "}\n"
    )


def test_regions_with_parameters() -> None:
    assert print_function(loop()) == (
        "function loop(%0: f32[4], %1: s32[]) -> (f32[4]) {\n"
        "  %2: s32[] = constant(0)\n"
        "  %3: s32[] = constant(1)\n"
        "  %4: s32[], %5: f32[4] = while %2, %0 (%6: s32[], %7: f32[4]) {\n"
        "    %8: pred[] = compare(LT) %6, %1\n"
        "    yield %8\n"
        "  } (%9: s32[], %10: f32[4]) {\n"
        "    %11: s32[] = add %9, %3\n"
        "    %12: f32[4] = add %10, %10\n"
        "    yield %11, %12\n"
        "  }\n"
        "  return %5\n"
        "}\n"
    )


def test_places_stand_in_a_column() -> None:
    lines = print_function(branch()).splitlines()
    places = {line.partition("#")[0].strip(): line.partition("#")[2].strip() for line in lines if "#" in line}
    assert places == {
        "function branch(%0: f32[4], %1: s32[]) -> (f32[4]) {": "model.py:11",
        "%2: s32[] = constant(3)": "model.py:12",
        "%3: pred[] = compare(LT) %1, %2": "model.py:12",
        "%4: f32[4] = if %3 {": "model.py:13",
        "%5: f32[4] = call(@square) %0": "model.py:13",
        "%6: f32[4] = negate %5": "model.py:13",
        "function square(%0: f32[4]) -> (f32[4]) {": "model.py:1",
        "%1: f32[4] = multiply %0, %0": "model.py:2",
    }
    assert {line.index("#") for line in lines if "#" in line} == {66}


def test_static_operands() -> None:
    body = Region((VECTOR,))
    b = Builder(body)
    b.op(Constant(np.arange(20.0)))
    b.op(Constant(np.array([True, False])))
    b.op(Iota(ArrayType(FLOAT32, (2, 3)), 1))
    converted = b.op(Convert(np.dtype(np.int8)), body.params[0])
    zero = b.op(Constant(np.array(0, np.int8)))
    b.op(Reduce(Add(), (0,)), converted, zero)
    b.ops(OptimizationBarrier(), converted, zero)
    assert print_function(Function("f", body)) == (
        "function f(%0: f32[4]) -> () {\n"
        "  %1: f64[20] = constant([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, …])\n"
        "  %2: pred[2] = constant([True, False])\n"
        "  %3: f32[2,3] = iota(type=f32[2,3], axis=1)\n"
        "  %4: s8[4] = convert(s8) %0\n"
        "  %5: s8[] = constant(0)\n"
        "  %6: s8[] = reduce(combine=add, axes=(0,)) %4, %5\n"
        "  %7: s8[4], %8: s8[] = optimization_barrier %4, %5\n"
        "  return\n"
        "}\n"
    )


def test_functions_of_one_name_are_told_apart() -> None:
    body = Region((VECTOR,))
    b = Builder(body)
    first, second = square(), square()
    second.fence = True
    body.results = (b.op(Call(second), b.op(Call(first), body.params[0])),)
    text = print_function(Function("square", body), spans=False)
    assert "call(@square.2) %0" in text and "call(@square.3) %1" in text
    assert "\nfunction square.2(" in text and "\nfenced function square.3(" in text


def test_a_broken_program_is_printed_too() -> None:
    other = Region((VECTOR,))
    body = Region((VECTOR,))
    b = Builder(body)
    b.op(Add(), body.params[0], other.params[0])
    assert "add %0, %<undefined>" in print_function(Function("f", body))
