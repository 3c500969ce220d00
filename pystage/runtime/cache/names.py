"""Names, valid in other processes, of the objects that a program refers to by identity: functions, classes, modules, cells.

An object is named by what leads to it there: the compiled function and its arguments, a guard that has found an object of
the same fingerprint at its path, or a module that is loaded, and a name in it. The first two are numbered in the order in
which both processes meet them (`OutsideNames.meet`); that the same ones are identical there is compared at the end
(`OutsideNames.pattern`).
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from typing import Any

import numpy as np

from .encoding import NotEncodable, NotFound, Row, is_own, is_own_module, is_users
from .fingerprints import Fingerprints, wrapped

NAMED = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.CellType,
    types.CodeType,
    np.ufunc,
)


class OutsideNames:
    """The names of one program: the `Outside` of its rows."""

    def __init__(self) -> None:
        self.fingerprints = Fingerprints()
        self._met: list[Any] = []
        self._numbers: dict[int, int] = {}
        self.pattern: list[int] = []
        """For each object that was met the number of the first one that is identical to it."""

    def meet(self, value: Any) -> None:
        """Numbers an object, and the objects found in it."""
        self._numbers.setdefault(id(value), len(self._met))
        self.pattern.append(self._numbers[id(value)])
        self._met.append(value)
        if isinstance(value, types.FunctionType):
            self.meet(value.__globals__)
            for cell in value.__closure__ or ():
                self.meet(cell)
        for part in wrapped(value):
            self.meet(part)

    def name(self, value: Any) -> Row | None:
        """As declared by `Outside`."""
        number = self._numbers.get(id(value))
        if number is not None:
            return ["met", number]
        if isinstance(value, dict):
            module = value.get("__name__")
            if isinstance(module, str) and getattr(sys.modules.get(module), "__dict__", None) is value:
                return ["namespace", module]
            return None
        if isinstance(value, types.ModuleType):
            if sys.modules.get(value.__name__) is value:
                return ["module", value.__name__]
            raise NotEncodable(f"the module {value.__name__}, which is not loaded under its name")
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if not isinstance(value, NAMED) and (name is None or is_own(type(value))):
            return None
        name = name or getattr(value, "__name__", None)
        for place in (module, "numpy", "builtins"):
            if isinstance(place, str) and isinstance(name, str) and find(place, name) is value:
                return ["global", place, name, self._fingerprint(value)]
        raise NotEncodable(f"{type(value).__name__} {module}.{name}, which is not found by its name")

    def _fingerprint(self, value: Any) -> str:
        if not is_users(value):
            return ""
        return self.fingerprints.of(value)

    def object(self, name: Row) -> Any:
        """As declared by `Outside`."""
        match name:
            case ["met", int(number)]:
                return self._met[number]
            case ["namespace", str(module)] if module in sys.modules:
                return vars(sys.modules[module])
            case ["module", str(module)] if module in sys.modules:
                return sys.modules[module]
            case ["global", str(module), str(qualname), str(fingerprint)]:
                found = find(module, qualname)
                if found is not None:
                    try:
                        same = self._fingerprint(found) == fingerprint
                    except NotEncodable as error:
                        raise NotFound(str(error)) from error
                    if same:
                        return found
        raise NotFound(f"there is no {name}")


def find(module: str, name: str) -> Any:
    """The object of this name in a module that is loaded; None if there is none."""
    found = importlib.import_module(module) if is_own_module(module) else sys.modules.get(module)
    try:
        return functools.reduce(getattr, name.split("."), found) if found is not None else None
    except AttributeError:
        return None
