"""One program for each signature: calls with arguments of a kind that was there before compile nothing."""

from __future__ import annotations

import copy
import io
import zlib
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import numpy as np
import pystage
import pytest
from collected_cases import programs
from pystage.runtime.function import CompiledFunction
from sampling import ALL

from contract.test_examples import PROGRAMS

CALLS = 10
EACH = 400
"""Of so many programs of the contract one runs in `make test`."""
COPIED_FUNCTIONS = {"contract.language.test_classes:model-1"}
"""A copy of `jnp.tanh` is another function, which programs are compiled for."""


def kind_of(staged: CompiledFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What of the arguments may need a program of its own: their containers, types, and the values of numbers."""
    shape, leaves = staged._dispatcher.flattener.flatten(tuple, tuple(kwargs), (*args, *kwargs.values()))
    types = [(type(x), getattr(x, "shape", ()), str(getattr(x, "dtype", ""))) for x in leaves]
    return shape, tuple(types), tuple([repr(x) for x in leaves if isinstance(x, int | np.integer | str)])


def check_compilations(
    function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], kwargs: dict[str, Any]
) -> None:
    """Asserts that ten calls, each with the next arguments of `make`, compile only for kinds of arguments that are new."""
    staged = pystage.compile(function, fallback="error")
    assert isinstance(staged, CompiledFunction)
    kinds: set[Any] = set()
    for number in range(CALLS):
        args = make()
        kind, made = kind_of(staged, args, kwargs), [id(program) for program in staged._dispatcher.staged]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            try:
                staged(*args, **kwargs)
            except pystage.StagingError:
                return
            except Exception:  # as the plain run does
                pass
        if kind in kinds:
            assert [id(program) for program in staged._dispatcher.staged] == made, (
                f"call {number} has compiled"
            )
        kinds.add(kind)


def check_both(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """With new arguments for each call, and with the same objects for all."""
    check_compilations(function, lambda: copy.deepcopy(args), kwargs)
    kept = copy.deepcopy(args)
    check_compilations(function, lambda: kept, kwargs)


CONTRACT = [
    param
    for name, param in programs("contract", "errors")
    if (key := f"{name}:{param.id}") not in COPIED_FUNCTIONS
    and not dict(param.values[2]).get("refused")
    and (ALL or zlib.crc32(key.encode()) % EACH == 0)
]


@pytest.mark.parametrize("function, args, options", CONTRACT)
def test_programs_of_the_contract(function, args, options):
    check_both(function, args, options.get("kwargs") or {})


@pytest.mark.skipif(not ALL, reason="they take long")
@pytest.mark.parametrize("function, make_args", PROGRAMS)
def test_examples(function, make_args):
    check_both(function, make_args(), {})


class Layer(NamedTuple):
    weight: np.ndarray
    strides: tuple[int, int] = (1, 1)


class Optimizer:
    def __init__(self):
        self.stride = (1, 1)
        self.moments = [np.zeros(3), np.zeros(3)]


def of_a_list_of_tuples(model, state):
    state["m"] = state["m"] + model[0][0]


def adam(layers, optimizer, gradients):
    for i in range(len(layers)):
        moment = 0.9 * optimizer.moments[i] + 0.1 * gradients[i][0]
        optimizer.moments[i] = moment
        layers[i] = Layer(layers[i].weight - 0.01 * moment, layers[i].strides)


@pytest.mark.parametrize(
    "function, args",
    [
        (of_a_list_of_tuples, ([(np.ones(3),)], {"m": np.zeros(3)})),
        (adam, ([Layer(np.ones(3)), Layer(np.ones(3))], Optimizer(), [(np.ones(3),), (np.ones(3),)])),
    ],
)
def test_stores_beside_tuples_in_containers(function, args):
    check_both(function, args, {})
