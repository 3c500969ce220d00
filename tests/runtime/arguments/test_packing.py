"""Lists of many numbers enter a program as arrays, and nobody sees that."""

from __future__ import annotations

from typing import Any

import pytest

import pystage
from pystage.compiler.hlo.walk import kinds
from pystage.compiler.ops import Concatenate, While
from pystage.compiler.values.boundary import Form
from pystage.runtime.arguments.packing import Pack, groups_of, unpacked
from tests.checking import check

N = 40


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


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (at_computed_places, (list(range(N)), [float(i) for i in range(N)])),
        (at_computed_places, (list(range(N)), [2.0] * (N - 1) + [3])),
        (at_computed_places, ([True] * N, [1] * N)),
        (edges, ([(i, i * i, i / 2) for i in range(N)],)),
        (edges, ([(i, i * i, i) for i in range(N)],)),
    ],
)
def test_the_plain_and_the_staged_run_agree(function: Any, args: tuple[Any, ...]) -> None:
    check(function, *args)


def test_other_types_in_later_calls() -> None:
    compiled = pystage.compile(at_computed_places)
    for ys in ([1.0] * N, [1] * N, [1.0] * 20 + [1] * 20, [True] * N):
        assert compiled(list(range(N)), ys) == at_computed_places(list(range(N)), ys)


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
    ],
)
def test_groups(paths: list[str], groups: list[Pack]) -> None:
    found = groups_of([Form.PYTHON] * len(paths), paths.__getitem__)
    assert found == groups


def test_what_is_packed_comes_apart_in_order() -> None:
    columns = [("a", "c"), ("b", "d")]
    assert unpacked(["x", columns, "y"], [Pack(1, 5, 2)]) == ["x", "a", "b", "c", "d", "y"]


def nested(xs):
    found = 0
    for i in range(len(xs)):
        j = i
        while j < len(xs) and xs[j] == xs[i]:
            j += 1
        found += j
    return found


def test_a_list_is_concatenated_before_the_loops_that_read_it() -> None:
    function = pystage.compile(nested).staged(list(range(N))).function
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
