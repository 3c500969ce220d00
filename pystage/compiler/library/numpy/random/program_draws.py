"""Methods of generators whose states are in the program, by the programs of `pcg64.py` and `ziggurat.py`.

In: a generator, the name of a method, and abstract arguments. Out: what it draws, and another state. Inference begins again
to have the state of a generator in the program where the host cannot draw for it (`Context.keep_state`), and once more to
leave it to the host where a method is called that has no such program.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....ops.host.draw import Action, Operand
from ....values.boundary import Form
from ....values.generators import MAKE, NUMBER, WORDS, handle_of, state_of, stateful_cell, words_of_generator
from ....values.lattice import Abstract, Array, Const, Ref
from ...context import Context, Raw
from ...kernels.python_implementations import run_program
from ...kernels.structures import abstract
from ...rules.jax import is_none
from ..indexing.computed_shapes import is_computed_shape
from . import pcg64, ziggurat
from .draws import FIXED, ActionBuilder, bound, stored
from .permutations import returned

PROGRAMS: dict[str, Callable[..., Any]] = {
    "random": pcg64.random,
    "uniform": pcg64.uniform,
    "integers": pcg64.integers,
    "choice": pcg64.choice,
    "permutation": pcg64.permutation,
    "shuffle": pcg64.shuffle,
    "permuted": pcg64.permuted,
    "standard_normal": ziggurat.standard_normal,
    "normal": ziggurat.normal,
    "lognormal": ziggurat.lognormal,
    "standard_exponential": ziggurat.standard_exponential,
    "exponential": ziggurat.exponential,
}


def state_in_program(ctx: Context, receiver: Any) -> Abstract | None:
    """The reference to the state of a generator; None if the host draws for it."""
    given = receiver.value if isinstance(receiver, Const) else receiver
    ref = given if isinstance(given, Ref) else ctx.captured_generator(given)
    return state_of(ctx.cell(ref))


def draw_in_program(
    ctx: Context, state: Abstract, name: str, args: tuple[Raw, ...], kwargs: dict[str, Raw]
) -> Abstract:
    """A draw of the program's own."""
    call = ActionBuilder(ctx, f"Generator.{name}")
    program = PROGRAMS.get(name)
    if program is None:
        ctx.leave_states()
    given = bound(ctx, np.random.Generator, name, args, kwargs)
    if name == "permuted" and not is_none(given.get("out")):
        ctx.leave_states()
    out = call.takes_out(given)
    for parameter in FIXED & given.keys():
        if parameter == "size" and is_computed_shape(ctx, given[parameter]):
            continue
        given[parameter] = Const(_fixed(ctx, parameter, call.argument(given[parameter], parameter)))
    if out is not None:
        dtype = given.get("dtype")
        call.check_out(out, dtype.value if isinstance(dtype, Const) else None)
    if name == "permutation" and returned(ctx, given["x"]) and "axis" not in given:
        return abstract(given["x"])
    result = run_program(ctx, program, (state,), given)
    return result if out is None else stored(ctx, out, result, call.name)


def _fixed(ctx: Context, parameter: str, given: Any) -> Any:
    """A constant argument; a size as a tuple of integers, or as an integer."""
    if parameter != "size" or given is None:
        return given
    several = isinstance(given, tuple | list | np.ndarray)
    try:
        extents = tuple(map(operator.index, given if several else (given,)))
    except TypeError:
        ctx.leave_states()
    if isinstance(given, bool) or any(n < 0 for n in extents):
        ctx.leave_states()
    return extents if several else extents[0]


def made_with_state(
    ctx: Context, cls: type, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Abstract:
    """A generator that the program constructs from known seeds, with its state in the program."""
    make = functools.partial(function, *args, **kwargs)
    try:
        words = words_of_generator(make())
    except (TypeError, ValueError) as error:
        ctx.raise_(error)
    state = ctx.ndarray(ctx.constant(words, np.uint64))
    return Ref(ctx.state.new_cell(stateful_cell(cls, state, {MAKE: Const(make)})))


def made_by_host(ctx: Context, cls: type, made: Abstract) -> Abstract:
    """A generator that the host constructs before the program runs, with its state in the program."""
    assert isinstance(made, Ref)
    number = handle_of(ctx.cell(made))
    words = ctx.draw(Action("the state of a generator", words_of_generator, (Operand(0),)), [number], WORDS)
    assert words is not None
    state = ctx.ndarray(words)
    return Ref(ctx.state.new_cell(stateful_cell(cls, state, {NUMBER: Array(number, Form.PYTHON)})))
