"""Loops: `while`, `for` over ranges, arrays and structure, `break`, `continue`, `else`."""

from __future__ import annotations

import numpy as np
import pytest
from checking import Cases, check

cases = Cases()


# ---------------------------------------------------------------- while


@cases.each((2.0, 1e-9), (0.25, 1e-9), (1.0, 1.0))
def newton(a, tol):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@cases.each((7,), (1,), (27,))
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@cases.each((48, 36), (17, 5), (0, 4))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@cases.each((10,), (0,))
def while_true_break(n):
    i = 0
    while True:
        if i * 3 >= n:
            break
        i += 1
    return i


@cases.each((12,), (3,))
def while_continue(n):
    i = total = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        total += i
    return total


@cases.each((5, 3), (5, 9), (0, 0))
def while_else(n, stop):
    i = 0
    while i < n:
        if i == stop:
            break
        i += 1
    else:
        i = 100
    return i


@cases.each((20,), (2,))
def while_condition_with_and(n):
    a, b, i = 1.0, 1.0, 0
    while i < n and b < 100.0:
        a, b = b, a + b
        i += 1
    return a, b, i


@cases.each((6.0,), (0.5,))
def while_with_walrus(x):
    count = 0
    while (x := x / 2) > 1.0:
        count += 1
    return x, count


@cases(np.array([4.0, 9.0, 2.0]))
def while_on_array_reduction(x):
    rounds = 0
    while np.max(x) > 1.0:
        x = x / 2
        rounds += 1
    return x, rounds


@cases.each((0,), (4,))
def while_false_never_runs(n):
    while False:
        n = n + 1
    return n


# ---------------------------------------------------------------- for over range


@cases.each((5,), (0,), (1,))
def sum_range(n):
    total = 0
    for i in range(n):
        total += i
    return total


@cases.each((2, 9, 3), (9, 2, -2), (3, 3, 1), (0, -5, -1))
def range_with_start_and_step(start, stop, step):
    total = last = 0
    for i in range(start, stop, step):
        total += i
        last = i
    return total, last


@cases(4)
def range_literal_bounds(x):
    for i in range(3, 20, 4):
        x = x * 2 + i
    return x


@cases.each((5,), (30,))
def for_break(n):
    total, i = 0, -1
    for i in range(n):
        if total > 20:
            break
        total += i
    return total, i


