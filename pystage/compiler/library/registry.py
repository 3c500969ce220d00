"""The table of meanings: from Python callables that are not user code to their implementations.

Library modules declare with `@meaning(np.sum, …)`. A meaning's own signature determines what it accepts: a
keyword that it does not name is refused, never ignored.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from ...deferred import deferred
from ..values.lattice import Abstract

F = TypeVar("F", bound=Callable[..., Abstract])

_MEANINGS: dict[int, tuple[Any, Callable[..., Abstract]]] = {}
_PLACES: dict[int | tuple[type, str], tuple[str, int]] = {}
_LATE: dict[str, Callable[[types.ModuleType], None]] = {}
_METHODS: dict[tuple[type, str], Callable[..., Abstract]] = {}


def meaning(*objects: Any) -> Callable[[F], F]:
    """Declares the decorated function `(ctx, …) → Abstract` as the meaning of calls of `objects`.

    A module whose import was interrupted declares it again, at the same place.
    """

    def declare(function: F) -> F:
        place = _defined_at(sys._getframe(1))
        for each in objects:
            if id(each) in _MEANINGS and _PLACES[id(each)] != place:
                raise TypeError(f"{each!r} has two meanings")
            _MEANINGS[id(each)] = (each, function)
            _PLACES[id(each)] = place
        return function

    return declare


def _defined_at(frame: types.FrameType) -> tuple[str, int]:
    """The file and line of a declaration: of a statement of a module, or of a function that declares a whole table."""
    while (outer := frame.f_back) is not None and frame.f_code.co_name != "<module>":
        of_module = outer.f_code.co_name == "<module>"
        if (of_module and not frame.f_code.co_argcount) or outer.f_globals["__name__"] in _OF_LATE:
            break
        frame = outer
    return frame.f_code.co_filename, frame.f_lineno


_OF_LATE = (__name__, deferred.__module__)
"""The modules that call what declares meanings late."""


def declared_at(callable_: object) -> tuple[str, int] | None:
    """The file and line at which the meaning of a callable is declared; None if it has none."""
    found = _PLACES.get(id(callable_))
    if found is None and isinstance(callable_, types.BuiltinMethodType | types.MethodType):
        return _PLACES.get((type(callable_.__self__), callable_.__name__))
    return _PLACES.get((type(callable_), "__call__")) if found is None else found


def takes_alternatives(meaning: F) -> F:
    """Declares that a meaning takes gated values, which other meanings get split."""
    meaning.takes_alternatives = True  # type: ignore[attr-defined]
    return meaning


def replace_meaning(callable_: Any, function: Callable[..., Abstract]) -> None:
    """Declares `function` as the meaning of `callable_`, which has one, from now on."""
    _MEANINGS[id(callable_)] = (callable_, function)


def method_meaning(cls: type, name: str) -> Callable[[F], F]:
    """Declares the meaning of the method `name` of the built-in class `cls`: `(ctx, receiver, …) → Abstract`."""

    def declare(function: F) -> F:
        _METHODS[cls, name] = function
        _PLACES[cls, name] = _defined_at(sys._getframe(1))
        return function

    return declare


def instance_meaning(cls: type) -> Callable[[F], F]:
    """Declares the meaning of calling an instance of `cls`: `(ctx, instance, …) → Abstract`."""
    return method_meaning(cls, "__call__")


def late_meanings(
    module: str,
) -> Callable[[Callable[[types.ModuleType], None]], Callable[[types.ModuleType], None]]:
    """Declares the meanings of a module's functions once the program imports it (decorator)."""

    def declare(
        function: Callable[[types.ModuleType], None],
    ) -> Callable[[types.ModuleType], None]:
        _LATE[module] = function
        return function

    return declare


def _declare_late() -> bool:
    """Declares the meanings of modules that were imported since; True if there were any."""
    found = [name for name in _LATE if name in sys.modules]
    for name in found:
        _LATE.pop(name)(sys.modules[name])
    return bool(found)


def meaning_of(callable_: object) -> Callable[..., Abstract] | None:
    """The meaning of `callable_`, or None if the library has none."""
    found = declared(callable_)
    return declared(callable_) if found is None and _LATE and _declare_late() else found


def declared(callable_: object) -> Callable[..., Abstract] | None:
    """As `meaning_of`, for modules that are being loaded: nothing is declared late meanwhile."""
    found = _MEANINGS.get(id(callable_))
    if found is not None:
        return found[1]
    if isinstance(callable_, types.BuiltinMethodType | types.MethodType):
        holder, name = callable_.__self__, callable_.__name__
        method = _METHODS.get((type(holder), name))
        if method is None and isinstance(holder, type):  # a method of a class
            method = _METHODS.get((holder, name))
        return None if method is None else _bound(method, holder)
    method = _METHODS.get((type(callable_), "__call__"))
    return None if method is None else _bound(method, callable_)


@functools.cache
def _bound(method: Callable[..., Abstract], receiver: Any) -> Callable[..., Abstract]:
    """The meaning of a method, bound to its receiver."""

    def call(ctx: Any, *args: Any, **kwargs: Any) -> Abstract:
        return method(ctx, receiver, *args, **kwargs)

    def signature() -> inspect.Signature:
        whole = whole_signature(method)
        ctx, _, *rest = whole.parameters.values()
        return whole.replace(parameters=[ctx, *rest])

    call.__dict__.update(vars(method))
    return signed(call, signature)


def method_of(cls: type, name: str) -> Callable[..., Abstract] | None:
    """The meaning of the method `name` of instances of a built-in class; it takes the receiver."""
    return _METHODS.get((cls, name))


def known_callables() -> list[Any]:
    """Every callable that has a meaning."""
    return [each for each, _ in _MEANINGS.values()]


def signed(function: F, signature: Callable[[], inspect.Signature]) -> F:
    """Gives a meaning its signature, which is made at its first use: few are used."""
    function.signed = signature  # type: ignore[attr-defined]
    return function


@functools.cache
def whole_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a meaning, or of a plain program that is one."""
    made = getattr(function, "signed", None)
    return inspect.signature(function) if made is None else made()


@functools.cache
def signature_of(function: Callable[..., Abstract]) -> inspect.Signature:
    """The signature of a meaning without the context."""
    whole = whole_signature(function)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


@functools.cache
def _plain_parameters(function: Callable[..., Abstract]) -> tuple[list[str], frozenset[str], int] | None:
    """Positional parameters, those that a name can stand for, how many come first without a default.

    None for a signature of another shape.
    """
    parameters = list(signature_of(function).parameters.values())
    only, both, named = (
        [p for p in parameters if p.kind is kind]
        for kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        )
    )
    if len(only) + len(both) + len(named) < len(parameters) or any(p.default is p.empty for p in named):
        return None
    required = sum(p.default is p.empty for p in (*only, *both))
    return [p.name for p in (*only, *both)], frozenset([p.name for p in (*both, *named)]), required


def accepts(function: Callable[..., Abstract], count: int, names: Collection[str]) -> bool:
    """True if a meaning certainly takes `count` positional arguments and those called `names`.

    The quick way to the answer that `signature_of(function).bind` gives for all shapes of signature.
    """
    found = _plain_parameters(function)
    if found is None:
        return False
    positional, known, required = found
    return required <= count <= len(positional) and (
        not names or all(name in known and name not in positional[:count] for name in names)
    )
