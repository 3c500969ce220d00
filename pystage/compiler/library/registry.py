"""The table of known callables: what a call to a Python object that is not user code means.

Library modules declare with `@meaning(np.sum, …)`. A meaning's own signature is what it accepts: a
keyword that it does not name is refused, never ignored.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ..values.lattice import Abstract

F = TypeVar("F", bound=Callable[..., Abstract])

_MEANINGS: dict[int, tuple[Any, Callable[..., Abstract]]] = {}


def meaning(*objects: Any) -> Callable[[F], F]:
    """Declares that calling any of `objects` means the decorated function `(ctx, …) → Abstract`."""

    def declare(function: F) -> F:
        for each in objects:
            if id(each) in _MEANINGS:
                raise TypeError(f"{each!r} has two meanings")
            _MEANINGS[id(each)] = (each, function)
        return function

    return declare


def meaning_of(callable_: object) -> Callable[..., Abstract] | None:
    """What a call to `callable_` means, or None where the library does not say."""
    found = _MEANINGS.get(id(callable_))
    return found[1] if found is not None else None


def known_callables() -> list[Any]:
    """Every callable that has a meaning."""
    return [each for each, _ in _MEANINGS.values()]


@functools.lru_cache(maxsize=None)
def signature_of(function: Callable[..., Abstract]) -> inspect.Signature:
    """The signature of a meaning without the context."""
    whole = inspect.signature(function)
    return whole.replace(parameters=list(whole.parameters.values())[1:])
