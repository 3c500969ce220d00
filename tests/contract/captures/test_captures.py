"""What a program reads of the world around it is read at each call: globals, closures, defaults, objects.

Each test keeps one compiled function over changes of its surroundings.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import check

SCALE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
STEPS = 3
NAME = "double"
LAYERS = [1.0, 2.0]
SETTINGS = {"gain": 2.0}
JAX_TABLE = jnp.array([1.0, 2.0])
MODULE = sys.modules[__name__]


@dataclass
class Config:
    gain: float
    mode: str
    sizes: list


def helper(x):
    return x * 2


def uses_scale(x):
    return x * SCALE


def uses_table(x):
    return x + TABLE, TABLE.shape


def uses_jax_table(x):
    return x + JAX_TABLE


def uses_steps(x):
    for _ in range(STEPS):
        x = x + 1
    return x, np.zeros(STEPS)


def uses_name(x):
    return x * 2 if NAME == "double" else x * 3


def uses_layers(x):
    for layer in LAYERS:
        x = x * layer
    return x


def uses_settings(x):
    return x * SETTINGS["gain"], len(SETTINGS)


def uses_helper(x):
    return helper(x) + 1


def uses_helper_deep(x):
    def inner(y):
        return uses_helper(y) * SCALE

    return inner(x)


CHANGES = [
    (uses_scale, "SCALE", [3.0, -1.0, 4, np.float32(2.5), np.array([1.0, 2.0])]),
    (
        uses_table,
        "TABLE",
        [np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0, 3.0], np.float32), np.zeros((2, 3))],
    ),
    (uses_jax_table, "JAX_TABLE", [jnp.array([5.0, 6.0]), jnp.array([1, 2])]),
    (uses_steps, "STEPS", [5, 0, 1]),
    (uses_name, "NAME", ["triple", "double"]),
    (uses_layers, "LAYERS", [[3.0, 4.0], [1.0, 2.0, 3.0], [], (2.0,)]),
    (uses_settings, "SETTINGS", [{"gain": 3.0}, {"gain": 3.0, "more": 1}, {"gain": 5}]),
    (uses_helper, "helper", [lambda x: x * 5, math.sqrt, uses_scale]),
    (uses_helper_deep, "helper", [lambda x: x - 5]),
]


@pytest.mark.parametrize("function, name, values", CHANGES, ids=[f.__name__ for f, *_ in CHANGES])
def test_a_rebound_global_is_seen(function, name, values, monkeypatch):
    staged = pystage.compile(function)
    check(function, 4.0, staged=staged)
    for value in values:
        monkeypatch.setattr(MODULE, name, value)
        check(function, 4.0, staged=staged)


def test_a_global_changed_in_place_is_seen(monkeypatch):
    monkeypatch.setattr(MODULE, "TABLE", np.array([1.0, 2.0, 3.0]))
    monkeypatch.setattr(MODULE, "LAYERS", [1.0, 2.0])
    monkeypatch.setattr(MODULE, "SETTINGS", {"gain": 1.0})
    table, layers, settings = (pystage.compile(f) for f in (uses_table, uses_layers, uses_settings))
    for change in range(3):
        TABLE[0] += change
        LAYERS.append(float(change))
        SETTINGS["gain"] += change
        check(uses_table, 1.0, staged=table)
        check(uses_layers, 1.0, staged=layers)
        check(uses_settings, 1.0, staged=settings)


def test_a_changed_cell_is_seen():
    k, table = 2.0, np.zeros(2)

    def program(x):
        return x * k + table

    staged = pystage.compile(program)
    for k in (3.0, 4.0, 5):
        table = table + 1.0
        table[0] = k
        check(program, 2.0, staged=staged)


def test_two_closures_of_one_function_are_two_programs():
    def make(k):
        def scaled(x):
            return x * k

        return scaled

    double, triple, double_array = make(2.0), make(3.0), make(np.array([2.0, 2.0]))
    for program in (double, triple, double_array, double):
        check(program, 5.0)


def test_a_changed_object_is_seen():
    config = Config(gain=2.0, mode="fast", sizes=[1, 2])

    def program(x):
        if config.mode == "fast":
            return x * config.gain
        return x + sum(config.sizes)

    staged = pystage.compile(program)
    check(program, 2.0, staged=staged)
    config.gain = 7.0
    check(program, 2.0, staged=staged)
    config.mode = "slow"
    check(program, 2.0, staged=staged)
    config.sizes.append(10)
    check(program, 2.0, staged=staged)


class Hidden:
    __slots__ = ("__scale", "offset")

    def __init__(self, scale):
        self.__scale = scale
        self.offset = 1.0

    def __call__(self, x):
        return self.__scale * x + self.offset


def test_a_private_slot_of_a_captured_object_is_read():
    hidden = Hidden(3.0)

    def program(x):
        return hidden(x)

    check(program, 2.0, staged=pystage.compile(program))


def test_changed_defaults_are_seen():
    def program(x, k=2.0, *, shift=1.0):
        return x * k + shift

    staged = pystage.compile(program)
    check(program, 3.0, staged=staged)
    program.__defaults__ = (5.0,)
    check(program, 3.0, staged=staged)
    program.__kwdefaults__ = {"shift": -1.0}
    check(program, 3.0, staged=staged)


def test_a_changed_attribute_of_the_bound_object_is_seen():
    class Model:
        def __init__(self):
            self.weight = np.array([1.0, 2.0])
            self.count = 0

        def forward(self, x):
            return x * self.weight

    model = Model()
    staged = pystage.compile(model.forward)
    check(model.forward, 2.0, staged=staged)
    model.weight = np.array([3.0, 4.0])
    check(model.forward, 2.0, staged=staged)
    model.weight[0] = 10.0
    check(model.forward, 2.0, staged=staged)


def test_a_changed_class_attribute_is_seen():
    class Defaults:
        gain = 2.0

    def program(x):
        return x * Defaults.gain

    staged = pystage.compile(program)
    check(program, 2.0, staged=staged)
    Defaults.gain = 5.0
    check(program, 2.0, staged=staged)


def test_a_shadowed_builtin_is_seen(monkeypatch):
    def program(x):
        return abs(x)

    staged = pystage.compile(program)
    check(program, -2.0, staged=staged)
    monkeypatch.setattr(MODULE, "abs", lambda x: x * 100, raising=False)
    check(program, -2.0, staged=staged)


def test_mutated_globals_and_cells_are_mutated_for_the_caller():
    def run(compile):
        buffer, log, count = np.zeros(3), [], 0

        def program(x):
            nonlocal count
            count += 1
            buffer[0] += x
            log.append(x * 2)
            return count

        called = compile(program)
        results = [called(1.0), called(2.5)]
        return results, buffer, log, count

    plain, staged = run(lambda f: f), run(pystage.compile)
    check(lambda: plain, staged=lambda: staged)


ASSIGNED = 1.0
NAMES = np.array(["a", "b"])


def assigns_on_one_path(c, x):
    global ASSIGNED
    if c > 0:
        ASSIGNED = x
    return ASSIGNED


def test_a_global_that_one_path_assigns(monkeypatch):
    monkeypatch.setattr(MODULE, "ASSIGNED", 1.0)
    staged = pystage.compile(assigns_on_one_path, fallback="error")
    assert (staged(-1.0, 5.0), ASSIGNED) == (1.0, 1.0)
    assert (staged(1.0, 5.0), ASSIGNED) == (5.0, 5.0)
    assert (staged(-1.0, 7.0), ASSIGNED) == (5.0, 5.0)


def test_an_array_of_strings_is_refused_where_it_is_read():
    def reads(x):
        return x if NAMES[0] == "a" else -x

    check(reads, 1.0, refused="PS211")
