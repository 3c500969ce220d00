"""Captured numbers: constants while they stay, inputs once they change, constants again where they must be.

A scenario runs twice, plain and staged, each on a world of its own, and gives all that can be seen of it.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass, field

import numpy as np
import pystage
import pytest
from checking import Comparison

from contract.captures.inferences import counted

MODULE = sys.modules[__name__]
COUNT = 0
STEPS = 3
SIZE = 4
MODE = 1
WEIGHTS = (0.25, 0.5, 0.25)
SHAPE = (2, 3)
HALF = np.float64(0.5)
LIMITS = {"steps": 2, "scale": 1.5}


@dataclass
class Settings:
    steps: int = 2
    rate: float = 0.5
    sizes: tuple = (2, 3)
    table: dict = field(default_factory=lambda: {"n": 3})


def count_calls(x):
    global COUNT
    COUNT += 1
    return x * COUNT


def uses_steps(x):
    for _ in range(STEPS):
        x = x + 1.0
    return x


def zeros(x):
    return x + np.zeros(SIZE)


def make_zeros(n):
    return np.zeros(n)


def zeros_deep(x):
    total = x
    for _ in range(2):
        total = total + make_zeros(SIZE).sum()
    return total + make_zeros(SIZE)


def picks(x):
    return x.sum() if MODE == 1 else x * 2.0


def counts_and_picks(x):
    global COUNT
    COUNT += 1
    y = x.sum() if MODE == 1 else x * 2.0
    return y * COUNT


def weighs(x):
    return x[0] * WEIGHTS[0] + x[1] * WEIGHTS[1] + x[2] * WEIGHTS[2]


def shapes(x):
    return np.full(SHAPE, x)


def halves(x):
    return x * HALF, HALF


def limits(x):
    for _ in range(LIMITS["steps"]):
        x = x * LIMITS["scale"]
    return x


X = np.array([1.0, 2.0, 3.0])

CHANGES = [
    (count_calls, 2.0, "COUNT", [5, 7, -1, 100]),
    (uses_steps, 2.0, "STEPS", [5, 7, 0, 1, 9]),
    (picks, X, "MODE", [2, 1, 3, 2, 1]),
    (weighs, X, "WEIGHTS", [(1.0, 2.0, 3.0), (0.0, 0.0, 1.0), (1, 2, 3), (4, 5, 6)]),
    (shapes, 2.0, "SHAPE", [(3, 2), (3, 4), (1, 1), (2,)]),
    (halves, 2.0, "HALF", [np.float64(0.25), np.float32(0.5), 0.5, 3, np.int8(3), np.int8(4)]),
    (
        limits,
        2.0,
        "LIMITS",
        [{"steps": 3, "scale": 2.0}, {"steps": 5, "scale": 2.5}, {"scale": 2, "steps": 5}],
    ),
    (zeros_deep, 2.0, "SIZE", [2, 3, 4, 2]),
    (uses_steps, 2.0, "STEPS", [-(2**63), 2**70 - 2**70, True, np.int64(3)]),
]


@pytest.mark.parametrize(
    "function, x, name, values", CHANGES, ids=[f"{f.__name__}-{n}" for f, _, n, _ in CHANGES]
)
def test_changed_numbers_are_seen(function, x, name, values, monkeypatch):
    def scenario(call):
        with monkeypatch.context() as patch:
            results = [call(x)]
            for value in values:
                patch.setattr(MODULE, name, value)
                results += [call(x), call(x)]
            return results, getattr(MODULE, name)

    with monkeypatch.context() as patch:
        patch.setattr(MODULE, "COUNT", 0)
        plain = scenario(function)
    with monkeypatch.context() as patch:
        patch.setattr(MODULE, "COUNT", 0)
        staged = scenario(pystage.compile(function))
    Comparison().same(plain, staged, "results")


def programs(function, x, name, values, monkeypatch) -> int:
    """How many programs are made when a global takes these values in turn."""
    called, infer = counted(function)
    for value in values:
        monkeypatch.setattr(MODULE, name, value)
        called(x)
    assert infer.programs == len(called.signatures())
    return infer.programs


@pytest.mark.parametrize(
    "function, x, name, values, expected",
    [
        (uses_steps, 2.0, "STEPS", range(10), 2),
        (weighs, X, "WEIGHTS", [(0.1 * i, 0.2, 0.3) for i in range(5)], 1),
        (weighs, X, "WEIGHTS", [(i, 2, 3) for i in range(5)], 2),
        (halves, 2.0, "HALF", [np.float64(i) for i in range(5)], 1),
        (limits, 2.0, "LIMITS", [{"steps": i, "scale": 2.0 + i} for i in range(5)], 2),
        (picks, X, "MODE", [1, 2, 1, 2, 1], 2),
        (zeros, 2.0, "SIZE", [2, 3, 4, 2, 3], 3),
    ],
)
def test_how_many_programs_a_changing_number_makes(function, x, name, values, expected, monkeypatch):
    assert programs(function, x, name, values, monkeypatch) == expected


def test_a_counter_that_the_function_itself_keeps_makes_one_program(monkeypatch):
    monkeypatch.setattr(MODULE, "COUNT", 0)
    called, infer = counted(count_calls)
    assert [called(2.0) for _ in range(5)] == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert COUNT == 5 and infer.programs == 1


def test_a_counter_beside_a_number_that_must_be_constant(monkeypatch):
    monkeypatch.setattr(MODULE, "COUNT", 0)
    called, infer = counted(counts_and_picks)
    results = []
    for mode in (1, 2, 2, 2, 1, 1):
        monkeypatch.setattr(MODULE, "MODE", mode)
        results.append(called(X))
    plain = [6.0, X * 4, X * 6, X * 8, 30.0, 36.0]
    Comparison().same([np.float64(p) if np.ndim(p) == 0 else p for p in plain], results, "results")
    assert infer.programs == 2


def test_counters_in_closures_objects_and_lists():
    def scenario(compile):
        count = 0
        settings, tally, named = Settings(), [0, 0], {"n": 0}

        def program(x):
            nonlocal count
            count += 2
            settings.steps += 1
            tally[1] += 3
            named["n"] += 4
            return x + count + settings.steps + tally[1] + named["n"]

        called = compile(program)
        results = [called(1.0) for _ in range(4)]
        return results, count, settings, tally, named, called

    *plain, _ = scenario(lambda f: f)
    *staged, called = scenario(pystage.compile)
    Comparison().same(plain, staged, "results")
    assert len(called.signatures()) == 1


def test_a_counter_of_a_bound_object():
    class Model:
        def __init__(self):
            self.calls = 0
            self.weight = np.array([1.0, 2.0])

        def forward(self, x):
            self.calls += 1
            return x * self.weight * self.calls

    def scenario(compile):
        model = Model()
        forward = compile(model.forward)
        return [forward(2.0) for _ in range(4)], model.calls, forward

    *plain, _ = scenario(lambda f: f)
    *staged, forward = scenario(pystage.compile)
    Comparison().same(plain, staged, "results")
    assert len(forward.signatures()) == 1


def test_signatures_say_which_number_was_demanded_and_where(monkeypatch):
    monkeypatch.setattr(MODULE, "SIZE", 4)
    called, infer = counted(zeros)
    called(1.0)
    assert "given SIZE = 4" in called.signatures()[0]
    monkeypatch.setattr(MODULE, "SIZE", 5)
    called(1.0)
    line = zeros.__code__.co_firstlineno + 1
    assert f"for SIZE = 5 (the shape of zeros, {__file__}:{line})" in called.signatures()[1]

    def fill(x, n):
        return np.full(n, x)

    called, _ = counted(fill)
    called(1.0, 3)
    line = fill.__code__.co_firstlineno + 1
    for n in (3, 4):
        called(1.0, n)
        assert f"for n = {n} (the shape of full, {__file__}:{line})" in called.signatures()[-1]


@pytest.mark.parametrize("function, name", [(zeros, "SIZE"), (zeros_deep, "SIZE"), (shapes, "SHAPE")])
def test_a_demand_is_found_once(function, name, monkeypatch):
    called, infer = counted(function)
    inferences = []
    for n in (4, 5, 6, 7):
        monkeypatch.setattr(MODULE, name, n if name == "SIZE" else (n, 2))
        called(2.0)
        inferences.append(infer.inferences)
    steps = np.diff([0, *inferences])
    assert steps[0] == 1 and steps[1] == 2 and list(steps[2:]) == [1, 1]


def test_a_demanded_argument_is_found_once():
    called, infer = counted(lambda x, n: make_zeros(n) + x)
    for n in (3, 4, 5):
        assert called(1.0, n).shape == (n,)
    assert called(1, 6).shape == (6,)  # another type of x: the demand is known already
    assert infer.inferences == 5


def test_numbers_demanded_of_tuples_objects_and_dicts():
    settings = Settings()
    scalar = np.int32(2)

    def program(x):
        a = np.ones(settings.sizes) * settings.rate
        b = np.zeros((settings.table["n"], scalar))
        return a, b, x.reshape(settings.sizes[::-1])

    called, infer = counted(program)
    for sizes, n in [((2, 3), 3), ((3, 2), 4), ((3, 2), 5), ((1, 6), 5)]:
        settings.sizes, settings.table["n"] = sizes, n
        scalar = np.int32(n)
        x = np.arange(6.0)
        Comparison().same(program(x), called(x), "result")


def test_the_range_that_is_returned_is_this_call_s():
    def program(n):
        return range(n), slice(0, n)

    called = pystage.compile(program)
    for n in (3, 4, 3):
        assert called(n) == program(n)


def test_a_deleted_global_is_a_name_error(monkeypatch):
    def program(x):
        return x * STEPS

    called = pystage.compile(program)
    assert called(2) == program(2)
    monkeypatch.delattr(MODULE, "STEPS")
    for _ in range(2):
        with pytest.raises(NameError, match="name 'STEPS' is not defined"):
            called(2)
    monkeypatch.setattr(MODULE, "STEPS", 5, raising=False)
    assert called(2) == 10


def test_a_changed_guard_is_logged(monkeypatch, caplog):
    called = pystage.compile(uses_steps)
    called(1.0)
    monkeypatch.setattr(MODULE, "STEPS", 4)
    with caplog.at_level(logging.INFO, logger="pystage"):
        called(1.0)
    assert caplog.messages == ["`uses_steps` is compiled again, 2 programs: STEPS: 3 → 4"]


def test_an_object_by_two_ways():
    log = [1.0]

    def remembers(xs):
        log.append(5.0)
        return xs[-1]

    called = pystage.compile(remembers)
    assert called([2.0]) == 2.0 and log == [1.0, 5.0]
    with pytest.raises(pystage.StagingError, match="PS812"):
        called(log)
    assert log == [1.0, 5.0]
    assert called([3.0]) == 3.0


def test_two_globals_that_become_one_object():
    a, b = [1.0], [2.0]

    def program(x):
        a.append(x)
        return b[-1], a is b

    called = pystage.compile(program)
    assert called(3.0) == (2.0, False)
    b = a
    assert called(4.0) == (4.0, True)
    b = [5.0]
    assert called(6.0) == (5.0, False)
    assert a == [1.0, 3.0, 4.0, 6.0]


def test_two_names_of_one_array_that_part():
    a = b = np.ones(2)

    def program():
        return a + b

    called = pystage.compile(program)
    Comparison().same(program(), called(), "result")
    b = np.array([5.0, 6.0])
    Comparison().same(program(), called(), "result")
    a = b
    Comparison().same(program(), called(), "result")


def test_one_object_as_two_arguments_is_one():
    def program(a, b):
        return a is b

    called = pystage.compile(program)
    x, y = [1.0], [2.0]
    assert [called(x, y), called(x, x), called(y, x)] == [False, True, False]
