"""What XLA sees through calls and loops, it simplifies; results keep the signs of zeros, NaN and what was rounded."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
from checking import check

import pystage
from pystage.compiler.passes.computed_constants import _ConstantFolding

NEGATIVE_ZEROS = -np.zeros(3)


def line(a, b):
    return a + b


def chain(a, b):
    return (a + b) - b


def boltzmann(x):
    return np.exp(-x)


def sums_in_a_function(x):
    c = np.zeros(3)
    return line(x, c), line(c, x)


def differences_in_a_function(x):
    return chain(x, np.full(3, 1e16)), chain(x, np.ones(3))


def sum_in_a_loop_of_one_trip(x):
    t, total = 0.0, np.zeros(3)
    while t < 1.0:
        total = total + x
        t += 1.0
    return total


def sum_with_what_no_trip_changes(x):
    zeros = np.zeros(3)
    for _ in range(int(x.size)):
        same = zeros * 1.0
        x = x + same
        zeros = same
    return x


def difference_in_a_loop_of_one_trip(x):
    t, y = 0.0, x + 1e16
    while t < 1.0:
        y = y - 1e16
        t += 1.0
    return y


@pytest.mark.parametrize(
    "function", [sums_in_a_function, sum_in_a_loop_of_one_trip, sum_with_what_no_trip_changes]
)
def test_constants_through_calls_and_loops_keep_the_sign_of_zeros(function):
    check(function, NEGATIVE_ZEROS, zeros=True)


@pytest.mark.parametrize("function", [differences_in_a_function, difference_in_a_loop_of_one_trip])
def test_constants_through_calls_and_loops_are_not_combined(function):
    check(function, np.array([47.0, 48.0, 3.3e-3]))


def ratio(x, y):
    return boltzmann(x) / boltzmann(y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exponentials_of_two_calls_are_divided_as_they_are():
    check(ratio, np.array([1e3, -1e3, 1.0]), np.array([1001.0, -1001.0, 2.0]))


def nested_quotients(x, y):
    return (0.0 / x) / (x * y), (1.0 / x) / (np.ones(1) / y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quotients_of_constants_are_divided_one_after_the_other():
    check(nested_quotients, np.array([1e-200, 1e200, 2.0]), np.array([1e-50, 1e150, 3.0]))


def itself(x):
    return x


def absolute(x):
    return np.abs(x)


def negated_twice(x):
    y = -x
    return -y


def transposed(x):
    return x.reshape(3, 1).T


def joined_again(x):
    return np.concatenate([x[:1], x[1:]])


def clipped(x):
    return np.minimum(x, np.inf)


def scaled(x):
    return x * 1.0


MOVED = [itself, absolute, negated_twice, transposed, joined_again, clipped, scaled]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("move", MOVED)
def test_functions_and_their_inverses_are_computed_one_after_the_other(move):
    def logarithms(x):
        return np.log(move(np.exp(x))), np.log(move(np.sqrt(np.exp(x)))), np.sqrt(move(x * x))

    def quotients(x, y):
        return move(np.exp(x)) / np.exp(y), move(x / y) / y, y / move(x / y), move(np.exp(x)) ** y[:1]

    check(logarithms, np.array([800.0, 1e200, -1e-200]))
    check(quotients, np.array([900.0, 1e-200, 1e200]), np.array([901.0, 1e200, 1e200]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("move", MOVED)
def test_constants_are_not_combined_across_what_moves_elements(move):
    def chains(x):
        return move(x * 1e200) * 1e-200, move(x + 1e16) - 1e16, move(x + np.full(3, 1e16)) - np.full(3, 1e16)

    check(chains, np.array([47.0, 1e200, 3.3e-3]))


LEAST = np.array([np.iinfo(np.int64).min, 3037000500, -7])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("x", [np.array([np.nan, -2.0, 0.0]), LEAST, LEAST.astype(np.int8)], ids=str)
def test_nan_and_integers_that_wrap_around_are_not_positive(x):
    def function(x):
        found, zero = [], 0
        for v in (np.abs(x), x * x, x**4, np.exp(x), np.maximum(x, 0), np.abs(x).reshape(3, 1)):
            found += [v >= 0, v < 0, zero <= v, zero > v, np.where(v < 0, -v, v)]
        return found

    check(function, x)


def nest(depth: int):
    """Loops in loops, each with a counter that starts at a constant and is carried through all of them."""
    lines = ["def nested(x, n):"]
    lines += [f"    c{i} = {i}.0" for i in range(depth)]
    for i in range(depth):
        lines += [
            f"{'    ' * (i + 1)}for i{i} in range(n):",
            f"{'    ' * (i + 2)}c{i} = c{i} + c{(i + 1) % depth}",
        ]
    lines.append(f"{'    ' * (depth + 1)}x = x + c0")
    source = "\n".join([*lines, "    return x"])
    name = f"<nest of {depth}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {}
    exec(compile(source, name, "exec"), scope)
    return scope["nested"]


def test_evaluating_nested_loops_takes_as_long_as_they_are(monkeypatch):
    evaluated = []
    results = _ConstantFolding._results
    monkeypatch.setattr(
        _ConstantFolding, "_results", lambda self, op: evaluated.append(op) or results(self, op)
    )
    counts = []
    for depth in (4, 8):
        evaluated.clear()
        pystage.compile(nest(depth), tier="compiled", fallback="error")(np.zeros(3), 1)
        counts.append(len(evaluated))
    assert counts[1] < 6 * counts[0], counts
