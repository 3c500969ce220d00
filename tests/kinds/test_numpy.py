"""Every function of NumPy that the library knows, with `jax.Array`s for its array arguments.

What NumPy does with an object that is no ndarray is up to the function: it uses a method or the operators of the object,
or converts it. Each call runs plain and staged with each array argument a `jax.Array`, and with all; and with floats of
other widths. The staged run is the reference interpreter's; those of `COMPILED` are XLA's, and their weak types compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from outcomes import Outcome

from kinds.calls import ARRAYS, CALLS, WITHOUT_ARRAYS, names_in
from kinds.running import KINDS, SAMPLED, Kind, outcome_of, program_of
from pystage.compiler.library import declarations  # noqa: F401  (declares the meanings)
from pystage.compiler.library.registry import known_callables, meaning_of

COMPILED = {
    "flip",
    "moveaxis",
    "diagonal",
    "trace",
    "split",
    "take_along_axis",
    "choose",
    "sum|mean",
    "add",
    "where",
}


def program(text: str) -> tuple[Callable[..., Any], list[str]]:
    """A function that returns the value of an expression, and the names of its arguments."""
    names = names_in(text)
    return program_of(text, names), names


def name_of(function: Any) -> str:
    """`linalg.norm` of `np.linalg.norm`."""
    module = function.__module__ if isinstance(getattr(function, "__module__", None), str) else "numpy"
    part = module.removeprefix("numpy").removeprefix(".")
    return f"{part}.{function.__name__}" if part in ("linalg", "fft") else function.__name__


def is_of_numpy(function: Any) -> bool:
    if isinstance(function, np.ufunc):  # SciPy's are not asked for
        return getattr(np, function.__name__, None) is function
    module = getattr(function, "__module__", None) or ""
    return module.startswith("numpy") and not module.startswith("numpy.random")


def is_refused(function: Any) -> bool:
    """Whether the meaning refuses every call."""
    made = meaning_of(function)
    return made is not None and made.__qualname__.startswith("refused.")


def test_every_function_has_a_call() -> None:
    functions = [f for f in known_callables() if is_of_numpy(f) and getattr(f, "__name__", None)]
    missing = [
        name_of(f)
        for f in functions
        if not is_refused(f) and name_of(f) not in CALLS and name_of(f) not in WITHOUT_ARRAYS
    ]
    assert len(functions) > 300
    assert not missing


def wrong(text: str, kind: Kind, compiled: bool) -> list[str]:
    """What differs in a call, with one array of this kind after the other, and with all."""
    function, names = program(text)
    singles = [{name} for name in names] if kind.jax else []
    found = []
    for chosen in [*singles, *([set(names)] if len(names) != 1 or not kind.jax else [])]:
        args = [kind.of(ARRAYS[n]) if n in chosen else ARRAYS[n] for n in names]
        outcome = outcome_of(function, tuple(args), {}, kind, not compiled)
        if outcome.is_wrong:
            found.append(f"{text} with {', '.join(sorted(chosen))}: {outcome.text}")
    return found


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", SAMPLED, ids=lambda kind: kind.name)
def test_functions(name: str, kind: Kind) -> None:
    found = [each for text in CALLS[name] for each in wrong(text, kind, name in COMPILED and kind.jax)]
    assert not found, "\n\n".join(found)


def test_a_difference_is_found() -> None:
    """The tests here can fail: what is staged as `np.trace` must be told from its twin in `jax.numpy`."""
    function, _ = program("np.trace(a)")
    other, _ = program("a.trace()")
    kind = KINDS[0]
    outcome = outcome_of(function, (kind.of(ARRAYS["a"]),), {}, kind, True, staged_as=other)
    assert isinstance(outcome, Outcome)
    assert outcome.is_wrong
    assert Counter([outcome.what]) == Counter(["differs"])
