"""Copies and pickles of compiled functions, of their methods and of what holds one: as of plain functions."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
from typing import Any

import pytest

import pystage


@pystage.compile
def doubled(x: Any) -> Any:
    return x * 2


def increased(x: Any) -> Any:
    return x + 1


compiled = pystage.compile(increased, fallback="error")


@dataclasses.dataclass
class Layer:
    """Holds a compiled function, and has compiled methods."""

    function: Any
    weight: float

    @pystage.compile
    def scaled(self, x: Any) -> Any:
        return self.weight * x

    @staticmethod
    @pystage.compile
    def tripled(x: Any) -> Any:
        return x * 3


LAYER = Layer(doubled, 1.5)


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_a_function_is_its_copy(copied: Any) -> None:
    assert copied(doubled) is doubled
    assert copied([doubled])[0] is doubled
    assert copied(Layer.tripled) is Layer.tripled
    assert copied(functools.partial(doubled, 3)).func is doubled
    assert copied(LAYER) == LAYER


def test_a_function_of_another_name_is_compiled_again() -> None:
    again = pickled(compiled)
    assert again.__wrapped__ is increased and again.fallback == "error" and again(2) == 3
    assert copy.deepcopy(compiled) is compiled


def test_a_function_without_a_name_has_no_pickle() -> None:
    def inner(x: Any) -> Any:
        return x

    with pytest.raises(AttributeError, match="Can't pickle local object"):
        pickle.dumps(pystage.compile(inner))


def test_fields_of_dataclasses() -> None:
    assert dataclasses.asdict(LAYER) == {"function": doubled, "weight": 1.5}
    assert dataclasses.astuple(LAYER) == (doubled, 1.5)
    assert dataclasses.replace(LAYER, weight=2.0).function is doubled


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_methods_are_those_of_a_copy(copied: Any) -> None:
    method = copied(LAYER.scaled)
    assert method.__self__ == LAYER and method.__self__ is not LAYER
    assert method(2.0) == 3.0


def test_methods_of_one_object_are_equal() -> None:
    other = copy.copy(LAYER)
    assert LAYER.scaled == LAYER.scaled == copy.copy(LAYER.scaled)
    assert len({LAYER.scaled, LAYER.scaled, other.scaled}) == 2
    assert LAYER.scaled != other.scaled
