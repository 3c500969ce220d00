"""Containers ask for identity before they ask for equality: one NaN equals itself there, another one does not."""

from __future__ import annotations

import math
from collections import deque, namedtuple
from dataclasses import dataclass

import numpy as np
import pystage
import pytest
from checking import Cases, Comparison, check, compare_runs, run_of

cases = Cases()
NAN = float("nan")
Point = namedtuple("Point", "x y")


@dataclass(order=True)
class Pair:
    x: float
    y: float


def compared(x, y):
    first, second = (x, 1), (y, 1)
    return first == second, first != second, first <= second, first < second, [first] == [second]


def searched(x, y):
    rows = [(2.0, 1), (x, 1)]
    return (y, 1) in rows, rows.count((y, 1)), x in [y, 2.0], [y].count(x), [r for r in rows if r != (y, 1)]


def found(x, y):
    return [2.0, x].index(y), [(2.0, 1), (x, 1)].index((y, 1))


def in_deques(x, y):
    return deque([x]) == deque([y]), y in deque([x]), deque([x]).count(y)


def in_dicts(x, y):
    return {"a": x} == {"a": y}, {"a": (x,)} == {"a": (y,)}, y in {"a": x}.values()


def in_classes(x, y):
    return Point(x, 1) == Point(y, 1), Pair(x, 1.0) <= Pair(y, 1.0), Pair(x, 1.0) == Pair(y, 1.0)


def ordered(x, y):
    return max((x, 1), (y, 2)), min([(x, 2), (y, 1)]), ((x, 1), 2) < ((y, 1), 3)


def iterated(x, y):
    return x in (each for each in [y, 1.0])


def by_path(x, y):
    row = (x, 1) if y > 0 else (y, 1)
    return row == (x, 1)


PROGRAMS = [compared, searched, found, in_deques, in_dicts, in_classes, ordered, iterated, by_path]
NUMBERS = [(NAN, NAN), (NAN, float("nan")), (np.float32("nan"),) * 2, (complex(1, NAN),) * 2]


@pytest.mark.filterwarnings("ignore::pystage.FallbackWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_nan(program):
    """It is refused where both are NaN, whichever they are, and then runs as Python."""
    staged = pystage.compile(program, fallback="python", tier="compiled")
    for args in NUMBERS[: 3 if program in (in_classes, ordered, by_path) else 4]:
        plain, run = [run_of(function, args, {}) for function in (program, staged)]
        compare_runs(plain, run, Comparison(), "call", __file__)
    check(program, NAN, NAN, refused="PS401")
    check(program, 2.0, 2.0)


@cases.each((1.0, NAN), (NAN, 1.0), (1.0, 1), (NAN, np.float64(NAN)), (0.0, -0.0))
def one_of_them(x, y):
    return compared(x, y), searched(x, y), in_dicts(x, y), Point(x, y) == Point(y, x), in_deques(x, y)


@cases.each((NAN,), (1.0,))
def one_variable(x):
    row = (x * 2, 1)
    again = [x, (x, [x])]
    return row == row, [row, row].count(row), again == again, (math.nan,) == (math.nan,), np.nan in [np.nan]


ROWS = [(NAN if i % 3 == 0 else float(i), i % 7) for i in range(40)]


def of_columns(rows):
    return [row for row in rows if row in rows[1:]]


def test_columns():
    check(of_columns, ROWS, refused="PS401")
    check(of_columns, [row for row in ROWS if row[0] == row[0]] * 2)


def made():
    return float("nan"), 1


def test_made_by_two_calls():
    def program(x):
        return made() == made(), [made(), x].count(made())

    check(program, 1.0, refused="PS401")


@cases.each((np.arange(3.0),), (np.array([NAN]),))
def arrays(x):
    first, second = [x, 1], [x, 1]
    return first == second, x in [x], [x, 1].index(x)


@cases.each(
    (np.arange(3.0), np.ones(3), 1),
    (
        np.arange(3.0),
        np.ones(3),
        0,
    ),
)
def an_array_by_path(x, y, c):
    z = x if c > 0 else y
    return [z] == [x if c > 0 else y]


@pytest.mark.parametrize(("program", "args", "options"), cases.params)
def test_program(program, args, options):
    check(program, *args, **options)
