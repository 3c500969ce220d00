"""Stores into attributes of classes: seen through all that reads them, in the call and after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pystage
import pytest
from checking import Comparison


class Settings:
    scale = 1.5
    table = np.zeros(3)
    count = 0
    names = ["a"]
    limit = property(lambda self: 3)

    def step(self):
        type(self).count += 1
        return self.count

    @classmethod
    def put(cls, x):
        cls.scale = x * 2
        return cls.scale


class Inheriting(Settings):
    own = None


NAMES = ("scale", "table", "count", "names")
INITIAL = {name: vars(Settings)[name] for name in NAMES}


def read_through_all_names(x):
    Settings.scale = Settings.scale + x
    return Settings.scale, Inheriting.scale, Inheriting().scale, Settings().scale


def an_array_is_stored_into_and_replaced(x):
    Settings.table[0] += x
    before = Settings.table
    Settings.table = Settings.table * 2
    return before, Settings.table, Settings.table is before


def a_counter(x):
    s = Settings()
    s.step()
    return s.step() + x, s.put(x)


def on_a_path_of_a_loop(x):
    for i in range(int(x)):
        if i > 1:
            Settings.count += i
    return Settings.count


def before_something_raises(x):
    try:
        Settings.scale = x
        if x > 1:
            raise ValueError("no")
        Settings.scale = 7.0
    except ValueError:
        Settings.scale += 1
    return Settings.scale


def before_the_caller_sees_it_raise(x):
    Settings.scale = x
    if x > 1:
        raise ValueError("no")
    Settings.scale = 7.0


def an_attribute_of_an_instance_hides_it(x):
    s = Settings()
    s.scale = x
    Settings.scale = -x
    return s.scale, Settings().scale


def a_list_is_replaced(x):
    Settings.names.append("b")
    Settings.names = [*Settings.names, f"{x}"]
    return Settings.names


def an_attribute_of_a_class_that_inherits(x):
    Inheriting.own = x
    return Inheriting.own


def _run(program: Any, x: float) -> Any:
    try:
        return program(x)
    except ValueError as error:
        return str(error)


PROGRAMS = [
    read_through_all_names,
    an_array_is_stored_into_and_replaced,
    a_counter,
    on_a_path_of_a_loop,
    before_something_raises,
    before_the_caller_sees_it_raise,
    an_attribute_of_an_instance_hides_it,
    a_list_is_replaced,
    an_attribute_of_a_class_that_inherits,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_store_into_a_class_counts(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = []
    for run in (program, pystage.compile(program, fallback="error")):
        for name, value in INITIAL.items():
            monkeypatch.setattr(Settings, name, value.copy() if hasattr(value, "copy") else value)
        monkeypatch.setattr(Inheriting, "own", None)
        left = []
        for x in (3.0, 0.5, 3.0):
            left.append((_run(run, x), {name: getattr(Settings, name) for name in NAMES}, Inheriting.own))
        outcomes.append(left)
    Comparison().same(*outcomes, "results and attributes")


def test_a_new_attribute_is_there_after_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x):
        Settings.fresh = x
        return Settings().fresh + Inheriting.fresh

    monkeypatch.setattr(Settings, "fresh", None, raising=False)
    monkeypatch.delattr(Settings, "fresh")
    staged = pystage.compile(program, fallback="error")
    assert [staged(x) for x in (2.0, 3.0)] == [4.0, 6.0]
    assert Settings.fresh == 3.0


@pytest.mark.parametrize("name", ["put", "limit", "__doc__"])
def test_what_is_no_plain_attribute_is_not_replaced(name: str) -> None:
    with pytest.raises(pystage.StagingError, match=f"PS503.*the attribute '{name}' of the class Settings"):
        pystage.compile(lambda x: setattr(Settings, name, x), fallback="error")(1.0)


def test_an_inherited_attribute_is_not_hidden() -> None:
    def program(x):
        Inheriting.scale = x
        return x

    with pytest.raises(pystage.StagingError, match="PS503"):
        pystage.compile(program, fallback="error")(1.0)
