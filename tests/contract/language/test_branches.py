"""Branches, and `return` from anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


# ---------------------------------------------------------------- branches


@cases.each((1.0,), (-1.0,), (0.0,))
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@cases.each((1.0,), (-1.0,))
def if_without_else(x):
    y = 3.0
    if x > 0:
        y = x
    return y


@cases.each((5.0,), (0.5,), (-0.5,), (-5.0,))
def elif_chain(x):
    if x > 1:
        kind = 1
    elif x > 0:
        kind = 2
    elif x > -1:
        kind = 3
    else:
        kind = 4
    return kind


@cases.each((2.0, 1.0), (1.0, 2.0), (-1.0, 2.0), (-1.0, -2.0))
def nested_branches(x, y):
    if x > 0:
        if y > x:
            z = x + y
        else:
            z = x - y
    else:
        z = -x
        if y < 0:
            z = z * y
    return z, x


@cases.each((1.0,), (-1.0,))
def branch_binds_several(x):
    a, b = 1.0, 2.0
    if x > 0:
        a, b = b, a
        c = a + x
    else:
        c = b
    return a, b, c


@cases.each((1,), (-1,))
def branch_on_number(n):
    if n + 1:
        return 10
    return 20


@cases.each((True, 2.0), (False, 2.0))
def branch_on_known_condition(flag, x):
    if flag:
        return x
    return "other"


@cases.each((np.array([1.0, 2.0]),), (np.array([-3.0, 1.0]),))
def branch_on_reduction(x):
    if x.sum() > 0:
        return x * 2
    return x * 3


@cases.each((0.5,), (-0.5,))
def unused_partial_binding(x):
    if x > 0:
        helper = x
        result = helper + 1.0
    else:
        result = 0.0
    return result


@cases.each((3,), (0,))
def branch_with_pass(n):
    if n > 1:
        pass
    else:
        n = n + 5
    return n


# ---------------------------------------------------------------- return anywhere


@cases.each((3.0,), (0.5,), (-1.0,))
def early_returns(x):
    if x > 1:
        return x
    y = x * x
    if y > 0.5:
        return y
    return y - x


@cases.each((4.0,), (-4.0,))
def return_in_both_arms(x):
    if x > 0:
        return x
    else:
        return -x


@cases.each((10, 3), (10, 50))
def return_in_for(n, wanted):
    for i in range(n):
        if i * i > wanted:
            return i
    return -1


@cases.each((3.0,), (1000.0,))
def return_in_while(x):
    steps = 0
    while x < 500.0:
        x = x * 2.0
        steps += 1
        if steps == 5:
            return x, steps
    return x, -steps


@cases.each((5, 12), (5, 100))
def return_in_nested_loops(n, target):
    for i in range(n):
        for j in range(n):
            if i * j == target:
                return i, j
    return -1, -1


@cases.each((np.array([1.0, -2.0, 3.0]),), (np.array([1.0, 2.0, 3.0]),))
def return_from_loop_over_array(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            return total
        total = total + x
    return total


# ---------------------------------------------------------------- operands of different kinds in a test


@cases.each((np.array([[0, 3], [2, 0]], np.uint8), 2), (np.zeros((2, 2), np.uint8), 3))
def an_element_and_a_comparison_decide(board, n):
    new = np.zeros_like(board)
    for i in range(2):
        for j in range(2):
            new[i, j] = 1 if n == 3 or (board[i, j] and n == 2) else 0
    return new


@cases.each((0, 2.0), (3, 0.0), (3, 2.0))
def operands_of_different_kinds_are_negated(n, x):
    if not (n and x):
        return 1.0
    while not (not n or x < -1.0):
        n, x = n - 1, x - 0.5
    return x


@cases.each((np.array([0.0, 2.0, 1.0]), 0), (np.array([2.0, 0.0, 1.0]), 1))
def a_test_stops_at_the_operand_that_decides(a, n):
    calls = np.zeros(3)

    def called(i):
        calls[i] += 1
        return a[i]

    if (called(0) or n) and (called(1) or called(2)):
        n += 5
    return n, calls


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
