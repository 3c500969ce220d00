"""`isinstance`, `issubclass` and patterns: of classes that answer themselves, and of what is registered after a call."""

from __future__ import annotations

import abc
import collections.abc
import functools
import numbers
import operator
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checking import Cases, check

import pystage

cases = Cases()


class Asks(type):
    """A metaclass that answers by what an object holds."""

    def __instancecheck__(cls, x: Any) -> Any:
        return hasattr(x, "side") and x.side > cls.least

    def __subclasscheck__(cls, other: Any) -> bool:
        return other.__name__.startswith("S")


class Large(metaclass=Asks):
    least = 2.0


class Huge(metaclass=Asks):
    least = 9.0


class Square:
    def __init__(self, side: float) -> None:
        self.side = side

    def area(self) -> float:
        return self.side**2


class Nothing:
    area = None


class Stand(Square):
    @property
    def __class__(self) -> type:
        return float


@typing.runtime_checkable
class Sided(typing.Protocol):
    side: float


@typing.runtime_checkable
class HasArea(typing.Protocol):
    def area(self) -> float: ...


class Unchecked(typing.Protocol):
    side: float


@cases(3.0)
@cases(1.0)
def a_metaclass_answers(side):
    square = Square(side)
    return isinstance(square, Large), isinstance(square, (int, Huge, Large)), isinstance(2, Large), side


@cases(3.0)
def a_class_that_names_another(side):
    asked = Stand(side)
    return (
        isinstance(asked, float),
        isinstance(asked, Stand),
        isinstance(asked, int),
        asked.__class__ is float,
        side,
    )


@cases(3.0)
def a_metaclass_answers_for_classes(side):
    return issubclass(Square, Large), issubclass(Nothing, (Huge, Nothing)), issubclass(Nothing, Large), side


@cases(3.0)
def protocols(side):
    square, nothing = Square(side), Nothing()
    has_area = isinstance(square, HasArea), isinstance(nothing, HasArea), issubclass(Square, HasArea)
    return has_area, isinstance(square, Sided), isinstance(nothing, Sided), isinstance(side, Sided), side


@cases(3.0)
def a_method_that_is_assigned(side):
    square, nothing = Square(side), Nothing()
    square.area = None
    nothing.area = abs
    return isinstance(square, HasArea), isinstance(nothing, HasArea), side


@cases(3.0)
def patterns_of_protocols(side):
    match Square(side):
        case Sided(side=found):
            return found
    return None


@cases(3.0, raises=TypeError)
def a_protocol_that_cannot_be_asked(side):
    return isinstance(Square(side), Unchecked)


@cases(3.0, raises=TypeError)
def classes_of_a_protocol_with_attributes(side):
    return issubclass(Square, Sided), side


@cases(3.0, raises=TypeError)
def a_number_as_a_class(side):
    return isinstance(side, (int, 3))


@cases(3.0)
@cases(3)
def a_list_of_something(side):
    try:
        return isinstance(side, float | list[int]), side
    except TypeError as error:
        return str(error), side


@cases(3.0)
def unions(side):
    return (
        isinstance(side, int | None),
        isinstance(None, int | None),
        isinstance(side, typing.Optional[float]),  # noqa: UP045,
    )


@pytest.mark.parametrize(("function", "args", "options"), cases.params)
def test_answers(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> None:
    check(function, *args, **options)


def test_what_is_registered_later() -> None:
    class Shape(abc.ABC):  # noqa: B024
        pass

    class Mine:
        def __init__(self) -> None:
            self.items = [1.0, 2.0]

        def __len__(self) -> int:
            return len(self.items)

        def __getitem__(self, i: int) -> float:
            return self.items[i]

    @functools.singledispatch
    def named(x: Any) -> float:
        return 1.0

    @named.register(numbers.Number)
    def _(x: Any) -> float:
        return 2.0

    def instance(mine: Mine, x: np.ndarray) -> Any:
        return x + isinstance(mine, Shape)

    def subclass(mine: Mine, x: np.ndarray) -> Any:
        return x + issubclass(type(mine), (int, Shape))

    def dispatched(mine: Mine, x: np.ndarray) -> Any:
        return x * named(mine)

    def pattern(mine: Mine, x: np.ndarray) -> Any:
        match mine:
            case [first, _]:
                return x + first
            case Shape():
                return x + 10
        return x

    x = np.ones(2)
    functions = instance, subclass, dispatched, pattern
    compiled = [pystage.compile(f, fallback="error") for f in functions]

    def compare() -> list[float]:
        for function, staged in zip(functions, compiled, strict=True):
            check(function, Mine(), x, staged=staged)
        return [float(staged(Mine(), x)[0]) for staged in compiled]

    assert compare() == [1, 1, 1, 1]
    Shape.register(Mine)
    assert compare() == [2, 2, 1, 11]
    numbers.Number.register(Mine)
    assert compare() == [2, 2, 2, 11]
    collections.abc.Sequence.register(Mine)
    assert compare() == [2, 2, 2, 2]


@pytest.mark.parametrize("cls", [operator.itemgetter, operator.attrgetter, operator.methodcaller])
def test_whether_a_function_is_one_of_operator_is_refused(cls: Any) -> None:
    check(lambda x: (isinstance(cls("real"), cls), x), 1.0, refused="PS606")
    check(lambda x: (isinstance(abs, cls), callable(cls("real")), x), 1.0)
