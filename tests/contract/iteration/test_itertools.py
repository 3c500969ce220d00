"""Functions of `itertools` over ranges whose bounds are arguments."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from checking import check

X = np.arange(5.0)


def products_and_subsets(x, n):
    total = sum(x[i] * x[j] for i, j in itertools.product(range(n), range(1, n)))
    for i, j in itertools.combinations(range(n), 2):
        total -= x[i] / (1 + x[j])
    return total, list(itertools.permutations(range(n)))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_the_bounds_are_demanded(n):
    check(products_and_subsets, X, n)


def test_bounds_that_the_program_computes_are_refused():
    def program(x):
        return list(itertools.combinations(range(int(x[1])), 2))

    check(program, X, refused="PS401")


def caught(x, call):
    try:
        return list(call(list(x)))
    except (TypeError, ValueError) as error:
        return type(error).__name__


@pytest.mark.parametrize(
    "call",
    [
        lambda xs: itertools.combinations(xs, -2),
        lambda xs: itertools.permutations(xs, "a"),
        lambda xs: itertools.combinations_with_replacement(xs, None),
        lambda xs: itertools.combinations(xs),
        lambda xs: itertools.product(xs, repeat=-1),
        lambda xs: itertools.islice(xs, -1),
        lambda xs: itertools.islice(xs, 0, 3, 0),
    ],
    ids=["negative", "text", "nothing", "missing", "repeat", "stop", "step"],
)
def test_the_program_catches_what_wrong_arguments_raise(call):
    check(caught, X, call)
