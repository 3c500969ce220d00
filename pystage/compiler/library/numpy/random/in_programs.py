"""Methods of generators whose states the program has: it draws itself, by the programs of `pcg64.py`.

In: a generator, the name of a method, and abstract arguments. Out: what it draws, and another state; or PS606 for methods
that have no such program. Inference begins again to have the state of a generator in the program where the host cannot draw
for it (`keep_state`), if all that it would draw there is among `SERVED`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....values.generators import bits_of, state_of, stateful_cell, words_of
from ....values.lattice import Abstract, Const, Ref
from ...context import Context, Raw
from ..composed import run_program
from . import pcg64
from ...kernels.structures import known_object
from ..indexing.stores import dtype_of
from .draws import FIXED, ActionBuilder, bound, stored

_PROGRAMS: dict[str, Callable[..., Any]] = {
    "random": pcg64.random,
    "uniform": pcg64.uniform,
    "integers": pcg64.integers,
    "choice": pcg64.choice,
    "permutation": pcg64.permutation,
    "shuffle": pcg64.shuffle,
    "permuted": pcg64.permuted,
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
    program = _PROGRAMS.get(name)
    if program is None:
        raise call.refusal(
            "the program itself draws from its generator, which it can do by other methods only"
        )
    given = bound(ctx, np.random.Generator, name, args, kwargs)
    out = call.takes_out(given)
    for parameter in FIXED & given.keys():
        given[parameter] = Const(call.argument(given[parameter], parameter))
    if name == "integers":
        _check_integers(call, given)
    if out is not None and name == "random":
        dtype = given.get("dtype")
        call.check_out(out, dtype.value if isinstance(dtype, Const) else None)
    result = run_program(ctx, program, (state,), given)
    return result if out is None else stored(ctx, out, result, call.name)


def _check_integers(call: ActionBuilder, given: dict[str, Any]) -> None:
    """PS606 for integers of other types than the default one, and for limits of which arrays are of other numbers."""
    if np.dtype(known_object(call.ctx, given.get("dtype", Const(np.int64)))) != np.int64:
        raise call.refusal("the program itself draws integers of 64 bits only", "convert them after the draw")
    for limit in (given.get("low"), given.get("high")):
        if call.ctx.is_ndarray(limit) and dtype_of(call.ctx, limit).kind not in "iub":
            raise call.refusal("its limits are arrays of other numbers than integers", "convert them first")


def made_with_state(
    ctx: Context, cls: type, function: Callable[..., Any], args: Sequence[Any], kwargs: Any
) -> Abstract:
    """A generator that the program makes, with its state in the program: `function` of known objects makes it."""
    make = functools.partial(function, *args, **kwargs)
    try:
        words = words_of(bits_of(make()))
    except (TypeError, ValueError) as error:
        ctx.raise_(error)
    state = ctx.ndarray(ctx.constant(words, np.uint64))
    return Ref(ctx.state.new_cell(stateful_cell(cls, state, Const(make))))
