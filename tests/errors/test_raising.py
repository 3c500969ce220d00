"""`raise` and `assert` under conditions of the run time: branches, loops, calls, and what is seen afterwards."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from checking import Cases, check

import pystage

from . import asserting

cases = Cases()

ONES, MIXED = np.ones(4), np.array([1.0, 2.0, -3.0, 4.0])


class Rejected(Exception):
    """An exception with a constructor of its own."""

    def __init__(self, place, value=0.0):
        super().__init__(f"element {place} is {value}")
        self.place = place


# ---------------------------------------------------------------- branches


@cases(1.0)
@cases(-1.0, raises=ValueError)
def under_a_condition(x):
    if x < 0:
        raise ValueError("negative")
    return x * 2.0


@cases(1.0)
@cases(-1.0, raises=ValueError)
def in_the_other_arm(x):
    if x > 0:
        y = x * 2.0
        z = (y, x)
    else:
        raise ValueError("negative", x)
    return y, z


@cases(0.5, 3)
@cases(1.5, 3, raises=KeyError)
@cases(-1.5, 4, raises=TypeError)
def in_both_arms(x, n):
    if abs(x) > 1.0:
        if x > 0:
            raise KeyError(n)
        else:
            raise TypeError(f"{x:.2f} and {n!r}")
    return x


for _function in (asserting.asserted, asserting.asserted_with_a_message):
    cases(1.0)(_function)
    cases(-1.0, raises=AssertionError)(_function)


@cases(1, 2)
@cases(-1, 2, raises=ZeroDivisionError)
@cases(1, -2, raises=OverflowError)
@cases(-1, -2, raises=ZeroDivisionError)
def the_first_of_two(a, b):
    if a < 0:
        raise ZeroDivisionError("first", b)
    if b < 0:
        raise OverflowError("second", a)
    return a + b


@cases(2.0)
@cases(-2.0, raises=RuntimeError)
def with_a_cause(x):
    if x < 0:
        raise RuntimeError("failed") from ValueError(x)
    return x


@cases(np.array([1.0, 2.0]))
@cases(np.array([1.0, -2.0]), raises=ValueError)
def with_an_array(x):
    if x.min() < 0:
        raise ValueError(x, x.shape, x[1])
    return x.sum()


@cases(1.0)
@cases(-1.0, raises=Rejected)
def a_class_of_the_user(x):
    if x < 0:
        raise Rejected(3, value=x)
    return x


@cases(3, 4.0)
@cases(-3, 4.0, raises=ValueError)
def formatted(n, x):
    if n < 0:
        raise ValueError(
            "%d is %5.2f" % (n, x)  # noqa: UP031
            + f" of {n}"
            + str(x)
            + repr([n, x])
        )
    return n * x


@cases(True, 1.0)
@cases(False, 1.0, raises=ValueError)
def in_a_chosen_value(flag, x):
    y = x if x > 2.0 or flag else fail(x)
    return y


def fail(x):
    raise ValueError("failed", x)


@cases(1.0)
@cases(-1.0, raises=ValueError)
def by_a_function_that_always_raises(x):
    if x < 0:
        fail(x + 1.0)
    return x


# ---------------------------------------------------------------- loops


@cases(ONES)
@cases(MIXED, raises=ValueError)
def in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"x[{i}] = {x[i]}")
        total += x[i]
        x[i] = total
    return total


@cases(ONES, 3)
@cases(MIXED, 3, raises=ValueError)
def in_nested_loops(x, n):
    for _ in range(n):
        for i in range(len(x)):
            if x[i] < -2.0:
                raise ValueError(i, x[i])
            x[i] = x[i] - 0.125
    return x


@cases(2.0, 100)
@cases(2.0, 3, raises=RuntimeError)
def too_many_steps(x, limit):
    steps = 0
    while x < 50.0:
        x = x * 1.5
        steps += 1
        if steps > limit:
            raise RuntimeError(f"no end after {steps} steps")
    return x, steps


@cases(ONES, 0)
@cases(ONES, 2, raises=ValueError)
def always_in_the_first_trip(x, n):
    for i in range(n):
        x[i] = 5.0
        raise ValueError(i)
    return x


@cases(ONES)
@cases(MIXED, raises=ValueError)
def in_the_else_of_a_loop(x):
    for v in x:
        if v < 0:
            break
    else:
        return x.sum()
    raise ValueError(v)


@cases(ONES)
@cases(MIXED, raises=ValueError)
def in_the_test_of_a_loop(x):
    i = 0
    while checked(x[i]) < 3.0 and i < 3:
        x[i] = 7.0
        i += 1
    return i, x


def checked(v):
    if v < 0:
        raise ValueError("negative", v)
    return v


@cases([1.0, 2.0, 3.0], 5.0)
@cases([1.0, 2.0, 3.0], 2.0, raises=ValueError)
def in_an_unrolled_loop(xs, limit):
    out = []
    for i, x in enumerate(xs):
        if x > limit:
            raise ValueError(i, x)
        out.append(x * 2.0)
    return out


# ---------------------------------------------------------------- calls


@cases(1.0, 2.0)
@cases(-1.0, 2.0, raises=ValueError)
@cases(1.0, -2.0, raises=ValueError)
def in_one_of_two_calls(a, b):
    return checked(a) + checked(b)


def deeper(v, n):
    return checked(v) * n


@cases(1.0, 2.0)
@cases(-1.0, 2.0, raises=ValueError)
@cases(1.0, -2.0, raises=ValueError)
def in_nested_calls(a, b):
    first = deeper(a, 2)
    second = deeper(b, 3)
    return first + second + deeper(first, 4)


@cases(ONES)
@cases(MIXED, raises=ValueError)
def in_calls_of_a_loop(x):
    for i in range(len(x)):
        x[i] = deeper(x[i], 2.0)
    return x


@cases(3.0)
@cases(-3.0, raises=ValueError)
def in_a_closure(x):
    count = 0

    def step(v):
        nonlocal count
        count += 1
        if v < 0:
            raise ValueError(count, v)
        return v + 1.0

    return step(step(x - 1.0)), count


# ---------------------------------------------------------------- what is seen afterwards


@dataclass
class Account:
    balance: float
    log: list
    last: object = None


@cases(Account(10.0, []), 3.0)
@cases(Account(10.0, []), 30.0, raises=ValueError)
def attributes_and_lists(account, amount):
    account.last = "try"
    account.log.append(amount)
    if amount > account.balance:
        account.last = amount
        account.log.append("refused")
        raise ValueError("too much")
    account.balance -= amount
    account.last = (amount, account.balance)
    account.log.append("done")
    return account


@cases({"a": 1.0}, 1.0)
@cases({"a": 1.0}, -1.0, raises=ValueError)
def keys_of_a_dict(d, x):
    d["before"] = x
    if x < 0:
        raise ValueError
    d["after"] = x
    del d["a"]
    return d


@cases(ONES, MIXED, 1)
@cases(MIXED, ONES, 1, raises=ValueError)
def stores_of_all_kinds(x, y, k):
    x[k] = 9.0
    if x[2] < 0:
        raise ValueError(k)
    x[k + 1] = 10.0
    y[:] = x * 2.0
    x += 1.0
    y[np.array([0, 1])] = 0.0
    x[x > 10.0] = -1.0
    y[1:3] = x[1:3]
    x.sort()
    np.add.at(y, np.array([k, k]), 1.0)
    return x.sum()


@cases([ONES], 1.0)
@cases([ONES], -1.0, raises=ValueError)
def a_new_array_that_the_caller_gets(arrays, x):
    own = np.zeros(3)
    own[0] = 1.0
    arrays.append(own)
    if x < 0:
        raise ValueError
    own[1] = 2.0
    more = [x]
    arrays.append(more)
    more.append(x)


@cases([ONES], 1.0)
@cases([ONES], -1.0, raises=ValueError)
@cases([ONES], -2.0, raises=KeyError)
def a_new_list_that_the_caller_gets(lists, x):
    own = [x]
    lists.append(own)
    account = Account(x, own)
    lists.append(account)
    if x == -1.0:
        raise ValueError
    own.append(x)
    account.last = own
    if x == -2.0:
        account.balance = 7.0
        raise KeyError
    own.append([x])
    account.last = None


@cases(ONES, 1.0)
@cases(ONES, -1.0, raises=ValueError)
def an_array_of_its_own(x, v):
    own = np.zeros(4)
    if v < 0:
        x[0] = 2.0
        raise ValueError(own)
    for i in range(4):
        own[i] = x[i] + v
    return own


TOTAL = 0.0


@pytest.mark.parametrize("x, expected", [(1.0, 2.0), (-1.0, -1.0)])
def test_globals(x, expected):
    def f(x):
        global TOTAL
        TOTAL = x
        if x < 0:
            raise ValueError("negative")
        TOTAL = x + 1.0

    global TOTAL
    for function in (f, pystage.compile(f)):
        TOTAL = 0.0
        try:
            function(x)
        except ValueError:
            assert x < 0
        assert expected == TOTAL


# ---------------------------------------------------------------- how it is told


def outer(x, y):
    return in_one_of_two_calls(x, y)


@pytest.mark.parametrize("args", [(-1.0, 2.0), (1.0, -2.0)])
def test_the_traceback_goes_through_the_lines_of_the_user(args):
    lines = []
    for function in (outer, pystage.compile(outer)):
        with pytest.raises(ValueError, match="negative") as caught:
            function(*args)
        entries = traceback.extract_tb(caught.value.__traceback__)[1:]
        lines.append([(e.name, e.lineno, e.line, e.colno) for e in entries])
    assert lines[0] == lines[1]
    assert [name for name, *_ in lines[1]] == ["outer", "in_one_of_two_calls", "checked"]


def divides(x, i):
    return 1 // i, x[i]


def subtracts(x, i):
    return x - np.ones(i)


def calls_another(x, i):
    return subtracts(x, i) + 1


@pytest.mark.parametrize("tier", ["compiled", "auto", "plain"])
@pytest.mark.parametrize(("function", "i"), [(divides, 0), (divides, 7), (subtracts, 4), (calls_another, 4)])
def test_no_frame_of_ours_is_in_a_traceback(function, i, tier, monkeypatch):
    monkeypatch.delenv("PYSTAGE_TIER")
    monkeypatch.setattr(pystage.config, "fallback", "python")
    compiled = pystage.compile(function, tier=tier)
    with pytest.raises((ZeroDivisionError, IndexError, ValueError)) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(ONES[:3], i)
    entries = traceback.extract_tb(caught.value.__traceback__)
    names = ["calls_another", "subtracts"] if function is calls_another else [function.__name__]
    assert [e.name for e in entries[1:]] == names
    with pytest.raises(TypeError, match="missing 1 required") as caught:
        compiled(ONES)
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 1


def test_nothing_that_cannot_raise_pays():
    def plain(x, y):
        if x > 0:
            y = y + x
        return y

    program = pystage.compile(plain).lower(1.0, 2.0).staged.program
    assert program.failure is None and len(program.function.result_types) == 1


def test_the_exception_is_a_new_one_each_time():
    staged = pystage.compile(under_a_condition)
    found = []
    for _ in range(2):
        with pytest.raises(ValueError) as caught:
            staged(-1.0)
        found.append(caught.value)
    assert found[0] is not found[1]


def test_ahead_of_time():
    compiled = pystage.compile(in_a_loop).lower(np.ones(4)).compile()
    x = MIXED.copy()
    with pytest.raises(ValueError, match=r"x\[2\] = -3.0"):
        compiled(x)
    np.testing.assert_array_equal(x, [1.0, 3.0, -3.0, 4.0])


def test_a_fallback_does_not_run_the_function_again():
    f = pystage.compile(in_a_loop, fallback="python")
    x = MIXED.copy()
    with pytest.raises(ValueError):
        f(x)
    np.testing.assert_array_equal(x, [1.0, 3.0, -3.0, 4.0])


@pytest.mark.parametrize("function, args, options", cases.params)
def test_plain_and_staged_agree(function, args, options):
    check(function, *args, **options)


# ---------------------------------------------------------------- changes of another shape


def take(row, i, found):
    found.append(float(row[0]))
    x = float(row[i])
    found.append(x)
    return x


ROW = np.array([1.0, 2.0, 4.0])

shapes = Cases()


@shapes(1.0, ROW, 1, [])
@shapes(1.0, ROW, 5, [], raises=IndexError)
@shapes(-1.0, ROW, 5, [0.5], raises=IndexError)
@shapes(-1.0, ROW, 0, [0.5])
def grown_in_one_arm(x, row, i, found):
    y = 0.0
    if x > 0:
        found.append(x)
        y = float(row[i])
        found.append(y)
    else:
        found.append(-x)
        y += float(row[i])
        found.append(x)
    return y


@shapes(1.0, ROW, 1, [])
@shapes(1.0, ROW, 5, [], raises=IndexError)
@shapes(-1.0, ROW, 1, [], raises=ValueError)
def grown_in_callees(x, row, i, found):
    if x < 0:
        found.append(x)
        raise ValueError(x)
    y = take(row, i, found)
    found.append(y)
    return y + take(row, 0, found)


@shapes(1.0, ROW, 1, {})
@shapes(1.0, ROW, 5, {}, raises=IndexError)
@shapes(-1.0, ROW, 5, {"b": 1.0})
def keys_added(x, row, i, found):
    if x > 0:
        found["a"] = x
        found["b"] = float(row[i])
        found["c"] = x
    else:
        found["a"] = found["b"]
        found["c"] = 2.0
    return found["c"]


@pytest.mark.parametrize(("function", "args", "options"), shapes.params)
def test_changes_of_another_shape(function, args, options) -> None:
    check(function, *args, **options)
