"""What inference of recursive structures and functions costs, in counts: it ends soon, staged or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pystage
from pystage.compiler.infer.aliases import merged
from pystage.compiler.infer.calls import inferring
from pystage.compiler.infer.core.join import Join
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
        ("calls", inferring.CalleeInference, "infer"),
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
    Watch(program, np.arange(9.0), refused="PS404")
    assert counted["cells"] < 4_000 and counted["pairs"] < 160_000


def test_a_loop_that_deepens_a_structure_in_each_trip_is_refused(counted: Counter[str]) -> None:
    with pytest.raises(pystage.StagingError, match=r"PS305|PS404"):
        pystage.compile(grow).lower(Node(1.0), np.arange(1_000.0))
    assert counted["cells"] < 20_000


def test_a_recursion_that_is_too_deep_is_not_gone_into_again(counted: Counter[str]) -> None:
    Watch(sorted_list, np.array([3.0, 1.0, 2.0]), refused="PS602")
    assert counted["calls"] < 200
