"""Captured arrays are inputs of the program wherever they stand; captured functions are read at each call."""

from __future__ import annotations

import enum
import functools
import re
import sys
import threading
import types
from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pystage
import pytest
from checking import Comparison, check

MODULE = sys.modules[__name__]
BIG = np.arange(64.0)
NESTED = (np.arange(64.0), [np.arange(64.0) * 2, {"w": np.arange(64.0) * 3}])
DEVICE = jnp.arange(64.0)
helper_module = types.ModuleType("helper_module")
helper_module.TABLE = np.arange(64.0) * 5
helper_module.scaled = lambda x: x * 2.0


@dataclass
class Layer:
    weight: np.ndarray
    bias: float

    def forward(self, x):
        return x * self.weight + self.bias


class Pair(NamedTuple):
    first: np.ndarray
    second: float


class Shared:
    table = np.arange(64.0) * 7

    def __init__(self):
        self.own = np.arange(64.0) * 8


class Mode(enum.Enum):
    FAST = 1


LAYER = Layer(np.arange(64.0) * 4, 0.5)
PAIR = Pair(np.arange(64.0) * 6, 1.5)
SHARED = Shared()


def from_tuple(x):
    return x + NESTED[0] + NESTED[1][0] + NESTED[1][1]["w"]


def from_dataclass(x):
    return LAYER.forward(x) + PAIR.first * PAIR.second


def from_class(x):
    return x + Shared.table + SHARED.table + SHARED.own


def from_module(x):
    return x + helper_module.TABLE


def from_default(x, table=BIG):
    return x + table


def from_function_attribute(x):
    return x + from_tuple.table


from_tuple.table = np.arange(64.0) * 9


def from_device(x):
    return x + DEVICE


def added(table, x):
    return x + table


def in_a_loop(x):
    for _ in range(3):
        x = added(BIG, x) * LAYER.bias
    return x


def make_closure():
    table = np.arange(64.0) * 10

    def closure(x):
        def inner(y):
            return y + table

        return inner(x)

    return closure


PROGRAMS = [
    from_tuple,
    from_dataclass,
    from_class,
    from_module,
    from_default,
    from_function_attribute,
    from_device,
    in_a_loop,
    make_closure(),
    functools.partial(added, BIG),
    functools.partial(from_default, table=BIG),
    LAYER.forward,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=[getattr(p, "__qualname__", "partial") for p in PROGRAMS])
def test_captured_arrays_are_no_constants(program):
    check(program, 2.0)
    text = pystage.compile(program).lower(2.0).as_text()
    constants = re.findall(r"stablehlo.constant dense<.*?> : tensor<([^>]*)>", text)
    assert not [c for c in constants if c.startswith("64x")]


def arrays():
    """The captured arrays, each with a function that puts another in its place."""

    def put(holder, name):
        return lambda value: setattr(holder, name, value)

    return [
        (from_tuple, NESTED[0], None),
        (from_tuple, NESTED[1][1]["w"], functools.partial(NESTED[1][1].__setitem__, "w")),
        (from_dataclass, LAYER.weight, put(LAYER, "weight")),
        (from_dataclass, PAIR.first, None),
        (from_class, Shared.table, put(Shared, "table")),
        (from_class, SHARED.own, put(SHARED, "own")),
        (from_module, helper_module.TABLE, put(helper_module, "TABLE")),
        (from_default, BIG, None),
        (from_function_attribute, from_tuple.table, put(from_tuple, "table")),
        (in_a_loop, BIG, put(MODULE, "BIG")),
    ]


@pytest.mark.parametrize("program, array, put", arrays())
def test_captured_arrays_that_change_are_seen(program, array, put):
    called = pystage.compile(program)
    check(program, 2.0, staged=called)
    before = array.copy()
    array[:] = array[::-1].copy()
    try:
        check(program, 2.0, staged=called)
        if put is not None:
            put(before + 1.0)
            check(program, 2.0, staged=called)
            put(np.float32(3.0))
            check(program, 2.0, staged=called)
    finally:
        array[:] = before
        if put is not None:
            put(array)
    check(program, 2.0, staged=called)


# ---------------------------------------------------------------- functions


def outer(x):
    return middle(x) + 1.0


def middle(x):
    return innermost(x) * 2.0


def innermost(x):
    return x - 3.0


def through_module(x):
    return helper_module.scaled(x)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) + 0.5

    return wrapper


@decorated
def wrapped(x):
    return x * 7.0


def calls_wrapped(x):
    return wrapped(x)


def calls_method(x):
    return LAYER.forward(x)


def calls_operator(x):
    return Number(x) + 1.0


def calls_call(x):
    return callable_layer(x)


def calls_sum(x):
    return np.sum(x)


class Base:
    def rate(self):
        return 2.0

    @property
    def offset(self):
        return 1.0

    @staticmethod
    def scale(x):
        return x * 3.0

    @classmethod
    def name(cls):
        return 4.0


class Child(Base):
    def rate(self):
        return super().rate() + 1.0


class Number:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return self.value + other


class CallableLayer:
    def __call__(self, x):
        return x * 11.0


callable_layer = CallableLayer()
CHILD = Child()


def calls_members(x):
    return CHILD.rate() * x + CHILD.offset + CHILD.scale(x) + Child.name()


