"""Lists of many numbers enter a program as arrays, and nobody sees that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler.hlo.interpret import interpret
from pystage.compiler.hlo.walk import kinds
from pystage.compiler.ops import Concatenate, Slice, While
from pystage.compiler.passes.boundary_vectors import with_vectors
from pystage.runtime.arguments.flatten import Flattener
from pystage.runtime.arguments.packing import Pack, groups_of, operands_of
from tests.checking import check

N = 40
FEW = 20
"""Elements of a list that does not enter as rows (`test_columns.py`)."""
MIXED = [[4 * i + j if (i + j) % 2 else i + j / 2 for j in range(4)] for i in range(10)]


def at_computed_places(xs, ys):
    total = 0
    for i in range(len(xs)):
        total += xs[i] * ys[xs[i] % len(ys)]
    return total, xs


def edges(rows):
    total, last = 0.0, 0
    for source, target, weight in rows:
        total += weight * source
        last = max(last, target)
    return total, last


def products(rows):
    return sum(row[0] * row[1] for row in rows), rows[3][1]


def walk(neighbours):
    total, node = 0.0, 1
    for i in range(len(neighbours)):
        for _, weight in neighbours[node]:
            total += weight * i
        node = (node * 5 + 1) % len(neighbours)
    return total, node


def transposed(rows):
    return [list(column) for column in zip(*rows)], np.array(rows)


def cells(rows):
    total = 0.0
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            total += rows[i][j] * (i - j)
    return total, rows[2], [row[-1] for row in rows]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (transposed, (MIXED,)),
        (cells, ([[i + j / 8 for j in range(N)] for i in range(N)],)),
        (cells, ([[i * j if i % 2 else i + j / 8 for j in range(N)] for i in range(N)],)),
        (at_computed_places, (list(range(N)), [float(i) for i in range(N)])),
        (at_computed_places, (list(range(N)), [2.0] * (N - 1) + [3])),
        (at_computed_places, ([True] * N, [1] * N)),
        (edges, ([(i, i * i, i / 2) for i in range(N)],)),
        (edges, ([(i, i * i, i) for i in range(N)],)),
        (walk, ([[((i * j) % N, j / 2) for j in range(4)] for i in range(N)],)),
        (walk, ([[((i * j) % N, j / 2) for j in range(1 + i % 4)] for i in range(N)],)),
    ],
)
def test_the_plain_and_the_staged_run_agree(function: Any, args: tuple[Any, ...]) -> None:
    check(function, *args)


def test_other_types_in_later_calls() -> None:
    compiled = pystage.compile(at_computed_places)
    for ys in ([1.0] * N, [1] * N, [1.0] * 20 + [1] * 20, [True] * N):
        assert compiled(list(range(N)), ys) == at_computed_places(list(range(N)), ys)


@pytest.mark.parametrize("rows", [MIXED, [[float(i), i] for i in range(N)]])
def test_a_program_compiled_ahead_of_time_takes_lists(rows: Any) -> None:
    compiled = pystage.compile(products).lower(rows).compile()
    assert compiled(rows) == products(rows)


def test_a_number_that_is_too_large_is_told_of_itself() -> None:
    with pytest.raises(pystage.StagingError, match="xs\\[3\\]"):
        pystage.compile(at_computed_places)([1, 2, 3, 1 << 70] + [0] * N, [1] * N)


@pytest.mark.parametrize(
    ("paths", "groups"),
    [
        ([f"xs[{i}]" for i in range(N)], [Pack(0, N, 1)]),
        ([f"xs[{i}]" for i in range(31)], []),
        (
            [f"xs[{i}]" for i in range(N)] + [f"ys[{i}]" for i in range(N)],
            [Pack(0, N, 1), Pack(N, 2 * N, 1)],
        ),
        (["n", *[f"rows[{i}][{j}]" for i in range(N) for j in range(3)]], [Pack(1, 1 + 3 * N, 3)]),
        ([f"rows[{i}][{j}]" for i in range(30) for j in range(i % 2 + 1)], []),
        ([f"model.x{i}" for i in range(N)], []),
        ([f"a[{i}][{j}][{k}]" for i in range(N) for j in range(3) for k in range(2)], [Pack(0, 6 * N, 6)]),
        (
            [f"a[{i}][{j}][{k}]" for i in range(N) for j in range(i % 3 + 1) for k in range(2)],
            [Pack(0, 2 * sum(i % 3 + 1 for i in range(N)), 2)],
        ),
        (
            [*[f"a[0][{i}]" for i in range(N)], "a[1][0]", *[f"b[{i}][0][0]" for i in range(N)]],
            [Pack(0, N, 1), Pack(N + 1, 2 * N + 1, 1)],
        ),
    ],
)
def test_groups(paths: list[str], groups: list[Pack]) -> None:
    assert groups_of(paths) == groups


def test_a_column_of_numbers_of_several_types_is_passed_one_by_one() -> None:
    vector = np.array([1.0, 2.0])
    found = list(operands_of(["x", [("a", "c"), vector], "y"], [Pack(1, 5, 2)]))
    assert found == [("x", 0), ("a", 1), ("c", 3), (vector, range(2, 5, 2)), ("y", 5)]


def test_a_list_that_is_read_at_computed_places_is_not_joined() -> None:
    """XLA joins thousands of elements in quadratic time."""
    function = pystage.compile(at_computed_places).staged(list(range(FEW)), [1.0] * FEW).function
    assert Concatenate in kinds(function)
    made = with_vectors(function, [range(FEW), range(FEW, 2 * FEW)])
    assert Concatenate not in kinds(made.function) and made.kept == (0, 1)
    xs, ys = np.arange(FEW), np.linspace(0.0, 1.0, FEW)
    apart, joined = interpret(function, [*xs, *ys]), interpret(made.function, [xs, ys])
    assert all(map(np.array_equal, apart, joined))


def test_only_consecutive_elements_are_a_slice() -> None:
    function = pystage.compile(lambda xs: np.array([*xs[3:9], xs[0], *xs[:3]])).staged([1.0] * 9).function
    made = with_vectors(function, [[*range(9)]])
    (found,) = interpret(made.function, [np.arange(9.0)])
    assert found.tolist() == [3, 4, 5, 6, 7, 8, 0, 0, 1, 2]
    assert [len(op.operands) for op in made.function.body.walk() if isinstance(op.kind, Concatenate)] == [3]


def nested(xs):
    found = 0
    for i in range(len(xs)):
        j = i
        while j < len(xs) and xs[j] == xs[i]:
            j += 1
        found += j
    return found


def test_a_list_is_concatenated_before_the_loops_that_read_it() -> None:
    function = pystage.compile(nested).staged(list(range(FEW))).function
    assert {While, Concatenate} <= kinds(function)
    assert [op.kind for op in function.body.ops if isinstance(op.kind, Concatenate)]
    assert not [
        op
        for loop in function.body.ops
        if isinstance(loop.kind, While)
        for region in loop.regions
        for op in region.walk()
        if isinstance(op.kind, Concatenate)
    ]
    check(nested, [1, 1, 2, 2, 2, 3, 4, 4, 5])


def test_a_column_of_long_rows_is_one_slice() -> None:
    function = (
        pystage.compile(cells).staged([[float(i + j) for j in range(FEW)] for i in range(FEW)]).function
    )
    assert len(function.param_types) == FEW * FEW
    made = with_vectors(function, [range(i * FEW, (i + 1) * FEW) for i in range(FEW)]).function
    (joined, *others) = [op for op in made.body.ops if isinstance(op.kind, Concatenate)]
    assert list(joined.operands) == list(made.body.params)
    assert sum(isinstance(op.kind, Slice) for op in made.body.ops) < 3 * FEW
    assert all(len(op.operands) <= FEW for op in others)


STRUCTURES = [
    ([(1, 2), (3, 4)], (5, 6)),
    ([(1, 2), (3, 4), (5, 6)],),
    ([(1, 2), (3, 4)], 5, 6),
    ([(1, 2), (3, 4.0)], (5, 6)),
    ([(1, 2.0), (3, 4.0)], (5, 6)),
    ([[1, 2], [3, 4]], (5, 6)),
    ([(1, 2), [3, 4]], (5, 6)),
    ([(1, 2), (3,)], (5, 6)),
    ([(1, 2, 3), (4, 5, 6)], (5, 6)),
    ([(True, 2), (3, 4)], (5, 6)),
    ([(1, 2), ((3, 4),)], (5, 6)),
    ([(1, 2, 3, 4)], (5, 6)),
    ([(), ()], (5, 6)),
]


def test_rows_of_equal_types_are_one_layout() -> None:
    """So a long list of them is found as fast as a short one; and nothing else is taken for it."""
    flattener = Flattener()
    first, shapes = [[flattener.flatten(tuple, (), given)[0] for given in STRUCTURES] for _ in range(2)]
    assert first == shapes
    assert len(set(shapes)) == len(STRUCTURES)
    many = ([[i, i] for i in range(1000)], (5, 6))
    for _ in range(2):
        shape, leaves = flattener.flatten(tuple, (), many)
    assert len(shape) == len(shapes[0])
    assert leaves == [*[i // 2 for i in range(2000)], 5, 6]


def test_rows_of_the_same_types_need_one_program() -> None:
    compiled = pystage.compile(products, tier="compiled", fallback="error")
    for offset in range(3):
        rows = [(i + offset, i / 2) for i in range(5)]
        assert compiled(rows) == products(rows)
    assert len(compiled.signatures()) == 1


def test_the_containers_are_those_of_a_walk() -> None:
    flattener = Flattener()
    inner, outer, other = [1, 2.0], [(1, 2), (3, 4)], {"a": [5]}
    for _ in range(2):
        found = flattener.containers(([inner, inner], outer, other, 3, ((1,), (2,)), [[inner]]))
    expected = [[inner, inner], inner, inner, outer, other, other["a"], [[inner]], [inner], inner]
    assert found == expected
    assert found[1] is inner and found[-1] is inner
