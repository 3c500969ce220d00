"""What inference of recursive structures and functions costs, in counts: it ends soon, staged or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler import limits
from pystage.compiler.infer.calls import callee_inference
from pystage.compiler.infer.control.join import Join
from pystage.compiler.infer.state import merged
from tests.checking import check

from .engines import Watch


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None
        self.height = 1


def insert(root, key):
    if root is None:
        return Node(key)
    if key < root.key:
        root.left = insert(root.left, key)
    else:
        root.right = insert(root.right, key)
    return root


def total(node):
    return 0.0 if node is None else node.key + total(node.left) + total(node.right)


def tree_of(keys):
    root = None
    for key in keys:
        root = insert(root, key)
    return total(root), root.key


def grow(root, keys):
    for key in keys:
        node = root
        while node.key != key:
            if key < node.key:
                if node.left is None:
                    node.left = Node(key)
                node = node.left
            else:
                if node.right is None:
                    node.right = Node(key)
                node = node.right
    return total(root)


def height(node):
    return 0 if node is None else node.height


def rotated(node):
    below = node.left
    node.left, below.right = below.right, node
    node.height = 1 + max(height(node.left), height(node.right))
    below.height = 1 + max(height(below.left), height(below.right))
    return below


def insert_balanced(root, key):
    if root is None:
        return Node(key)
    if key < root.key:
        root.left = insert_balanced(root.left, key)
    else:
        root.right = insert_balanced(root.right, key)
    root.height = 1 + max(height(root.left), height(root.right))
    return rotated(root) if height(root.left) > height(root.right) + 1 else root


def balanced(keys):
    root = None
    for key in keys:
        root = insert_balanced(root, key)
    return root.height


def sort(x):
    if len(x) <= 1:
        return x
    return [*sort([v for v in x[1:] if v < x[0]]), x[0], *sort([v for v in x[1:] if v >= x[0]])]


def sorted_list(x):
    return sort(list(x))


@pytest.fixture
def counted(monkeypatch: Any) -> Iterator[Counter[str]]:
    """How many cells are joined, pairs of cells compared, and calls inferred."""
    counts: Counter[str] = Counter()
    for name, owner, method in (
        ("cells", Join, "cell"),
        ("pairs", merged.AliasPairs, "_no_alias"),
        ("calls", callee_inference.CalleeInference, "infer"),
    ):
        plain = getattr(owner, method)

        def counting(*args: Any, name: str = name, plain: Any = plain) -> Any:
            counts[name] += 1
            return plain(*args)

        monkeypatch.setattr(owner, method, counting)
    yield counts


def test_a_tree_from_few_numbers_is_written_out() -> None:
    watch = Watch(tree_of, np.array([2.0, 1.0]))
    assert watch.engines[-1].effort.steps < 12_000
    check(tree_of, np.array([2.0, 1.0]), interpreted=False)


@pytest.mark.parametrize("program", [tree_of, balanced])
def test_a_tree_that_gets_ever_deeper_is_refused_within_the_limit(
    program: Any, counted: Counter[str], monkeypatch: Any
) -> None:
    """What is done for each of the objects that may be one counts as steps."""
    monkeypatch.setattr(pystage.config, "program_limit", 4.0)
    Watch(program, np.arange(9.0), refused="PS404|PS602")
    assert counted["cells"] < 4_000 and counted["pairs"] < 160_000


def test_a_loop_that_deepens_a_structure_in_each_trip_is_refused(counted: Counter[str]) -> None:
    with pytest.raises(pystage.StagingError, match=r"PS305|PS404"):
        pystage.compile(grow).lower(Node(1.0), np.arange(1_000.0))
    assert counted["cells"] < 20_000


def test_a_recursion_that_is_too_deep_is_not_gone_into_again(counted: Counter[str]) -> None:
    Watch(sorted_list, np.array([3.0, 1.0, 2.0]), refused="PS602")
    assert counted["calls"] < 200


def q(row, n):
    if row == n:
        return 1
    t = 0
    for _ in range(n):
        t += q(row + 1, n)
    return t


def counted_calls(x):
    return [q(0, n) for n in range(3)]


def p(row, n, c):
    if row == n:
        return 1
    t, free = 0, n - c
    while free:
        free -= 1
        t += p(row + 1, n, free)
    return t


def calls_while_free(x):
    t = 0
    for n in range(1, 4):
        t += p(0, n, 0)
    return t


def place(n, row, cols, d1, d2):
    if row == n:
        return 1
    total = 0
    free = ~(cols | d1 | d2) & ((1 << n) - 1)
    while free:
        bit = free & -free
        free ^= bit
        total += place(n, row + 1, cols | bit, (d1 | bit) << 1, (d2 | bit) >> 1)
    return total


def queens(x):
    return [place(n, 0, 0, 0, 0) for n in range(1, 3)]


@pytest.mark.parametrize("program", [counted_calls, calls_while_free, queens])
def test_a_recursion_of_a_loop_that_only_the_run_time_ends_is_given_up_at_once(
    program: Any, counted: Counter[str]
) -> None:
    watch = Watch(program, 1.0, refused="PS602")
    assert counted["calls"] < 200
    assert watch.engines[-1].effort.steps < 20_000


def test_what_nests_deeper_than_pythons_stack_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr("pystage.compiler.recursion.FRAMES", 0)

    def descend(n):
        return 0 if n == 0 else 1 + descend(n - 1)

    with pytest.raises(pystage.StagingError, match="PS106"):
        pystage.compile(lambda x: x + descend(300)).lower(1.0)


def halved(xs: list[float]) -> list[float]:
    return xs if len(xs) < 2 else halved(xs[: len(xs) // 2]) + halved(xs[len(xs) // 2 :])


def test_a_program_that_recursion_makes_too_large_says_so(monkeypatch: Any) -> None:
    monkeypatch.setattr(pystage.config, "program_limit", 0.1)
    compiled = pystage.compile(lambda xs: [x * 2.0 for x in halved(xs)], fallback="error")
    with pytest.raises(
        pystage.StagingError, match=r"PS404(?s:.)*recursion: `halved` calls itself, and 7 calls"
    ):
        compiled([float(i) for i in range(30)])


def incremented(x):
    return x + 1.0


def ever_deeper(x, n):
    return ever_deeper(incremented(x), n + 1)


def test_a_function_called_where_the_recursion_around_it_is_too_deep_is_not_to_blame() -> None:
    Watch(lambda x: ever_deeper(x, 0), 1.0, refused="the recursion of ever_deeper does not end")


def full(depth, key):
    node = Node(key)
    if depth:
        node.left, node.right = full(depth - 1, 2.0 * key), full(depth - 1, 2.0 * key + 1.0)
    return node


def nearest(x):
    seen = []

    def visit(node):
        if node is None:
            return
        seen.append(abs(node.key - x))
        near, far = (node.left, node.right) if x < node.key else (node.right, node.left)
        visit(near)
        if min(seen) > 1.0:
            visit(far)

    visit(full(5, 1.0))
    return min(seen)


def test_a_recursion_into_one_of_several_objects_is_given_up_soon() -> None:
    watch = Watch(nearest, 3.0, refused="PS602")
    assert watch.engines[-1].effort.steps < 40_000


def partitioned(xs, left, right):
    if right <= left:
        return
    middle = left
    while middle < right and xs[middle] < 3.0:
        middle += 1
    partitioned(xs, left, middle - 1)
    partitioned(xs, middle + 1, right)


def test_a_recursion_of_the_program_itself_is_given_up_with_a_refusal() -> None:
    Watch(partitioned, [float(i) for i in range(7)], 0, 6, refused="PS602")


def nearest_of_each(xs):
    return [nearest(x) for x in xs]


def test_a_recursion_that_was_given_up_is_given_up_sooner_in_another_pass() -> None:
    once = Watch(nearest, 3.0, refused="PS602").engines[-1].effort.steps
    assert Watch(nearest_of_each, np.arange(20.0), refused="PS602").engines[-1].effort.steps < 3 * once


def descended(xs):
    root = full(8, 1.0)
    for x in xs:
        node = root
        while node.left is not None:
            node = node.left if x < node.key else node.right
        root.height += node.key
    return root.height


def test_a_loop_whose_passes_take_longer_and_longer_is_refused() -> None:
    watch = Watch(descended, np.arange(20.0), refused="PS404")
    assert watch.engines[-1].effort.steps < 100_000


def refused_before(xs):
    key = input("?")
    return descended(xs), key


def test_behind_what_is_refused_for_certain_a_program_is_inferred_for_so_many_steps() -> None:
    watch = Watch(refused_before, np.arange(20.0), refused="PS601")
    assert watch.engines[-1].effort.steps < limits.STEPS_AFTER_A_REFUSAL + 1_000


def counted_in(node, x):
    if x[node.height % 5] > 0.5:
        return node.height
    node.height += len(np.flatnonzero(x > 0.5))
    return counted_in(node, x)


def test_a_recursion_whose_numbers_may_only_be_more_is_given_up_at_once(counted: Counter[str]) -> None:
    Watch(lambda x: counted_in(Node(1.0), x), np.ones(5), refused="PS602")
    assert counted["calls"] < 6


def reached(links, x):
    found, best = [], 0.0

    def visit(node):
        nonlocal best
        if node is None or len(found) > 20:
            return
        found.append(node.key)
        best = max(best, node.key)
        visit(node.left if links[len(found)] else node.right)

    visit(full(4, 1.0))
    return np.array(found) == x, np.array([best] * len(found)) + x


def test_what_a_recursion_may_have_changed_is_unknown_behind_it() -> None:
    """That the list is as long as before would be another refusal: its length is not that of `x`."""
    compiled = pystage.compile(reached, fallback="error")
    with pytest.raises(pystage.StagingError) as caught:
        compiled(np.ones(30, bool), np.arange(120.0))
    assert [each.code for each in caught.value.diagnostics] == ["PS602"]


def each_appended(xs, y):
    found = []
    for x in xs:
        found.append(ever_deeper(x, 0))
    return np.array(found) == y


def test_what_a_refused_loop_stores_into_is_unknown_behind_it() -> None:
    compiled = pystage.compile(each_appended, fallback="error")
    with pytest.raises(pystage.StagingError) as caught:
        compiled(np.arange(3.0), np.arange(120.0))
    assert [each.code for each in caught.value.diagnostics] == ["PS602"]
