"""A store of a row of which only a part differs becomes a store of that part, with the same result at any indices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from checking import check

from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.ir import Function
from pystage.compiler.hlo.types import BOOL, ArrayType
from pystage.compiler.hlo.verify import verify
from pystage.compiler.ops import Broadcast, DynamicSlice, DynamicUpdateSlice, Reshape, Select
from pystage.compiler.passes.simplify import simplify
from pystage.compiler.passes.store_narrowing import narrow_stores

from .programs import INDEX, Code, array

ROWS, COLUMNS = 5, 7
PLACES = [-3, 0, 2, 4, 6, 9]


def _row_with_a_store(masked: bool, block: int = 1, other_row: bool = False) -> Function:
    """`a[i, j] = x`, as inference builds it for a list in a list: by the row `a[i]`, under a condition if `masked`."""
    c = Code(array(ROWS, COLUMNS), INDEX, INDEX, ArrayType(BOOL))
    a, i, j, holds = c.params
    zero = c.value(0)
    before = c.b.op(DynamicSlice((block, COLUMNS)), a, i, zero)
    part = c.b.op(Reshape((1,)), c.b.op(Reshape(()), c.b.op(DynamicSlice((1, 1)), a, zero, zero)))
    if block == 1:
        row = c.b.op(Reshape((COLUMNS,)), before)
        after = c.b.op(Reshape((1, COLUMNS)), c.b.op(DynamicUpdateSlice(), row, part, j))
    else:
        after = c.b.op(DynamicUpdateSlice(), before, c.b.op(Reshape((1, 1)), part), j, i)
    if masked:
        after = c.b.op(Select(), c.b.op(Broadcast((block, COLUMNS), ()), holds), after, before)
    stored = c.b.op(DynamicUpdateSlice(), a, after, c.add(i, 1) if other_row else i, zero)
    return c.done(stored, holds)


def _stored(function: Function) -> list[tuple[int, ...]]:
    """The shapes of what is stored."""
    return [
        op.operands[1].type.shape for op in function.body.walk() if isinstance(op.kind, DynamicUpdateSlice)
    ]


def _check_equal(before: Function, after: Function) -> None:
    verify(after)
    x = np.arange(1.0, 1.0 + ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    for i, j, holds in itertools.product(PLACES, PLACES, [False, True]):
        args = [x, np.asarray(i), np.asarray(j), np.asarray(holds)]
        np.testing.assert_array_equal(interpret(before, args)[0], interpret(after, args)[0])


@pytest.mark.parametrize("masked", [False, True])
def test_one_element_is_stored(masked: bool) -> None:
    function = _row_with_a_store(masked)
    narrowed = simplify(narrow_stores(simplify(function).function)).function
    assert _stored(narrowed) == [(1, 1)]
    _check_equal(function, narrowed)


@pytest.mark.parametrize("options", [{"block": 2}, {"other_row": True}])
def test_other_stores_stay(options: dict[str, int]) -> None:
    function = _row_with_a_store(True, **options)
    narrowed = simplify(narrow_stores(simplify(function).function)).function
    assert (1, 1) not in _stored(narrowed)[-1:]
    _check_equal(function, narrowed)


def test_a_row_that_becomes_a_column_is_written_whole() -> None:
    def f(a: np.ndarray, i: int, k: int, v: float) -> np.ndarray:
        row = a[i, 0].copy()
        row[k] = v
        a[i, :, 0] = row
        return a

    check(f, np.arange(48.0).reshape(3, 4, 4), 2, 3, -1.0)
