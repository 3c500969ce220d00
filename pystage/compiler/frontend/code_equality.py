"""Equivalence of code objects: detects that a file was edited after its functions were loaded.

Everything that determines a function's behaviour is compared (instructions, names, constants, nested code); positions
(file, lines) are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType

_REWRITTEN = "@pytest_ar"
"""The name by which pytest's rewritten `assert`s call it; such code differs from its source on purpose."""


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Every code object inside `code`, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from nested_codes(constant)


def same_meaning(running: CodeType, found: CodeType) -> bool:
    """Does `found`, compiled from the file just now, do what `running` does?"""
    if any(_REWRITTEN in code.co_names for code in (running, *nested_codes(running))):
        return _same_interface(running, found) and set(found.co_names) <= set(running.co_names)
    return (
        _same_interface(running, found)
        and running.co_code == found.co_code
        and running.co_names == found.co_names
        and running.co_varnames == found.co_varnames
        and running.co_cellvars == found.co_cellvars
        and running.co_exceptiontable == found.co_exceptiontable
        and same_constant(running.co_consts, found.co_consts)
    )


def same_constant(a: object, b: object) -> bool:
    """Equality of constants that distinguishes `1`, `1.0` and `True`, and `0.0` from `-0.0`."""
    if type(a) is not type(b):
        return False
    match a, b:
        case (CodeType(), CodeType()):
            return same_meaning(a, b)
        case (tuple(), tuple()):
            return len(a) == len(b) and all(map(same_constant, a, b))
        case (frozenset(), frozenset()):
            return sorted(map(_key, a)) == sorted(map(_key, b))
        case _:
            return repr(a) == repr(b)


def _key(constant: object) -> tuple[str, str]:
    return type(constant).__name__, repr(constant)


def _same_interface(a: CodeType, b: CodeType) -> bool:
    count = a.co_argcount + a.co_kwonlyargcount
    return (
        a.co_argcount == b.co_argcount
        and a.co_posonlyargcount == b.co_posonlyargcount
        and a.co_kwonlyargcount == b.co_kwonlyargcount
        and a.co_varnames[:count] == b.co_varnames[:count]
        and a.co_freevars == b.co_freevars
    )
