"""Calls the functions of a module several times, plain and staged, each in a module of its own, and compares what is left.

After each call the results so far, the arguments and everything that the modules hold must be the same: values, types, and
which objects are one.
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
import pystage
from checking import Comparison, Run, compare_runs

_numbers = itertools.count()


@dataclass(frozen=True)
class Call:
    """A call of a function of the module, and the statements that the caller runs before it."""

    function: str
    args: tuple[str, ...]
    changes: tuple[str, ...] = ()


def load(path: Path) -> ModuleType:
    """The module of a file, made anew."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_{next(_numbers)}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def renew(module: ModuleType) -> None:
    """Makes everything that a module holds what it was when it was loaded; its functions keep their variables."""
    assert module.__spec__ is not None and module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)


def check_calls(path: Path, calls: Sequence[Call], tolerance: Any = None) -> bool:
    """Asserts that nothing tells the calls in two modules of one file apart; whether the last one raised.

    Raises AssertionError where something tells them apart, StagingError where a call is refused.
    """
    sides = [_Side(load(path), compiled=False), _Side(load(path), compiled=True)]
    raised = False
    for number, call in enumerate(calls, 1):
        plain, staged = [side.call(call) for side in sides]
        name = f"call {number}, {call.function}({', '.join(call.args)})"
        compare_runs(plain, staged, Comparison(tolerance), name, str(path))
        left, right = [side.left() for side in sides]
        comparison = Comparison(tolerance)
        comparison.same(left, right, name)
        comparison.same_memory()
        raised = plain.error is not None
    return raised


class _Side:
    """A module whose functions are called plain or staged, and what they have given so far."""

    def __init__(self, module: ModuleType, compiled: bool) -> None:
        self.module = module
        self.compiled = compiled
        self._staged: dict[str, Callable[..., Any]] = {}
        self._given: list[Any] = []

    def call(self, call: Call) -> Run:
        """The call, with the arguments themselves and not copies: they may be the module's own."""
        names = vars(self.module)
        for change in call.changes:
            _change(change, names)
        run = Run((), {})
        with np.errstate(all="ignore"):
            try:
                run.args = args = tuple([eval(text, names) for text in call.args])
                run.result = self._function(call.function)(*args)
            except pystage.StagingError:
                raise
            except Exception as error:
                run.error = error
        self._given.append((run.args, run.result))
        return run

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = vars(self.module)[name]
        if not self.compiled:
            return function
        if name not in self._staged:
            self._staged[name] = pystage.compile(function, fallback="error")
        return self._staged[name]

    def left(self) -> Any:
        """All that was given, and all that the module holds now."""
        return list(self._given), dict(_held(self.module))


def _change(text: str, names: dict[str, Any]) -> None:
    """Runs a statement of the caller; what cannot be done is not done, on either side."""
    try:
        exec(text, names)
    except (LookupError, ValueError, TypeError, AttributeError):
        pass


def _held(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What a module holds: its variables, the attributes of its classes, and what its functions keep."""
    for name, value in vars(module).items():
        if name.startswith("__") or isinstance(value, ModuleType | TypeVar):
            continue
        if isinstance(value, type):
            if value.__module__ == module.__name__:
                yield name, {key: x for key, x in vars(value).items() if not _is_code(key, x)}
        elif isinstance(value, FunctionType):
            if value.__globals__ is vars(module):
                yield name, (value.__defaults__, value.__kwdefaults__, _cells(value))
        elif not callable(value) or hasattr(value, "__dict__"):
            yield name, value


def _is_code(name: str, value: Any) -> bool:
    return name.startswith("__") or inspect.isroutine(value) or isinstance(value, property)


def _cells(function: FunctionType) -> list[Any]:
    return [_contents(cell) for cell in function.__closure__ or ()]


def _contents(cell: CellType) -> Any:
    value = cell.cell_contents
    return (value.__defaults__, _cells(value)) if isinstance(value, FunctionType) else value
