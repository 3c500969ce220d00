"""What functions of the program store into what they capture, called more than once: the world ends as in the plain run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pystage
import pytest
from checking import Comparison


class Counter:
    def __init__(self):
        self.total = 0.0
        self.places = np.zeros(2)
        self.seen = [1.0]

    def add(self, x):
        self.total = self.total + x
        self.places[0] += x
        self.seen.append(x)
        return self


class World:
    """What the programs capture."""

    def __init__(self):
        self.array = np.zeros(3)
        self.entries = {"k": 0.0}
        self.items = [0.0]
        self.counter = Counter()

    def contents(self):
        """All of it, to be compared."""
        counter = self.counter
        return self.array, self.entries, self.items, counter.total, counter.places, counter.seen


W = World()


def add(x):
    W.array[0] += x


def add_twice(x):
    add(x)
    add(x)


def added(x):
    W.array[1] += x
    return W.array


def first():
    return W.array[0]


def put(key, x):
    W.entries[key] = W.entries.get(key, 0.0) + x


def keep(x):
    W.items.append(x)


def limited(x):
    W.array[0] += 1
    if x > 2:
        raise ValueError(f"at {W.array[0]}")


def one_after_the_other(x):
    add(x)
    add(x)
    return first()


def through_another(x):
    add_twice(x)
    before = first()
    add_twice(x)
    return before, first()


def in_a_loop_of_the_program(x):
    for _ in range(int(x)):
        add(x)
    return first()


def in_an_unrolled_loop(x):
    found = []
    for _ in [1, 2, 3]:
        add(x)
        found.append(first())
    return found


def until_it_is_enough(x):
    count = 0
    while first() < 10:
        add(x)
        count += 1
    return count


def on_one_path(x):
    if x > 1:
        add(x)
    add(x)
    if x > 100:
        add(x)
    return first()


def returned_by_each_call(x):
    a = added(x)
    b = added(x)
    a[2] = 5
    return a is b, b[2]


def entries_of_a_dict(x):
    put("k", x)
    put("k", x)
    put("new", x)
    return sorted(W.entries)


def items_of_a_list(x):
    keep(x)
    keep(2 * x)
    keep(x)
    return len(W.items)


def an_object(x):
    a = W.counter.add(x)
    b = W.counter.add(x)
    b.places[1] = 7
    return a is b, W.counter.total


def raised_by_the_second_call(x):
    try:
        limited(x - 1)
        limited(x)
    except ValueError as error:
        return str(error), W.array.copy()
    return None


def share(x):
    W.counter.places = W.entries["k"]
    W.entries["k"][0] += x
    return W.counter.places.sum()


def what_the_caller_stored_there(x):
    W.entries["k"] = np.ones(2)
    first = share(x)
    W.entries["k"] = np.zeros(2)
    second = share(x)
    W.entries["k"][1] = 7
    return first, second, share(x), W.counter.places is W.entries["k"]


def passes(x):
    W.items[0] = x
    return W.items[0] > 5


def in_a_test_that_fails_at_once(x):
    count = 0
    while passes(3.0):
        count += 1
    return count


def in_the_second_part_of_a_test(x):
    count = 0
    while count < 3 and passes(2.0):
        count += 1
    return count


PROGRAMS = [
    one_after_the_other,
    through_another,
    in_a_loop_of_the_program,
    in_an_unrolled_loop,
    until_it_is_enough,
    on_one_path,
    returned_by_each_call,
    entries_of_a_dict,
    items_of_a_list,
    an_object,
    raised_by_the_second_call,
    what_the_caller_stored_there,
    in_a_test_that_fails_at_once,
    in_the_second_part_of_a_test,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_each_call_counts(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = []
    for run in (program, pystage.compile(program)):
        world = World()
        monkeypatch.setitem(globals(), "W", world)
        outcomes.append([(run(x), world.contents()) for x in (3.0, 3.0, 0.5)])
    Comparison().same(*outcomes, "results and world")
