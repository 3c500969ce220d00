"""Captured state of a step: variables and attributes of objects that its code names.

Programs hold the captured numbers and elements as they were. So they are compared at each call, and what has changed is
recorded anew. Functions that the code names are searched, too, unless they are a library's.
"""

from __future__ import annotations

import collections
import functools
import inspect
import random
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...compiler.policy import is_library, is_library_file
from ...compiler.values.generators import GENERATORS, bits_of
from ...compiler.values.instances import slots_of
from ...compiler.values.lattice import same_constant
from ...runtime.arguments.classification import fields_of, is_plain
from ..random import Generator
from ..tensor import Tensor, same_bits

_MISSING = object()
_ATOMS = (int, float, complex, str, bytes, type(None), np.generic, np.ufunc, np.dtype, Tensor)


class _CellVariable(Mapping[str, Any]):
    """A closure cell as a mapping of one name."""

    def __init__(self, cell: types.CellType) -> None:
        self._cell = cell

    def __getitem__(self, name: str) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:  # not assigned
            raise KeyError(name) from None

    def __iter__(self) -> Any:
        return iter(("",))

    def __len__(self) -> int:
        return 1


class _SlotVariables(Mapping[str, Any]):
    """The slots of an object as a mapping."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._members = slots_of(type(value))

    def __getitem__(self, name: str) -> Any:
        try:
            return self._members[name].__get__(self._value)
        except AttributeError:  # not assigned
            raise KeyError(name) from None

    def __iter__(self) -> Any:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


class Captured:
    """The values that the code of some objects names, and all that these hold, at one time."""

    def __init__(self, *roots: Any) -> None:
        self._names: set[str] = set()
        """The names in the code that was found."""
        self.generators: list[Any] = []
        known = -1
        while known < len(self._names):  # a later function may name an attribute of an earlier object
            known = len(self._names)
            self._clear()
            self._pending += roots
            while self._pending:
                self._visit(self._pending.pop())

    def _clear(self) -> None:
        self.generators.clear()
        self._pending: list[Any] = []
        self._seen: dict[int, Any] = {}
        self._variables: list[tuple[Mapping[str, Any], str, Any]] = []
        self._held: list[tuple[Any, list[Any]]] = []
        """Lists and the like, and what they hold."""
        self._arrays: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        """Arrays, and copies of them."""

    @property
    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """The ndarrays."""
        return [array for array, _ in self._arrays]

    def has_changed(self) -> bool:
        """True if a variable, a container or an array has changed."""
        for names, name, old in self._variables:
            new = names.get(name, _MISSING)
            if new is not old and not same_constant(new, old):
                return True
        for value, members in self._held:
            new = _members(value)
            if len(new) != len(members) or not all(map(same_constant, new, members)):
                return True
        return any(
            array.shape != copy.shape or array.dtype != copy.dtype or not same_bits(array, copy)
            for array, copy in self._arrays
        )

    def _visit(self, value: Any) -> None:
        if isinstance(value, _ATOMS) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif type(value) in GENERATORS or isinstance(value, random.Random | Generator):
            self.generators.append(value)
        elif isinstance(value, types.MethodType):
            self._pending += (value.__func__, value.__self__)
        elif isinstance(value, functools.partial):
            self._pending += (value.func, value.args, value.keywords)
        elif isinstance(value, staticmethod | classmethod):
            self._pending.append(value.__func__)
        elif isinstance(value, property):
            self._pending.append(value.fget)
        elif isinstance(value, np.ndarray):
            if value.dtype != object:
                self._arrays.append((value, value.copy()))
        elif isinstance(value, list | tuple | dict | set | frozenset | collections.deque):
            members = _members(value)
            self._held.append((value, members))
            self._pending += members
        elif isinstance(value, types.ModuleType):
            if not is_library_file(getattr(value, "__file__", None) or "<frozen "):
                self._named(vars(value))
        elif isinstance(value, type):
            for base in value.__mro__:
                if not is_library(base):
                    self._named(vars(base))
                    self._pending += [v for v in vars(base).values() if _is_special(v)]
        else:
            self._object(value)

    def _function(self, function: types.FunctionType) -> None:
        self._pending.append(inspect.unwrap(function))
        code = function.__code__
        if is_library_file(code.co_filename):
            return
        pending = [code]
        own: set[str] = set()
        for each in pending:
            own.update(each.co_names)
            pending += [const for const in each.co_consts if isinstance(const, types.CodeType)]
        self._names |= own
        for cell in function.__closure__ or ():
            self._note(_CellVariable(cell), "")
        for name in sorted(own):
            if name in function.__globals__:
                self._note(function.__globals__, name)
        self._pending += (function.__defaults__, function.__kwdefaults__)
        self._named(function.__dict__)

    def _object(self, value: Any) -> None:
        plain = getattr(value, "__pystage_function__", None)
        if plain is not None:
            self._pending.append(plain)
        elif is_plain(type(value)):
            if type(value).__dictoffset__:
                self._named(fields_of(value))
                self._pending.append(fields_of(value).get("__wrapped__"))
            self._named(_SlotVariables(value))
            self._pending.append(type(value))

    def _named(self, variables: Mapping[str, Any]) -> None:
        for name in [name for name in variables if name in self._names]:
            self._note(variables, name)

    def _note(self, variables: Mapping[str, Any], name: str) -> None:
        value = variables.get(name, _MISSING)
        self._variables.append((variables, name, value))
        self._pending.append(value)


def _is_special(member: Any) -> bool:
    """True for a method that Python calls without its name in the code."""
    return isinstance(member, types.FunctionType) and member.__name__.startswith("__")


def _members(value: Any) -> list[Any]:
    return [each for item in value.items() for each in item] if isinstance(value, dict) else list(value)


def draws_of(generators: list[Any]) -> list[Any]:
    """The states of generators, and of Python's and NumPy's own, by which draws are noticed."""
    found = [random.getstate(), _state(np.random.get_state(legacy=False))]
    for generator in generators:
        if isinstance(generator, random.Random):
            found.append(generator.getstate())
        elif isinstance(generator, np.random.RandomState):
            found.append(_state(generator.get_state(legacy=False)))
        else:
            found.append(_state(bits_of(getattr(generator, "_source", generator))))
    return found


def _state(bits: Any) -> Any:
    state = getattr(bits, "state", bits)
    if isinstance(state, dict):
        return {key: _state(value) for key, value in state.items()}
    return state.tolist() if isinstance(state, np.ndarray) else state
