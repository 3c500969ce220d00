"""`functools.singledispatch` and `singledispatchmethod`: the implementation is that of the class of the argument."""

from __future__ import annotations

import abc
import collections.abc
import dataclasses
import functools
import numbers
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checking import Cases, check

import pystage

cases = Cases()


@dataclasses.dataclass
class Square:
    side: float


@dataclasses.dataclass
class Circle:
    radius: float


class Unit(Square):
    def __init__(self) -> None:
        super().__init__(1.0)


@functools.singledispatch
def area(shape: Any) -> Any:
    return -1.0


@area.register
def _(shape: Square) -> Any:
    return shape.side**2


@area.register(Circle)
def of_circle(shape: Any, scale: Any = 1.0) -> Any:
    return 3.0 * shape.radius**2 * scale


@area.register(collections.abc.Sequence)
def _(shape: Any) -> Any:
    return sum([area(each) for each in shape])


@area.register(np.ndarray)
def _(shape: Any) -> Any:
    return shape.sum()


@area.register
def _(shape: numbers.Integral) -> Any:
    return shape * 10


@area.register(jax.Array)
def _(shape: Any) -> Any:
    return jnp.max(shape)


@area.register(float)
@area.register(np.float32)
def _(shape: Any) -> Any:
    return shape * 100


SHAPES = [Square(2.0), Circle(3.0), [Square(1.0), (Circle(2.0), 3.5), 4], 3, 2.5, True, None, Unit()]
ARRAYS = [np.ones(3), np.float32(3), np.float64(3), np.int32(5), jnp.ones(2)]


@cases.each(*[(shape,) for shape in [*SHAPES, *ARRAYS]])
def by_class(shape: Any) -> Any:
    return area(shape) + 1


@cases.each(([1.0, -2.0], 3), ([1.0, 2.0], 0))
def in_a_loop(values: Any, n: Any) -> Any:
    total = 0.0
    for _ in range(n):
        for value in values:
            total += area(Square(value)) + area(n)
    return total


@cases.each((Circle(2.0), 3.0))
def by_further_arguments(shape: Any, scale: Any) -> Any:
    return area(shape, scale=scale), area.dispatch(Circle)(shape)


@cases.each((2.0,), (-2.0,))
def of_one_of_two_classes(x: Any) -> Any:
    shape: Any = Square(x) if x > 0 else Circle(x)
    return area(shape)


@cases.each((1.0,), (-1.0,))
def of_a_number_of_one_of_two_kinds(x: Any) -> Any:
    return area(1 if x > 0 else 2.0)


class Machine:
    def __init__(self) -> None:
        self.total = 0.0

    @functools.singledispatchmethod
    @classmethod
    def named(cls, value: Any) -> Any:
        return cls.__name__, value

    @named.register
    @classmethod
    def _(cls, value: int) -> Any:
        return value, cls.__name__

    @functools.singledispatchmethod
    def take(self, value: Any, times: Any = 1) -> Any:
        return "no"

    @take.register
    def _(self, value: int) -> Any:
        self.total += value
        return self.total

    @take.register(float)
    def _(self, value: Any, times: Any = 2) -> Any:
        self.total *= value * times
        return self.total

    @take.register(list)
    @staticmethod
    def _(value: Any) -> Any:
        return len(value)

    @take.register(tuple)
    @classmethod
    def _(cls, value: Any) -> Any:
        return cls.__name__, value


@cases.each((Machine(), 3, 2.5), (Machine(), 2.5, [1]), (Machine(), (1, 2), "x"))
def methods(machine: Any, first: Any, second: Any) -> Any:
    return machine.take(first), machine.take(second), machine.total


@cases.each((3,), (2.5,))
def methods_of_the_class(x: Any) -> Any:
    return Machine.named(x)


class First(abc.ABC):  # noqa: B024
    pass


class Second(abc.ABC):  # noqa: B024
    pass


@First.register
@Second.register
class Either:
    def __init__(self) -> None:
        self.x = 1.0


@functools.singledispatch
def first_or_second(value: Any) -> Any:
    return 0


first_or_second.register(First, lambda value: value.x)
first_or_second.register(Second, lambda value: -value.x)


@cases.each((Either(),))
def of_two_that_fit(value: Any) -> Any:
    try:
        return first_or_second(value)
    except RuntimeError as error:
        return type(error).__name__


@cases.each((Machine(), 3.0))
def methods_with_further_arguments(machine: Any, x: Any) -> Any:
    return machine.take(4), machine.take(x, times=3), machine.take(x, 5)


@pytest.mark.parametrize("function, args, options", cases.params)
def test_the_same_as_plain(function: Callable[..., Any], args: Any, options: Any) -> None:
    check(function, *args, **options)


def test_what_is_registered_later_is_seen() -> None:
    @functools.singledispatch
    def named(x: Any) -> Any:
        return x + 1

    def called(x: Any) -> Any:
        return named(x)

    staged = pystage.compile(called, fallback="error")
    assert staged(1.5) == 2.5
    named.register(int, lambda x: x * 3)
    assert staged(1.5) == 2.5 and staged(2) == 6
    named.register(float, lambda x: x * 2)
    assert staged(1.5) == 3.0
    named.register(float, lambda x: x * 4)
    assert staged(1.5) == 6.0