REDEFINITIONS = [
    (outer, MODULE, "innermost", lambda x: x * 100.0),
    (outer, MODULE, "middle", lambda x: x + 50.0),
    (through_module, helper_module, "scaled", lambda x: x * 9.0),
    (calls_wrapped, MODULE, "wrapped", decorated(lambda x: x * 8.0)),
    (calls_method, Layer, "forward", lambda self, x: x - self.weight),
    (calls_operator, Number, "__add__", lambda self, other: self.value * 10.0),
    (calls_operator, Number, "__init__", lambda self, value: setattr(self, "value", value + 5.0)),
    (calls_call, CallableLayer, "__call__", lambda self, x: x * 12.0),
    (calls_members, Base, "rate", lambda self: 20.0),
    (calls_members, Child, "rate", lambda self: 30.0),
    (calls_members, Base, "offset", property(lambda self: 40.0)),
    (calls_members, Child, "offset", property(lambda self: 41.0)),
    (calls_members, Child, "offset", 42.0),
    (calls_members, Base, "scale", staticmethod(lambda x: x * 50.0)),
    (calls_members, Child, "scale", lambda self, x: x * 51.0),
    (calls_members, Base, "name", classmethod(lambda cls: 60.0)),
    (calls_sum, np, "sum", np.prod),
    (calls_sum, MODULE, "np", jnp),
]


@pytest.mark.parametrize("program, holder, name, new", REDEFINITIONS)
def test_a_redefined_callee_is_seen(program, holder, name, new, monkeypatch):
    x = np.array([1.0, 2.0]) if program is calls_sum else 2.0
    called = pystage.compile(program)
    check(program, x, staged=called)
    with monkeypatch.context() as patch:
        patch.setattr(holder, name, new, raising=False)
        check(program, x, staged=called)
    check(program, x, staged=called)


def test_new_code_and_defaults_of_a_callee_are_seen():
    def callee(x, k=2.0):
        return x * k

    def other(x, k=2.0):
        return x + k

    def program(x):
        return callee(x)

    called = pystage.compile(program)
    check(program, 3.0, staged=called)
    callee.__code__ = other.__code__
    check(program, 3.0, staged=called)
    callee.__defaults__ = (10.0,)
    check(program, 3.0, staged=called)
    program.__code__ = (lambda x: callee(x) * 5.0).__code__.replace(co_freevars=program.__code__.co_freevars)
    check(program, 3.0, staged=called)


def test_a_name_that_a_class_gets_later_is_seen():
    class Plain:
        def __init__(self, value):
            self.value = value

    def program(x):
        box = Plain(x)
        return box.value if not hasattr(Plain, "extra") else box.extra()

    called = pystage.compile(program)
    check(program, 3.0, staged=called)
    Plain.extra = lambda self: self.value * 100.0
    check(program, 3.0, staged=called)
    del Plain.extra
    Plain.__bool__ = lambda self: False
    check(lambda x: 1.0 if Plain(x) else 2.0, 3.0)


def test_a_compiled_method_reads_its_object_inside_another_program():
    layer = Layer(np.array([1.0, 2.0]), 0.5)
    forward = pystage.compile(layer.forward)

    def program(x):
        return forward(x) * 2.0

    called = pystage.compile(program)
    for weight in (3.0, 4.0):
        check(program, 2.0, staged=called)
        layer.weight = np.array([weight, 1.0])
        check(program, 2.0, staged=called)
        layer.weight[1] = 7.0
        check(program, 2.0, staged=called)


def test_a_builtin_that_the_module_shadows(monkeypatch):
    def program(x):
        return sum([x, x]), any(v > 100.0 for v in (x,))

    called = pystage.compile(program)
    check(program, 3.0, staged=called)
    monkeypatch.setattr(MODULE, "sum", lambda values: 5.0, raising=False)
    check(program, 3.0, staged=called)
    monkeypatch.setattr(MODULE, "any", lambda values: 7.0, raising=False)
    check(program, 3.0, staged=called)


def test_an_array_of_another_type_makes_the_program_read_other_things():
    box = {"table": np.array([1, 2]), "count": 3}

    def program(x):
        if box["table"].dtype == np.float64:
            return box["table"] * box["count"]
        return box["table"] * x

    called = pystage.compile(program, fallback="error")
    tables = [np.array([1, 2]), np.array([1.0, 2.0]), np.ones(3, np.float32)]
    for count in (3, 4, 3):
        for table in tables * 2:
            box.update(table=table, count=count)
            Comparison().same(program(2), called(2), f"{count} {table}")
    assert len(called.signatures()) <= 6


def test_an_array_that_is_captured_and_given_is_named_twice():
    table = np.zeros(3)

    def program(x):
        x[0] += 1
        return table[0]

    with pytest.raises(pystage.StagingError, match="PS806.*`x` shares memory with `table`"):
        pystage.compile(program, fallback="error")(table)


def test_threads_see_the_values_of_their_time():
    box = {"scale": 1.0, "count": 0, "table": np.ones(3)}

    def program(x):
        return x * box["scale"] + box["count"] + box["table"]

    called = pystage.compile(program)
    failures = []

    def work(k):
        for _ in range(20):
            Comparison().same(program(float(k)), called(float(k)), f"thread {k}")

    def guarded(k):
        try:
            work(k)
        except BaseException as error:
            failures.append(error)

    for count in range(3):
        box.update(scale=1.0 + count, count=count, table=np.full(3, float(count)))
        threads = [threading.Thread(target=guarded, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
