"""Functions as arguments: which of them may take each other's place, as the lambda that each call makes anew.

A program is specialised on the functions that it was given. Where it does nothing with one but call it, it serves another
one too that has the same code and finds the same around it.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterator
from typing import Any

from ...compiler.analysis.variables import only_called
from ...compiler.frontend import FrontendError, stage_function

_VALUES = frozenset({int, float, complex, bool, str, bytes, type(None)})
_STORES = dis.opmap["STORE_DEREF"], dis.opmap["DELETE_DEREF"]


def called_parameters(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters of a function that it only calls."""
    if not isinstance(function, types.FunctionType):
        return frozenset()
    try:
        return only_called(stage_function(function))
    except FrontendError:
        return frozenset()


def interchangeable(one: types.FunctionType, other: types.FunctionType) -> bool:
    """True if a call of `one` now does what a call of `other` does."""
    if one.__code__ is not other.__code__ or one.__globals__ is not other.__globals__:
        return False
    if one.__dict__ or other.__dict__ or one.__qualname__ != other.__qualname__:
        return False
    if one.__closure__ and any(map(_stores_into_cells, _codes(one.__code__))):
        return False
    return _is_same(_around(one), _around(other))


def _is_same(one: Any, other: Any) -> bool:
    """True for one object, and for equal values of which nobody can tell which is which."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is tuple:
        return len(one) == len(other) and all(map(_is_same, one, other))
    return type(one) in _VALUES and bool(one == other) and repr(one) == repr(other)  # NaN has a sign too


def _around(function: types.FunctionType) -> object:
    """A function's defaults, and what it closes over; an object of its own if something of that is not assigned yet."""
    keywords = tuple((function.__kwdefaults__ or {}).items())
    try:
        contents = tuple([cell.cell_contents for cell in function.__closure__ or ()])
    except ValueError:
        return object()
    return function.__defaults__, keywords, contents


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def _stores_into_cells(code: types.CodeType) -> bool:
    return any(opcode in code.co_code[::2] for opcode in _STORES)
