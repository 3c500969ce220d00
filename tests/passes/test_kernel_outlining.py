"""Loops as kernels: which ones, that they mean the same, and that XLA takes them whatever it makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from pystage.compiler import limits
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function, Value
from pystage.compiler.hlo.types import FLOAT32, FLOAT64, DType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.hlo.walk import functions
from pystage.compiler.ops import Broadcast, Cosine, DotGeneral, Select, Sort, While
from pystage.compiler.passes.kernel_outlining import outline_kernels

from .programs import INDEX, Code, Values, array, optimised, run

ROWS, COLUMNS = 7, 60


def _kernels(function: Function) -> list[Function]:
    return [f for f in functions(function) if f.kernel]


def _rows(columns: int = COLUMNS) -> Function:
    """For each row: its elements one by one into the row after it, then the cosine of a whole row."""
    c = Code(array(ROWS, columns), INDEX)

    def row(i: Value, a: Value) -> Values:
        (a,) = c.for_(columns, [a], lambda j, a: [c.store(a, c.add(c.load(a, i, j), 1), c.next(i, ROWS), j)])
        return [c.store(a, c.b.op(Cosine(), c.load(a, i)), i)]

    return c.done(*c.for_(c.params[1], [c.params[0]], row))


def test_the_outermost_loop_is_one_function() -> None:
    function = _rows()
    made = outline_kernels(function)
    verify(made)
    (kernel,) = _kernels(made)
    assert sum(isinstance(op.kind, While) for op in kernel.body.walk()) == 2
    assert not any(isinstance(op.kind, While) for op in made.body.walk())
    arguments = [np.arange(float(ROWS * COLUMNS)).reshape(ROWS, COLUMNS), np.asarray(ROWS - 1)]
    (expected,) = interpret(function, arguments)
    for found in (interpret(made, arguments), run(made, arguments)):
        np.testing.assert_allclose(found[0], expected, rtol=1e-12)


def test_xla_compiles_it_whole() -> None:
    """No loop is left that XLA's runtime goes through by itself."""
    text = optimised(outline_kernels(_rows()))
    entry = text[text.index("ENTRY") :]
    assert 'xla_cpu_small_call="true"' in entry and " while(" not in entry


def test_a_loop_of_large_operations_stays_and_those_in_it_are_kernels() -> None:
    made = outline_kernels(_rows(limits.KERNEL_BYTES // 8))
    assert any(isinstance(op.kind, While) for op in made.body.walk())
    assert _kernels(made) == []


def _norms(dtype: DType, *shape: int) -> Function:
    """Three times: the products of what there is with itself, and their cosines in its place."""
    c = Code(array(*shape, dtype=dtype))
    dot = DotGeneral((), (), (0,), (0,))

    def body(_: Value, x: Value) -> Values:
        product = c.b.op(Cosine(), c.b.op(dot, x, x))
        return [product if product.type == x.type else c.b.op(Broadcast(shape, ()), product)]

    return c.done(*c.for_(3, [c.params[0]], body))


def test_what_is_no_code_of_its_own_is_in_no_kernel() -> None:
    c = Code(array(COLUMNS))
    function = c.done(*c.for_(3, [c.params[0]], lambda i, x: [c.b.op(Sort(0), c.b.op(Cosine(), x))]))
    assert _kernels(outline_kernels(function)) == []
    assert _kernels(outline_kernels(_norms(FLOAT64, 16, 16))) == []
    assert _kernels(outline_kernels(_norms(FLOAT32, 200))) == []


def test_an_inner_product_of_float64_is() -> None:
    made = outline_kernels(_norms(FLOAT64, 200))
    assert len(_kernels(made)) == 1
    arguments = [np.linspace(0.0, 1.0, 200)]
    np.testing.assert_allclose(run(made, arguments)[0], interpret(made, arguments)[0])


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_xla_may_find_that_nothing_of_it_is_needed(trips: int) -> None:
    """A loop that overwrites all that it is given, under a condition that XLA knows: no parameter has a use."""
    c = Code(array(200))

    def body(i: Value, x: Value) -> Values:
        never = c.b.op(Select(), c.compare("LT", i, i), c.load(x, 0), c.value(2.0, x.type.dtype))
        return [c.b.op(Cosine(), c.b.op(Broadcast((200,), ()), never))]

    made = outline_kernels(c.done(*c.for_(trips, [c.params[0]], body)))
    assert len(_kernels(made)) == 1
    (found,) = run(made, [np.zeros(200)])
    np.testing.assert_allclose(found, np.full(200, np.cos(2.0)) if trips else np.zeros(200))