@cases.each((10,), (1,))
def for_continue(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total += i
    return total


@cases.each((10, 5), (10, 50))
def for_else(n, wanted):
    for i in range(n):
        if i == wanted:
            found = i
            break
    else:
        found = -1
    return found


@cases.each((8,), (2,))
def break_and_continue(n):
    total = 0
    for i in range(100):
        if i == 3:
            continue
        if i > n:
            break
        total = total * 2 + i
    return total


@cases.each((4, 3), (1, 0))
def nested_for(n, m):
    total = 0
    for i in range(n):
        for j in range(m):
            total += i * 10 + j
    return total


@cases.each((6,), (2,))
def triangular_for(n):
    total = 0
    for i in range(n):
        for j in range(i, n):
            if (i + j) % 3 == 0:
                continue
            total += i * j
    return total


@cases.each((6, 4), (6, 40))
def inner_break_outer_continue(n, limit):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        for j in range(n):
            if i * j > limit:
                break
            total += j
        else:
            total += 1000
    return total


@cases.each((30,), (3,))
def primes(n):
    count = 0
    for p in range(2, n):
        for q in range(2, p):
            if p % q == 0:
                break
        else:
            count += 1
    return count


@cases.each((5,), (2,))
def loop_variable_reassigned(n):
    total = 0
    for i in range(n):
        i = i * 2
        total += i
    return total


@cases.each((4,), (9,))
def while_inside_for(n):
    total = 0
    for i in range(n):
        k = i
        while k > 0:
            total += k % 2
            k //= 2
    return total


@cases.each((3,), (5,))
def branch_inside_loop_binds_late(n):
    best = -1.0
    where = 0
    for i in range(n):
        value = (i * 7 % 5) * 1.5
        if value > best:
            best = value
            where = i
    return best, where


@cases(3)
def accumulator_widens_to_float(n):
    total = 0
    for i in range(n):
        total += i * 0.5
    return total


@cases(np.array([1.0, 2.0, 3.0], np.float32))
def accumulator_takes_the_form_of_elements(xs):
    total = 0
    for i in range(len(xs)):
        total += xs[i]
    return total


@cases(np.array([3.0, 1.0, 2.0]))
def first_iteration_differs(xs):
    previous = None
    changes = 0.0
    for x in xs:
        if previous is not None:
            changes += abs(x - previous)
        previous = x
    return changes


@cases(10)
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@cases.each((5,), (2,))
def loop_variable_after_a_loop_of_known_length(n):
    for i in range(4):
        n += i
    return n, i


@cases.each((5,), (1,))
def loop_variable_after_a_loop_over_an_argument(n):
    for i in range(n):
        pass
    return i


@cases.each((50_000_000, 3.0), (2, 3.0))
def long_loops_can_be_left_early(n, x):
    i = 0
    for i in range(n):
        x = x + 1.0
        if x > 6.0:
            break
    return x, i


# ---------------------------------------------------------------- for over other things


@cases(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
def for_over_rows(matrix):
    total = np.zeros(2)
    for row in matrix:
        total = total + row * row
    return total


@cases(2.0)
def for_over_tuple(x):
    for factor in (1.0, 2, 0.5):
        x = x * factor + 1
    return x


@cases(np.array([1.0, 2.0]), [3.0, np.float32(2.0), 5])
def for_over_list_of_kinds(x, items):
    for item in items:
        x = x + item
    return x


@cases(1.5)
def for_over_string(x):
    count = 0
    for letter in "hello":
        if letter == "l":
            count += 1
    return x * count


@cases({"a": 1.0, "b": 2.5})
def for_over_dict(d):
    total, names = 0.0, ""
    for key in d:
        total += d[key]
        names += key
    for key, value in d.items():
        total += len(key) * value
    return total, names, sum(d.values())


@cases(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
def for_over_zip_of_arrays(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y
    return total


@cases(np.array([5.0, 7.0, 9.0]))
def for_over_enumerate(xs):
    total = 0.0
    for i, x in enumerate(xs):
        total += i * x
    for i, name in enumerate(("a", "bb"), start=1):
        total += i * len(name)
    return total


@cases((1.0, 2.0), (3.0, 4.0))
def for_over_zip_of_tuples(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y
    return total


@cases([(1.0, (2.0, 3.0)), (4.0, (5.0, 6.0))])
def for_target_is_a_pattern(items):
    total = 0.0
    for a, (b, c) in items:
        total += a * b - c
    return total


@cases([1.0, 2.0, 3.0])
def for_over_reversed_and_slices(items):
    total = 0.0
    for weight, item in enumerate(reversed(items)):
        total += weight * item
    for item in items[1:]:
        total *= item
    return total


@cases(4)
def for_over_reversed_range(n):
    value = 0
    for i in reversed(range(n)):
        value = value * 10 + i
    return value


@cases.each((2.0,), (7.0,))
def break_while_unrolling(x):
    for limit in (1.0, 5.0, 10.0):
        if x < limit:
            break
    else:
        limit = -1.0
    return limit, x


@cases.each(((1, 2, 3), 2.0), ((), 2.0))
def for_over_possibly_empty_structure(items, x):
    for item in items:
        x = x + item
    else:
        x = x * 2
    return x


@cases(3.0)
def unrolling_over_index_of_structure(x):
    layers = (2.0, x, "skip", 4.0)
    for i in range(len(layers)):
        if layers[i] == "skip":
            continue
        x = x + layers[i]
    return x


# ---------------------------------------------------------------- ranges whose step the program computes


@cases.each((3,), (17,), (0,))
def for_over_a_range_of_a_growing_step(n):
    seen = np.zeros(4, dtype=np.int64)
    step = 1
    while step < 9:
        for i in range(0, n, step):
            seen[i % 4] += step
        step *= 2
    return seen


@cases.each((3,), (17,), (0,))
def for_over_a_range_of_a_negative_step(n):
    total = 0
    step = 1
    while step < 9:
        for i in range(n, -2, -step):
            total = 3 * total % 1001 + i
        total += len(range(n, -3, -step))
        step += 3
    return total


@cases.each((3, 2), (17, -3), (5, 7))
def for_over_a_range_of_a_step_that_is_an_argument(n, step):
    total = 0
    for i in range(0, n, step):
        total += i
    return total, len(range(n, 0, step))


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)
