"""`numpy.random`: methods of generators, functions of the module, and generators that the program constructs.

In: calls. Out: draws that the host performs (`draws.py`, `permutations.py`), or PS606 for access to the state of a
generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ....diagnostics.codes_calls import NotServed
from ....ops.host.draw import Action, Operand
from ....values.generators import BITS, GENERATORS, stateful_cell
from ....values.lattice import NONE, Abstract, Const, ObjectCell, Ref
from ...context import Context, Raw
from ...kernels.structures import abstract, cell_of
from ...registry import declared, meaning, method_meaning
from .draws import DRAWS, ActionBuilder, drawn, receiver_of
from .permutations import choice, permute, shuffle
from .program_draws import draw_in_program, made_by_host, made_with_state, state_in_program

_STATE = "it is about the state of a generator, which lives on the host"
_OUTSIDE = "call it outside of the staged function"
_REFUSED = {
    "bytes": "it gives bytes, which no array holds",
    "spawn": _STATE,
    "get_state": _STATE,
    "set_state": _STATE,
}
_Do = Callable[[Context, Any, str, tuple[Raw, ...], dict[str, Raw]], Abstract]
_SPECIAL: dict[str, _Do] = {
    "choice": choice,
    "permutation": permute,
    "permuted": permute,
    "shuffle": shuffle,
}


def _refusal(name: str, why: str) -> Callable[..., Abstract]:
    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> NoReturn:
        ctx.fail(NotServed(span=ctx.span, name=name, why=why, instead=_OUTSIDE))

    call.__doc__ = f"Refused: {why}."
    call.reason = why  # type: ignore[attr-defined]
    return call


def _method(name: str) -> Callable[..., Abstract]:
    if name == "seed":
        return seed
    do: _Do = _SPECIAL.get(name, drawn)

    def call(ctx: Context, /, receiver: Any, *args: Raw, **kwargs: Raw) -> Abstract:
        state = state_in_program(ctx, receiver)
        if state is not None:
            return draw_in_program(ctx, state, name, args, kwargs)
        return do(ctx, receiver, name, args, kwargs)

    call.__doc__ = f"`generator.{name}(…)`, drawn by the host, or by the program (`program_draws.py`)."
    return call


def _refused_method(cls: type, name: str) -> Callable[..., Abstract]:
    refusal = _refusal(f"{cls.__name__}.{name}", _REFUSED.get(name, _STATE))

    def call(ctx: Context, /, receiver: Any, *args: Raw, **kwargs: Raw) -> Abstract:
        return refusal(ctx, *args, **kwargs)

    call.reason = refusal.reason  # type: ignore[attr-defined]
    return call


def seed(ctx: Context, /, receiver: Any, *args: Raw, **kwargs: Raw) -> Abstract:
    """`seed(seed)` of a `RandomState`: restarts its draws."""
    _, handle = receiver_of(ctx, receiver)
    call = ActionBuilder(ctx, "RandomState.seed")
    first = call.operand(handle)
    known = [call.argument(a, "seed") for a in args]
    named = {k: call.argument(v, k) for k, v in kwargs.items()}
    ctx.draw(
        Action(call.name, "seed", (first, *known), tuple(named.items())),
        call.operands,
        None,
    )
    return NONE


def _maker(name: str, cls: type, function: Callable[..., Any]) -> Callable[..., Abstract]:
    def make(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        if function is np.random.default_rng:
            for given in (*args, *kwargs.values()):
                cell = cell_of(ctx, given)
                if isinstance(cell, ObjectCell) and cell.cls is np.random.Generator:
                    return abstract(given)
        for given in (*args, *kwargs.values()):
            shared = state_in_program(ctx, given) if _is_generator(ctx, given) else None
            if shared is not None:
                return Ref(ctx.state.new_cell(stateful_cell(cls, shared, {BITS: abstract(given)})))
        call = ActionBuilder(ctx, f"np.random.{name}")
        known = [call.argument(a, "seed") for a in args]
        named = {k: call.argument(v, k) for k, v in kwargs.items()}
        keeps = ctx.keeps_state() and cls in (np.random.Generator, np.random.PCG64)
        if keeps and _is_given(*known, *named.values()):
            return made_with_state(ctx, cls, function, known, named)
        made = call.makes(cls, function, known, named)
        return made_by_host(ctx, cls, made) if keeps else made

    make.__doc__ = f"`np.random.{name}(…)`: a generator that the host makes at each call."
    return make


def _is_generator(ctx: Context, given: Raw) -> bool:
    cell = cell_of(ctx, given)
    return isinstance(cell, ObjectCell) and cell.cls in GENERATORS


def _is_given(*seeds: Any) -> bool:
    """True if these are known seeds of the same generator each time."""
    return bool(seeds) and not any(seed is None or isinstance(seed, Operand) for seed in seeds)


METHODS_OF_ELEMENTS: dict[str, Callable[..., Abstract]] = {}
"""The methods that move the elements of an array, as programs name them; they refuse types and shapes."""


def _declare() -> None:
    for cls in GENERATORS:
        served = cls in DRAWS
        for name in [n for n in dir(cls) if not n.startswith("_") and callable(getattr(cls, n))]:
            serves = served and name not in _REFUSED
            means = _method(name) if serves else _refused_method(cls, name)
            method_meaning(cls, name)(means)
            if served and name in _SPECIAL:
                METHODS_OF_ELEMENTS[f"{cls.__name__}.{name}"] = means
            if served and declared(getattr(cls, name)) is None:
                meaning(getattr(cls, name))(means)
        meaning(cls)(_maker(cls.__name__, cls, cls))
    meaning(np.random.default_rng)(_maker("default_rng", np.random.Generator, np.random.default_rng))
    shared = Const(getattr(np.random.normal, "__self__"))  # noqa: B009 (it is a method, of one generator for all)
    for name in ("ranf", "sample"):
        meaning(getattr(np.random, name))(_of_module(shared, _method("random_sample")))
    meaning(np.random.seed)(_of_module(shared, seed))
    for name in dir(np.random):
        function = getattr(np.random, name)
        if callable(function) and not name.startswith("_") and declared(function) is None:
            meaning(function)(_refusal(f"np.random.{name}", _STATE))


def _of_module(generator: Const, method: Callable[..., Abstract]) -> Callable[..., Abstract]:
    def call(ctx: Context, /, *args: Raw, **kwargs: Raw) -> Abstract:
        return method(ctx, generator, *args, **kwargs)

    return call


_declare()
